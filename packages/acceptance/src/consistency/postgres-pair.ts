import { setTimeout as delay } from 'node:timers/promises';
import { startPostgres, type PostgresServer } from '@strongroom/lab';

const SETTINGS = ['max_connections=200', 'synchronous_commit=remote_apply', 'wal_retrieve_retry_interval=200ms'];
const SYNCHRONOUS_MS = 20_000;

/** Where a server of the pair listens now. */
export interface Place {
  readonly host: string;
  port: number;
}

/** A primary and a synchronous standby: a commit is answered once both have applied it. */
export class PostgresPair {
  /** Of both; which one is the primary changes. */
  readonly places: readonly [Place, Place];
  readonly #servers: [PostgresServer, PostgresServer];
  #primary: 0 | 1 = 0;

  private constructor(servers: [PostgresServer, PostgresServer]) {
    this.#servers = servers;
    this.places = [placeOf(servers[0]), placeOf(servers[1])];
  }

  static async start(): Promise<PostgresPair> {
    const primary = await startPostgres({ settings: SETTINGS });
    const pair = new PostgresPair([primary, await startPostgres({ settings: SETTINGS, standbyOf: primary })]);
    await pair.#join();
    return pair;
  }

  get primary(): PostgresServer {
    return this.#servers[this.#primary];
  }

  /** The primary crashes for good, the standby takes over, and gets a new standby. */
  async failOver(): Promise<void> {
    await this.#synchronous();
    const [lost, standby] = [this.primary, this.#servers[this.#other]];
    // Until it has a standby of its own, its commits are not to wait for one.
    await setNames(standby, '');
    await lost.crash();
    await standby.promote();
    const at = this.#primary;
    this.#primary = this.#other;
    await lost.stop();
    const next = await startPostgres({ settings: SETTINGS, standbyOf: standby });
    this.#servers[at] = next;
    this.places[at].port = next.port;
    await this.#join();
  }

  async stop(): Promise<void> {
    // A primary that ends in order waits for its standby.
    await this.#servers[this.#primary].stop();
    await this.#servers[this.#other].stop();
  }

  get #other(): 0 | 1 {
    return this.#primary === 0 ? 1 : 0;
  }

  async #join(): Promise<void> {
    await setNames(this.primary, '*');
    await this.#synchronous();
  }

  /** Waits until the standby has all that was ever answered. @throws Error where it does not come to that */
  async #synchronous(): Promise<void> {
    for (const end = performance.now() + SYNCHRONOUS_MS; performance.now() < end; await delay(20)) {
      const standbys = await this.primary.query<{ ready: boolean }>(
        "SELECT sync_state = 'sync' AND replay_lsn >= pg_current_wal_flush_lsn() AS ready FROM pg_stat_replication",
      );
      if (standbys.some(({ ready }) => ready)) return;
    }
    throw new Error('the standby does not become synchronous');
  }
}

async function setNames(server: PostgresServer, names: string): Promise<void> {
  await server.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
  await server.query('SELECT pg_reload_conf()');
}

function placeOf({ port }: PostgresServer): Place {
  return { host: '127.0.0.1', port };
}

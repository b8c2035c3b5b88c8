import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCore } from '@strongroom/core';
import { databaseEngine } from '@strongroom/database';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { manualClock } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import type { PostgresServer } from '@strongroom/lab';
import { freePort, startServer, type ServerProcess } from '../server-process.ts';
import type { CrashStore } from './crash-store.ts';
import { RecoveryTimes } from './recovery-times.ts';

/** What went wrong; empty when nothing did. */
export interface CrashReport {
  readonly rounds: number;
  /** Of the store, at the same time as a kill. */
  readonly faults: number;
  readonly writes: number;
  readonly credentials: number;
  /** Acknowledged writes that were missing. */
  readonly lost: number;
  /** Users that are left when every undo is through. */
  readonly left: number;
  /** From SIGKILL until the server is open. */
  readonly recovery: RecoveryTimes;
  readonly problems: readonly string[];
}

/** One kill in so many comes with a fault of the store. */
const FAULT_EVERY = 4;

const WRITES_A_ROUND = 10;
/** Milliseconds after which a round ends that answered nothing. */
const LONGEST_ROUND = 20_000;

interface Credential {
  readonly lease: string;
  readonly username: string;
  readonly password: string;
}

const CREATION = `CREATE ROLE "{{name}}" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';`;

/**
 * Kills a server with SIGKILL at random moments under load, again and again on the same store, and looks after each start: no
 * acknowledged write is missing, no PostgreSQL user exists without a lease or a pending undo, and it starts every time, also while a member of the store is down.
 */
export class CrashRun {
  readonly #postgres: PostgresServer;
  readonly #store: CrashStore;
  readonly #folder: string;
  readonly #address: string;
  readonly #config: string;
  readonly #sealKey = randomBytes(32);
  readonly #secrets = new Map<string, string>();
  readonly #credentials = new Map<string, Credential>();
  readonly #problems: string[] = [];
  readonly #recovery = new RecoveryTimes();
  #token = '';
  #writes = 0;
  #faults = 0;
  #lost = 0;
  #left = 0;

  private constructor(postgres: PostgresServer, store: CrashStore, folder: string, port: number) {
    this.#postgres = postgres;
    this.#store = store;
    this.#folder = folder;
    this.#address = `http://127.0.0.1:${port}`;
    this.#config = join(folder, 'server.hcl');
  }

  /** `postgres` is the database that users are made in. */
  static async create(postgres: PostgresServer, store: CrashStore): Promise<CrashRun> {
    const run = new CrashRun(postgres, store, await mkdtemp(join(tmpdir(), 'strongroom-crash-')), await freePort());
    await writeFile(
      run.#config,
      `storage ${store.stanza}\n` +
        `listener "tcp" {\n  address = "${run.#address.slice('http://'.length)}"\n  tls_disable = true\n}\nlog_level = "error"\n` +
        `seal "static" {\n  current_key_id = "k1"\n  current_key = "${run.#sealKey.toString('base64')}"\n}\n`,
    );
    return run;
  }

  async run(
    rounds: number,
    random: () => number,
    told: (round: number, recovery: RecoveryTimes) => void = () => undefined,
  ): Promise<CrashReport> {
    let server = await this.#start();
    await this.#prepare();
    for (let round = 1; round <= rounds; round += 1) {
      const stop = new AbortController();
      // Watched from the start: the server may die under them before they are waited for.
      const load = Promise.allSettled([
        ...[0, 1, 2, 3].map(async (i) => this.#writer(round, i, stop.signal)),
        ...[0, 1].map(async () => this.#borrower(stop.signal)),
      ]);
      await wait(50 + Math.floor(random() * 350));
      // Every other round goes on until something was answered, however slow the machine is.
      if (round % 2 === 1) await this.#answered(WRITES_A_ROUND);
      const mend = await this.#strike(round);
      const killed = performance.now();
      await server.kill();
      stop.abort();
      await load;
      server = await this.#start();
      this.#recovery.add(performance.now() - killed);
      await this.#check(round, [...this.#secrets].slice(-400));
      await mend?.();
      told(round, this.#recovery);
      if (this.#problems.length > 0) break;
    }
    await this.#check(rounds, this.#secrets);
    await this.#revokeAll();
    await server.stop();
    await this.#settle();
    return {
      rounds,
      faults: this.#faults,
      writes: this.#writes,
      credentials: this.#credentials.size,
      lost: this.#lost,
      left: this.#left,
      recovery: this.#recovery,
      problems: this.#problems,
    };
  }

  async dispose(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<ServerProcess> {
    const server = await startServer([`-config=${this.#config}`], this.#address);
    const deadline = Date.now() + 30_000;
    for (;;) {
      const answer = await fetch(`${this.#address}/v1/sys/health`);
      if (answer.status === 200 || answer.status === 501) return server;
      if (Date.now() > deadline) throw new Error(`the server does not unseal: ${answer.status} ${server.log()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** What is wrong with the store from now on, in some rounds. Resolves with what mends it. */
  async #strike(round: number): Promise<(() => Promise<void>) | undefined> {
    const { faults } = this.#store;
    if (round % FAULT_EVERY > 0 || faults.length === 0) return undefined;
    this.#faults += 1;
    return faults[this.#faults % faults.length]!();
  }

  async #prepare(): Promise<void> {
    const made = await this.#call('PUT', 'sys/init', { recovery_shares: 1, recovery_threshold: 1 });
    this.#token = made['root_token'] as string;
    await this.#call('POST', 'sys/mounts/secret', { type: 'kv', options: { version: '2' } });
    await this.#call('POST', 'sys/mounts/db', { type: 'database' });
    await this.#call('POST', 'db/config/pg', {
      plugin_name: 'postgresql-database-plugin',
      allowed_roles: '*',
      connection_url: `postgresql://{{username}}:{{password}}@127.0.0.1:${this.#postgres.port}/postgres?sslmode=disable`,
      username: this.#postgres.superuser,
      password: this.#postgres.password,
    });
    await this.#call('POST', 'db/roles/app', { db_name: 'pg', creation_statements: [CREATION], default_ttl: '1h' });
  }

  async #writer(round: number, writer: number, stop: AbortSignal): Promise<void> {
    for (let i = 0; !stop.aborted; i += 1) {
      const path = `r${round}/w${writer}/${i}`;
      const value = randomBytes(8).toString('hex');
      await this.#call('POST', `secret/data/${path}`, { data: { value } }, stop);
      // Only what was answered counts.
      this.#secrets.set(path, value);
      this.#writes += 1;
    }
  }

  /** Waits until so many more writes were answered. */
  async #answered(count: number): Promise<void> {
    const wanted = this.#writes + count;
    for (let waited = 0; this.#writes < wanted && waited < LONGEST_ROUND; waited += 10) await wait(10);
  }

  async #borrower(stop: AbortSignal): Promise<void> {
    for (let i = 0; !stop.aborted; i += 1) {
      const answer = (await this.#call('GET', 'db/creds/app', undefined, stop)) as {
        lease_id: string;
        data: { username: string; password: string };
      };
      const one = { lease: answer.lease_id, ...answer.data };
      this.#credentials.set(one.lease, one);
      if (i % 3 !== 2) continue;
      // A revocation under way may be cut short too: what is asked to go may be gone or not, but never half.
      this.#credentials.delete(one.lease);
      await this.#call('PUT', 'sys/leases/revoke', { lease_id: one.lease }, stop);
    }
  }

  async #check(round: number, secrets: Iterable<readonly [string, string]>): Promise<void> {
    for (const [path, value] of secrets) {
      const read = await this.#try('GET', `secret/data/${path}`);
      const found = (read?.['data'] as { data?: { value?: string } } | undefined)?.data?.value;
      if (found === value) continue;
      this.#lost += 1;
      this.#problems.push(`round ${round}: the acknowledged write ${path} is missing`);
    }
    for (const one of [...this.#credentials.values()].slice(-20)) {
      if (!(await this.#try('PUT', 'sys/leases/lookup', { lease_id: one.lease })))
        this.#problems.push(`round ${round}: the lease ${one.lease} is missing`);
      await this.#postgres
        .login(one.username, one.password)
        .catch(() => this.#problems.push(`round ${round}: ${one.username} cannot log in`));
    }
    // A lease that began meanwhile is counted after the users: the sum can only be too high, never too low.
    const users = await this.#users();
    const known = (await this.#leases()) + (await this.#intents());
    if (users > known) this.#problems.push(`round ${round}: ${users} users in PostgreSQL, but ${known} leases and pending undos`);
  }

  async #revokeAll(): Promise<void> {
    await this.#call('PUT', 'sys/leases/revoke-prefix/db/creds/app', {});
    const users = await this.#users();
    const intents = await this.#intents();
    if (users > intents) this.#problems.push(`after revoking all leases ${users} users are left, but only ${intents} undos are pending`);
  }

  /** The undos, on the same store with a clock that is moved: when they are through, no user is left. */
  async #settle(): Promise<void> {
    const clock = manualClock(new Date());
    const core = await createCore({
      storage: await this.#store.open(),
      plugins: [databaseEngine, postgresqlPlugin, kvEngine],
      clock,
      seal: { type: 'static', key: this.#sealKey },
    });
    await clock.advance('2h');
    await core.settleSchedule();
    await clock.advance('2h');
    await core.settleSchedule();
    this.#left = await this.#users();
    if (this.#left > 0) this.#problems.push(`${this.#left} users are left when every undo is through`);
    await core.close();
  }

  async #users(): Promise<number> {
    const [row] = await this.#postgres.query<{ count: string }>(`SELECT count(*) FROM pg_roles WHERE rolname LIKE 'v-%'`);
    return Number(row?.count ?? 0);
  }

  async #leases(): Promise<number> {
    const answer = await this.#try('GET', 'sys/leases/lookup/db/creds/app?list=true');
    return (answer?.['data'] as { keys: string[] } | undefined)?.keys.length ?? 0;
  }

  async #intents(): Promise<number> {
    const answer = await this.#call('GET', 'sys/journal');
    return (answer['data'] as { intents: unknown[] }).intents.length;
  }

  async #try(method: string, path: string, body?: unknown): Promise<Record<string, unknown> | undefined> {
    return this.#call(method, path, body).catch(() => undefined);
  }

  async #call(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Record<string, unknown>> {
    const answer = await fetch(`${this.#address}/v1/${path}`, {
      method,
      headers: this.#token === '' ? {} : { 'X-Vault-Token': this.#token },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  }
}

async function wait(millis: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, millis));
}

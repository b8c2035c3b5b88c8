import type { Client } from 'pg';
import type { Connections } from './connections.ts';
import type { Schema } from './schema.ts';

const PING_MS = 5_000;
const PRUNE_MS = 60 * 60 * 1_000;
/** How long announcements are kept for nodes that cannot be reached. */
const KEPT = '1 day';
const SLOWEST_RETRY_MS = 5_000;
/** How far before the last sign of life announcements are read again: a transaction may have been under way that long. */
const OVERLAP_SECONDS = 120;

type Heard = (keys: readonly string[]) => void;

/**
 * Hears of announcements on a connection of its own. A notification only says that there is a row to read, so no key is too long for
 * it; and what was announced while the connection was down is read from the table afterwards, some of it perhaps twice.
 */
export class Listener {
  readonly #connections: Connections;
  readonly #schema: Schema;
  readonly #origin: string;
  readonly #heard: Heard;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The server's clock at the last sign of life. */
  #alive: string | undefined;
  #order: Promise<void> = Promise.resolve();
  #pruneAt = 0;
  #closed = false;

  constructor(connections: Connections, schema: Schema, origin: string, heard: Heard) {
    this.#connections = connections;
    this.#schema = schema;
    this.#origin = origin;
    this.#heard = heard;
  }

  /** @throws what pg throws, when the server cannot be reached. */
  async start(): Promise<void> {
    const client = this.#connections.single();
    client.on('error', () => this.#lost(client));
    client.on('end', () => this.#lost(client));
    client.on('notification', ({ payload }) => this.#notified(payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN "${this.#schema.channel}"`);
      if (this.#alive !== undefined) await this.#catchUp(this.#alive);
      await this.#ping(client);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    if (this.#closed) return void (await client.end());
    this.#client = client;
    this.#pingLater(client);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
    await this.#order;
  }

  #pingLater(client: Client): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#ping(client).then(
        () => this.#client === client && this.#pingLater(client),
        () => this.#lost(client),
      );
    }, PING_MS).unref();
  }

  async #ping(client: Client): Promise<void> {
    const ping = { text: 'SELECT now()::text AS now', query_timeout: PING_MS };
    this.#alive = (await client.query<{ now: string }>(ping)).rows[0]?.now;
    if (performance.now() < this.#pruneAt) return;
    this.#pruneAt = performance.now() + PRUNE_MS;
    await client.query(`DELETE FROM ${this.#schema.announcements} WHERE at < now() - interval '${KEPT}'`);
  }

  #lost(client: Client): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = undefined;
    void client.end().catch(() => undefined);
    this.#retry(100);
  }

  #retry(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.#closed) this.start().catch(() => this.#retry(Math.min(ms * 2, SLOWEST_RETRY_MS)));
    }, ms).unref();
  }

  #notified(payload: string): void {
    const [origin, id] = payload.split(' ');
    if (origin === this.#origin || id === undefined) return;
    this.#tell('id = $2', id).catch(() => {
      // The connections are gone: this one will be found lost as well, and what is missing read afterwards.
      if (this.#client) this.#lost(this.#client);
    });
  }

  #catchUp(since: string): Promise<void> {
    return this.#tell(`at > $2::timestamptz - interval '${OVERLAP_SECONDS} seconds'`, since);
  }

  /** In the order of the notifications. */
  #tell(condition: string, value: string): Promise<void> {
    const told = this.#order.then(async () => {
      if (this.#closed) return;
      const text = `SELECT keys FROM ${this.#schema.announcements} WHERE origin <> $1 AND ${condition} ORDER BY id`;
      for (const { keys } of await this.#connections.read<{ keys: string[] }>(text, [this.#origin, value]))
        if (!this.#closed) this.#heard(keys);
    });
    this.#order = told.catch(() => undefined);
    return told;
  }
}

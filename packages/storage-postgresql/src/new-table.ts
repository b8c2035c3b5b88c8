import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { checkKeys, StorageFailure } from '@strongroom/storage-sdk';
import type { Entry, Replacement } from '@strongroom/storage-sdk';
import { destroy, queryOf, type Connections } from './connections.ts';
import { codeOf, NAME } from './failure.ts';
import type { Schema } from './schema.ts';

/** For each query; milliseconds. */
const LIMIT_MS = 10 * 60_000;
/** How long the writer may pause. */
const IDLE_MS = 10 * 60_000;
/** How long others' commits, and copies under way, are waited for. */
const LOCK_MS = 30_000;
const ROWS_AT_A_TIME = 1_000;
const BYTES_AT_A_TIME = 8 * 2 ** 20;

/** A table that is to be the store. The table of the store changes its name with each: a driver that has not heard finds its own gone, and writes nothing. */
export class NewTable implements Replacement {
  readonly #connections: Connections;
  readonly #schema: Schema;
  readonly #origin: string;
  readonly #client: Client;
  readonly #name: string;
  #over = false;

  private constructor(connections: Connections, schema: Schema, origin: string, client: Client) {
    this.#connections = connections;
    this.#schema = schema;
    this.#origin = origin;
    this.#client = client;
    this.#name = `${schema.table}_r${randomBytes(4).toString('hex')}`;
  }

  /** @throws StorageFailure, as transient while another replacement of the store is written */
  static async begin(connections: Connections, schema: Schema, origin: string): Promise<NewTable> {
    let client: Client | undefined;
    try {
      client = await connections.single({ purpose: 'replacement', limitMs: LIMIT_MS });
      const table = new NewTable(connections, schema, origin, client);
      await table.#create();
      return table;
    } catch (error) {
      if (client) destroy(client);
      throw connections.failure(error);
    }
  }

  async #create(): Promise<void> {
    const query = queryOf(this.#client);
    await query(
      `SET statement_timeout TO ${LIMIT_MS}; SET idle_in_transaction_session_timeout TO ${IDLE_MS}; SET lock_timeout TO ${LOCK_MS}`,
    );
    const { rows } = await query<{ locked: boolean }>(
      "SELECT pg_try_advisory_lock(hashtextextended('strongroom replacement of ' || $1, 0)) AS locked",
      [this.#schema.table],
    );
    if (!rows[0]?.locked) throw new StorageFailure(NAME, 'another replacement of the store is being written', { transient: true });
    // Nobody else writes one now: what is there was left by processes that died.
    const left = await query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relkind = 'r' AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = $1::regclass)
         AND relname ~ ('^' || $2 || '_r[0-9a-f]{8}$') AND oid <> $3::regclass`,
      [this.#schema.state, this.#schema.table, this.#schema.entries],
    );
    for (const { name } of left.rows) await query(`DROP TABLE IF EXISTS "${name}"`);
    await query(`CREATE TABLE "${this.#name}" (key text COLLATE "C" PRIMARY KEY, value bytea NOT NULL, version bigint NOT NULL)`);
  }

  async put(entries: readonly Entry[]): Promise<void> {
    this.#requireOpen();
    checkKeys(NAME, { put: entries });
    try {
      for (let at = 0; at < entries.length;) {
        let bytes = 0;
        const from = at;
        while (at < entries.length && at - from < ROWS_AT_A_TIME && (at === from || bytes < BYTES_AT_A_TIME))
          bytes += entries[at++]!.value.length;
        await this.#insert(entries.slice(from, at));
      }
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Values go as one binary string and are cut apart by the server. */
  async #insert(entries: readonly Entry[]): Promise<void> {
    let position = 1;
    const starts = entries.map(({ value }) => (position += value.length) - value.length);
    await queryOf(this.#client)(
      `INSERT INTO "${this.#name}" (key, value, version)
       SELECT given.key, substr($4::bytea, given.start, given.length), (SELECT nextval('${this.#schema.versions}'))
       FROM unnest($1::text[], $2::int[], $3::int[]) AS given(key, start, length)`,
      [entries.map(({ key }) => key), starts, entries.map(({ value }) => value.length), Buffer.concat(entries.map(({ value }) => value))],
    );
  }

  async install(): Promise<void> {
    this.#requireOpen();
    this.#over = true;
    const { entries, notifications, state, table, channel } = this.#schema;
    const query = queryOf(this.#client);
    try {
      await query('BEGIN');
      await query("SELECT pg_advisory_xact_lock(hashtextextended('strongroom ' || $1, 0))", [table]);
      // Waits for commits under way, and holds up those that come.
      await query(`LOCK TABLE ${entries} IN ACCESS EXCLUSIVE MODE`);
      await query(`UPDATE ${state} SET entries = $1, pruned = 0`, [this.#name]);
      // Their positions count for the store that they were made in. Who hears of the new one drops all copies.
      await query(`DELETE FROM ${notifications}`);
      await query(`DROP TABLE ${entries}`);
      await query('SELECT pg_notify($1, $2)', [channel, `${this.#origin} 0`]);
      await query('SET LOCAL synchronous_commit TO on; COMMIT');
    } catch (error) {
      if (!(await this.#installed())) {
        destroy(this.#client);
        await this.#drop();
        throw this.#failure(error);
      }
    }
    destroy(this.#client);
    this.#connections.history.replaced(this.#name, false);
  }

  async discard(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    destroy(this.#client);
    await this.#drop();
  }

  /** Whether a commit that was not answered has happened. */
  async #installed(): Promise<boolean> {
    await queryOf(this.#client)('ROLLBACK').catch(() => undefined);
    const rows = await this.#connections.read<{ entries: string | null }>(`SELECT entries FROM ${this.#schema.state}`, []);
    return rows[0]?.entries === this.#name;
  }

  async #drop(): Promise<void> {
    await this.#connections.read(`DROP TABLE IF EXISTS "${this.#name}"`, []).catch(() => undefined);
  }

  #requireOpen(): void {
    if (this.#over) throw new StorageFailure(NAME, 'the replacement was given up');
  }

  #failure(error: unknown): StorageFailure {
    if (codeOf(error) === '55P03') {
      return new StorageFailure(NAME, 'others use the store without a pause, such as a snapshot that is being taken; nothing was changed', {
        transient: true,
      });
    }
    return this.#connections.failure(error);
  }
}

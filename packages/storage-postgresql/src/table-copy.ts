import type { Client } from 'pg';
import { encodeEntries, entryBytes } from '@strongroom/storage-sdk';
import type { StoreCopy } from '@strongroom/storage-sdk';
import { destroy, queryOf, type Connections } from './connections.ts';
import type { Schema } from './schema.ts';

/** For one query of the copy, such as that for its size; milliseconds. */
const LIMIT_MS = 10 * 60_000;
/** How long a reader may pause: the transaction keeps PostgreSQL from removing old rows. */
const IDLE_MS = 60_000;
/** Rows that are fetched at a time hold about so many bytes at most. */
const FETCHED_BYTES = 16 * 2 ** 20;
const MOST_ROWS = 1_000;

/** All rows as one transaction sees them, read by a cursor on a connection of its own. */
export class TableCopy implements StoreCopy {
  readonly entries: number;
  readonly bytes: number;
  readonly #client: Client;
  readonly #connections: Connections;
  readonly #rows: number;

  private constructor(client: Client, connections: Connections, size: { entries: number; bytes: number; largest: number }) {
    this.#client = client;
    this.#connections = connections;
    this.entries = size.entries;
    this.bytes = size.bytes;
    this.#rows = Math.max(4, Math.min(MOST_ROWS, Math.floor(FETCHED_BYTES / Math.max(1, size.largest))));
  }

  /** @throws StorageFailure */
  static async open(connections: Connections, schema: Schema): Promise<TableCopy> {
    let client: Client | undefined;
    try {
      client = await connections.single({ purpose: 'copy', limitMs: LIMIT_MS });
      const query = queryOf(client);
      await query(
        `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout TO ${LIMIT_MS};
         SET LOCAL idle_in_transaction_session_timeout TO ${IDLE_MS}`,
      );
      const { rows } = await query<{ entries: string; bytes: string; largest: number }>(
        `SELECT count(*) AS entries, coalesce(sum(${entryBytes(0, 0)} + octet_length(key) + octet_length(value)), 0) AS bytes,
           coalesce(max(octet_length(value)), 0) AS largest FROM ${schema.entries}`,
      );
      const [size] = rows;
      await query(`DECLARE copied NO SCROLL CURSOR FOR SELECT key, value FROM ${schema.entries} ORDER BY key`);
      return new TableCopy(client, connections, {
        entries: Number(size?.entries),
        bytes: Number(size?.bytes),
        largest: size?.largest ?? 0,
      });
    } catch (error) {
      if (client) destroy(client);
      throw connections.failure(error);
    }
  }

  async *read(): AsyncGenerator<Uint8Array> {
    const query = queryOf(this.#client);
    for (;;) {
      const { rows } = await query<{ key: string; value: Buffer }>(`FETCH FORWARD ${this.#rows} FROM copied`).catch((error: unknown) => {
        throw this.#connections.failure(error);
      });
      if (rows.length === 0) return;
      yield encodeEntries(rows);
    }
  }

  async close(): Promise<void> {
    destroy(this.#client);
  }
}

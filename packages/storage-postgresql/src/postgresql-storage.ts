import { randomUUID } from 'node:crypto';
import { checkKeys, keyProblem, StorageClosed } from '@strongroom/storage-sdk';
import type { Change, RangeQuery, StorageDriver, Stored, StoredEntry, Unsubscribe } from '@strongroom/storage-sdk';
import { boundsOf } from './bounds.ts';
import { Connections } from './connections.ts';
import { NAME } from './failure.ts';
import { Listener } from './listener.ts';
import { Reader } from './reader.ts';
import { prepareSchema } from './schema.ts';
import type { Schema } from './schema.ts';
import { Writer } from './writer.ts';

export interface PostgresqlOptions {
  /** `postgresql://user:password@host:port/database`, with libpq's parameters such as `?sslmode=verify-full`. */
  readonly connectionUrl: string;
  /** Letters, digits and `_`, at most 40. A sequence and a table of announcements are named after it. Default: `strongroom_store`. */
  readonly table?: string;
  /** Most connections at once, besides the one that listens. At least 2; default: 10. */
  readonly poolSize?: number;
}

type ChangeListener = (keys: readonly string[]) => void;

const EMPTY = new Uint8Array(0);

/**
 * Storage in one PostgreSQL table, for any number of nodes. Creates what is missing.
 * @throws StorageFailure when PostgreSQL cannot be reached or refuses.
 */
export async function postgresqlStorage(options: PostgresqlOptions): Promise<StorageDriver> {
  const poolSize = Math.max(2, options.poolSize ?? 10);
  const connections = new Connections(options.connectionUrl, poolSize);
  try {
    const schema = await prepareSchema(connections, options.table ?? 'strongroom_store');
    const driver = new PostgresqlStorage(connections, schema, poolSize);
    await driver.listen();
    return driver;
  } catch (error) {
    await connections.close();
    throw connections.failure(error);
  }
}

class PostgresqlStorage implements StorageDriver {
  readonly name = NAME;
  readonly shared = true;
  readonly #connections: Connections;
  readonly #schema: Schema;
  readonly #reader: Reader;
  readonly #writer: Writer;
  readonly #listener: Listener;
  readonly #listeners = new Set<ChangeListener>();
  #closing: Promise<void> | undefined;

  constructor(connections: Connections, schema: Schema, poolSize: number) {
    const origin = randomUUID();
    this.#connections = connections;
    this.#schema = schema;
    this.#reader = new Reader(connections, schema, Math.min(4, Math.ceil(poolSize / 2)));
    this.#writer = new Writer(connections, schema, origin, Math.min(3, Math.floor(poolSize / 2)));
    this.#listener = new Listener(connections, schema, origin, (keys) => {
      for (const listener of [...this.#listeners]) listener(keys);
    });
  }

  listen(): Promise<void> {
    return this.#listener.start();
  }

  async get(key: string): Promise<Stored | undefined> {
    this.#assertOpen();
    return keyProblem(key) === undefined ? this.#reader.get(key) : undefined;
  }

  async range(query: RangeQuery): Promise<StoredEntry[]> {
    this.#assertOpen();
    const bounds = boundsOf(query);
    if (!bounds || (query.limit ?? 1) <= 0) return [];
    const { conditions, values } = bounds;
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
    const limit = query.limit === undefined ? '' : `LIMIT ${Math.ceil(query.limit)}`;
    const rows = await this.#connections.read<{ key: string; value?: Buffer; version: string }>(
      `SELECT key, version${query.keysOnly ? '' : ', value'} FROM ${this.#schema.entries} ${where} ORDER BY key ${query.reverse ? 'DESC' : ''} ${limit}`,
      values,
    );
    return rows.map(({ key, value, version }) => ({ key, value: value ?? EMPTY, version: Number(version) }));
  }

  async commit(change: Change): Promise<void> {
    this.#assertOpen();
    checkKeys(NAME, change);
    await this.#writer.commit(change);
  }

  changes(listener: ChangeListener): Unsubscribe {
    this.#assertOpen();
    const entry: ChangeListener = (keys) => listener(keys);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #assertOpen(): void {
    if (this.#closing) throw new StorageClosed(NAME);
  }

  async #close(): Promise<void> {
    this.#listeners.clear();
    await this.#writer.drained();
    await this.#listener.close();
    await this.#connections.close();
  }
}

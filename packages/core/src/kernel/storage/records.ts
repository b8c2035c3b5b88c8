import { compileSchema, type SchemaCheck } from '@strongroom/engine-sdk';
import type { RangeQuery } from '@strongroom/storage-sdk';
import type { Static, TSchema } from 'typebox';
import { CorruptRecord } from '../barrier/key-ring.ts';
import type { MaybePromise } from './maybe-promise.ts';

/** Makes a record of what is stored at a key; not asked about index entries. @throws CorruptRecord for what it cannot be */
export type RecordCheck<T = unknown> = (key: string, stored: unknown) => T;

/** Reads one record: the store, or a transaction. With a check, an index entry is no record. */
export interface RecordReader {
  get<T>(key: string, check: RecordCheck<T>): Promise<T | undefined>;
  /** As `get`, at once where that can be. */
  lookUp<T>(key: string, check: RecordCheck<T>): MaybePromise<T | undefined>;
}

/** Writes within a transaction. */
export interface RecordWriter {
  put(key: string, record: unknown, notify?: boolean): void;
  putFinal(key: string, record: unknown): void;
  create(key: string, record: unknown): void;
  delete(key: string, notify?: boolean): void;
}

/** Reads records in key order, index entries left out. */
export interface RecordScanner {
  entries<T>(
    query: Omit<RangeQuery, 'keysOnly' | 'reverse'>,
    corrupt: CorruptListener,
    check: RecordCheck<T>,
  ): Promise<[key: string, record: T][]>;
  pages<T>(prefix: string, corrupt: CorruptListener, check: RecordCheck<T>): AsyncIterable<[key: string, record: T][]>;
}

/** Hears of a record that cannot be read and is left out. */
export type CorruptListener = ((error: CorruptRecord) => void) | undefined;

export interface RecordOptions {
  /** Renames what an older version stored otherwise. Gets a copy, and may return it changed. */
  readonly upgrade?: (stored: Record<string, unknown>) => Record<string, unknown>;
}

/**
 * One kind of record of the core: where it is stored, and its schema. A record is checked when it is decoded and not again while the decoded copy is
 * in use, so that a lookup costs no check. What is written is checked by the compiler.
 */
export class Records<S extends TSchema> {
  readonly prefix: string;
  readonly #check: RecordCheck<Static<S>>;

  /** `prefix` ends with a slash. */
  constructor(prefix: string, schema: S, options: RecordOptions = {}) {
    this.prefix = prefix;
    this.#check = checkOf(schema, options);
  }

  key(id: string): string {
    return this.prefix + id;
  }

  /** Undefined where there is none, and for an index entry. @throws CorruptRecord */
  get(from: RecordReader, id: string): Promise<Static<S> | undefined> {
    return from.get(this.prefix + id, this.#check);
  }

  /** As `get`, at once where that can be. */
  lookUp(from: RecordReader, id: string): MaybePromise<Static<S> | undefined> {
    return from.lookUp(this.prefix + id, this.#check);
  }

  put(tx: RecordWriter, id: string, record: Static<S>, notify = false): void {
    tx.put(this.prefix + id, record, notify);
  }

  /** As `put`, for a record that nobody changes any more: it is read again soon, and need not be decoded then. */
  putFinal(tx: RecordWriter, id: string, record: Static<S>): void {
    tx.putFinal(this.prefix + id, record);
  }

  /** Writes only where nothing is: no read is needed. */
  create(tx: RecordWriter, id: string, record: Static<S>): void {
    tx.create(this.prefix + id, record);
  }

  delete(tx: RecordWriter, id: string, notify = false): void {
    tx.delete(this.prefix + id, notify);
  }

  /** By id, in byte order. `corrupt` hears of a record that cannot be read, which is left out; without it, that throws. */
  async entries(
    store: RecordScanner,
    query: { prefix?: string; after?: string; limit?: number } = {},
    corrupt?: CorruptListener,
  ): Promise<[id: string, record: Static<S>][]> {
    const range = {
      prefix: this.prefix + (query.prefix ?? ''),
      ...(query.after === undefined ? {} : { after: this.prefix + query.after }),
      ...(query.limit === undefined ? {} : { limit: query.limit }),
    };
    return this.#byId(await store.entries(range, corrupt, this.#check));
  }

  /** All whose id begins with `below`, page by page, so that others are not kept waiting. */
  async *pages(store: RecordScanner, corrupt: CorruptListener, below = ''): AsyncGenerator<[id: string, record: Static<S>][]> {
    for await (const page of store.pages(this.prefix + below, corrupt, this.#check)) yield this.#byId(page);
  }

  #byId(entries: readonly [key: string, record: Static<S>][]): [id: string, record: Static<S>][] {
    return entries.map(([key, record]) => [key.slice(this.prefix.length), record]);
  }
}

/** A record of which there is one. */
export class SingleRecord<S extends TSchema> {
  readonly key: string;
  readonly #check: RecordCheck<Static<S>>;

  constructor(key: string, schema: S, options: RecordOptions = {}) {
    this.key = key;
    this.#check = checkOf(schema, options);
  }

  /** @throws CorruptRecord */
  get(from: RecordReader): Promise<Static<S> | undefined> {
    return from.get(this.key, this.#check);
  }

  put(tx: RecordWriter, record: Static<S>): void {
    tx.put(this.key, record);
  }
}

function checkOf<S extends TSchema>(schema: S, { upgrade }: RecordOptions): RecordCheck<Static<S>> {
  const check: SchemaCheck = compileSchema(schema);
  return (key, stored) => {
    const record = upgrade && typeof stored === 'object' && stored !== null ? upgrade({ ...stored }) : stored;
    const problem = check(record);
    if (problem !== undefined) throw new CorruptRecord(key, `it is not as this version stores it: ${problem}`);
    return record as Static<S>;
  };
}

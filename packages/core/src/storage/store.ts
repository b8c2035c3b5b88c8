import { Conflict, type Entry, type Expectation, type RangeQuery, type StorageDriver } from '@strongroom/storage-sdk';
import type { Barrier } from '../barrier/barrier.ts';
import { CorruptRecord } from '../barrier/key-ring.ts';
import { RecordCache } from './record-cache.ts';

/** Upper bound of retries on a conflict: a hot record settles long before. */
const ATTEMPTS = 100;

/**
 * The encrypted store, by full key. Records are JSON; index entries have an empty value, which is stored as it is,
 * because everything they say is in their key.
 */
export class Store {
  readonly #driver: StorageDriver;
  readonly #barrier: Barrier;
  readonly #cache = new RecordCache(2_048);

  constructor(driver: StorageDriver, barrier: Barrier) {
    this.#driver = driver;
    this.#barrier = barrier;
  }

  /** The record, read from storage; a decoded copy of the same version is reused, so callers must not change it. */
  async get<T>(key: string): Promise<T | undefined> {
    return (await this.read<T>(key))?.record;
  }

  async read<T>(key: string): Promise<{ record: T; version: number } | undefined> {
    const stored = await this.#driver.get(key);
    if (!stored) return undefined;
    const cached = this.#cache.get(key, stored.version);
    if (cached !== undefined) return { record: cached as T, version: stored.version };
    const record = this.decode<T>(key, stored.value);
    if (stored.value.length <= 4_096) this.#cache.put(key, stored.version, record);
    return { record, version: stored.version };
  }

  async has(key: string): Promise<boolean> {
    return (await this.#driver.get(key)) !== undefined;
  }

  /** Keys in byte order. */
  async keys(query: Omit<RangeQuery, 'keysOnly'>): Promise<string[]> {
    return (await this.#driver.range({ ...query, keysOnly: true })).map((entry) => entry.key);
  }

  /** Records in key order. One that cannot be read is left out and handed to `corrupt`, so that it harms nothing else. */
  async entries<T>(query: Omit<RangeQuery, 'keysOnly'>, corrupt?: (error: CorruptRecord) => void): Promise<[key: string, record: T][]> {
    const found: [string, T][] = [];
    for (const { key, value } of await this.#driver.range(query)) {
      try {
        found.push([key, this.decode<T>(key, value)]);
      } catch (error) {
        if (!(error instanceof CorruptRecord) || !corrupt) throw error;
        corrupt(error);
      }
    }
    return found;
  }

  /** One member per next path segment below `folder` (which is '' or ends with a slash), as clients list it. */
  async folder(folder: string, query: { prefix?: string; after?: string; limit?: number } = {}): Promise<string[]> {
    const found: string[] = [];
    const limit = query.limit ?? Infinity;
    let cursor = query.after === undefined ? undefined : behind(folder + query.after);
    for (;;) {
      const page = await this.#driver.range({
        prefix: folder + (query.prefix ?? ''),
        ...(cursor === undefined ? {} : { after: cursor }),
        limit: PAGE,
        keysOnly: true,
      });
      for (const { key } of page) {
        const slash = key.indexOf('/', folder.length);
        const member = slash < 0 ? key.slice(folder.length) : key.slice(folder.length, slash + 1);
        cursor = slash < 0 ? key : behind(folder + member);
        if (member === '' || member === found[found.length - 1] || member === query.after) continue;
        found.push(member);
        if (found.length >= limit) return found;
      }
      if (page.length < PAGE) return found;
    }
  }

  decode<T>(key: string, value: Uint8Array): T {
    if (value.length === 0) return '' as T;
    const plain = this.#barrier.ring.decrypt(key, value);
    try {
      return JSON.parse(plain.toString()) as T;
    } catch {
      throw new CorruptRecord(key, 'it is not JSON');
    }
  }

  encode(key: string, record: unknown): Entry {
    return { key, value: this.#barrier.ring.encrypt(key, Buffer.from(JSON.stringify(record))) };
  }

  /**
   * Reads are checked and writes applied at the end, all or nothing; run again on a conflict, so `work` touches nothing else.
   */
  async transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const tx = new StoreTransaction(this);
      const result = await work(tx);
      try {
        await tx.commit(this.#driver);
        return result;
      } catch (error) {
        if (!(error instanceof Conflict) || attempt >= ATTEMPTS) throw error;
        this.#cache.drop(error.key);
      }
    }
  }
}

const PAGE = 256;

/** A folder's last possible key, so that a listing goes on behind it instead of walking through it. */
function behind(key: string): string {
  return key.endsWith('/') ? `${key}\u{10FFFF}` : key;
}

/** One attempt of a transaction: what was read, and what is to be written. */
export class StoreTransaction {
  readonly #store: Store;
  readonly #read = new Map<string, number | undefined>();
  readonly #written = new Map<string, unknown>();
  readonly #announced = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
  }

  async get<T>(key: string): Promise<T | undefined> {
    if (this.#written.has(key)) {
      const pending = this.#written.get(key);
      return pending === undefined ? undefined : ((pending === MARK ? '' : pending) as T);
    }
    const found = await this.#store.read<T>(key);
    this.#read.set(key, found?.version);
    return found?.record;
  }

  put(key: string, record: unknown, announce = false): void {
    this.#written.set(key, record);
    if (announce) this.#announced.add(key);
  }

  /** Writes only when nothing is there: no read needed. */
  create(key: string, record: unknown): void {
    this.#read.set(key, undefined);
    this.#written.set(key, record);
  }

  /** An index entry: all it says is its key. */
  mark(key: string): void {
    this.#written.set(key, MARK);
  }

  delete(key: string, announce = false): void {
    this.#written.set(key, undefined);
    if (announce) this.#announced.add(key);
  }

  announce(key: string): void {
    this.#announced.add(key);
  }

  /** Keys as stored before this transaction, with its own writes applied. Not protected against others' additions. */
  async keys(query: Omit<RangeQuery, 'keysOnly'>): Promise<string[]> {
    const stored = await this.#store.keys(query);
    const keys = stored.filter((key) => !this.#written.has(key) || this.#written.get(key) !== undefined);
    const known = new Set(keys);
    for (const [key, record] of this.#written) {
      if (record !== undefined && !known.has(key) && inRange(key, query)) keys.push(key);
    }
    return keys.sort(byBytes).slice(0, query.limit);
  }

  async commit(driver: StorageDriver): Promise<void> {
    if (this.#written.size === 0) return;
    const expect: Expectation[] = [];
    for (const [key, version] of this.#read) expect.push({ key, version });
    const put: Entry[] = [];
    const remove: string[] = [];
    for (const [key, record] of this.#written) {
      if (record === undefined) remove.push(key);
      else if (record === MARK) put.push({ key, value: EMPTY });
      else put.push(this.#store.encode(key, record));
    }
    await driver.commit({ expect, put, delete: remove, announce: [...this.#announced] });
  }
}

const MARK = Symbol('index entry');
const EMPTY = new Uint8Array(0);

function inRange(key: string, query: RangeQuery): boolean {
  return (
    (query.prefix === undefined || key.startsWith(query.prefix)) &&
    (query.after === undefined || byBytes(key, query.after) > 0) &&
    (query.before === undefined || byBytes(key, query.before) < 0)
  );
}

/** UTF-8 byte order, which is code point order. */
export function byBytes(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

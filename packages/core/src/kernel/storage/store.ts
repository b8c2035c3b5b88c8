import { setImmediate as nextTurn } from 'node:timers/promises';
import { leastJsonLength, readStoredJson, traced, writeStoredJson, writeStoredJsonInTurns, type Tracer } from '@strongroom/engine-sdk';
import {
  Conflict,
  LATER,
  UNCHANGED,
  type Entry,
  type Expectation,
  type RangeQuery,
  type StorageDriver,
  type Stored,
  type StoredEntry,
} from '@strongroom/storage-sdk';
import { BarrierSealed, type Barrier } from '../barrier/barrier.ts';
import { CorruptRecord, UnknownTerm } from '../barrier/key-ring.ts';
import type { MaybePromise } from './maybe-promise.ts';
import { NOT_PLAIN, plainCopyOf } from './plain-copy.ts';
import { LARGEST_BYTES, RecordCache } from './record-cache.ts';
import type { CorruptListener, RecordCheck } from './records.ts';

/** Upper bound of retries on a conflict: a hot record settles long before. */
const ATTEMPTS = 100;

/** Some ten thousand small records, which take two to three times as much decoded. */
const CACHE_BYTES = 2 ** 23;

/** A record, and which version of it. */
interface FoundRecord<T> {
  readonly record: T;
  readonly version: number;
}

/**
 * The encrypted store, by full key. Records are JSON; index entries have an empty value, which is stored as it is,
 * because everything they say is in their key.
 */
export class Store {
  readonly #driver: StorageDriver;
  readonly #barrier: Barrier;
  readonly #tracer: Tracer | undefined;
  readonly #cache = new RecordCache(CACHE_BYTES);
  /** Who retries behind whom, by the key that conflicted: the tail of each line. */
  readonly #lines = new Map<string, Promise<void>>();
  #stored: ((marks: readonly string[]) => void) | undefined;

  constructor(driver: StorageDriver, barrier: Barrier, tracer?: Tracer) {
    this.#driver = driver;
    this.#barrier = barrier;
    this.#tracer = tracer;
  }

  /** Whether other processes may be at work on the same store. */
  get shared(): boolean {
    return this.#driver.shared;
  }

  /** The record, read from storage; a decoded copy of the same version is reused, so callers must not change it. */
  get(key: string): Promise<unknown>;
  get<T>(key: string, check: RecordCheck<T>): Promise<T | undefined>;
  async get<T>(key: string, check?: RecordCheck<T>): Promise<T | undefined> {
    return this.lookUp(key, check);
  }

  /** As `get`, at once where storage answers so and nothing has to be decoded. */
  lookUp<T>(key: string, check?: RecordCheck<T>): MaybePromise<T | undefined> {
    const found = this.read<T>(key, check);
    return found instanceof Promise ? found.then((read) => recordOf(read?.record, check)) : recordOf(found?.record, check);
  }

  /** The record with its version; '' for an index entry. At once where storage answers so, and nothing has to be decoded. */
  read<T>(key: string, check?: RecordCheck<T>): MaybePromise<FoundRecord<T> | undefined> {
    const cached = this.#cache.get(key) as FoundRecord<T> | undefined;
    const stored = this.#driver.getSync ? this.#driver.getSync(key, cached?.version) : LATER;
    if (stored === UNCHANGED) return cached;
    return stored === LATER ? this.#driver.get(key).then((later) => this.#found(key, later, check)) : this.#found(key, stored, check);
  }

  #found<T>(key: string, stored: Stored | undefined, check?: RecordCheck<T>): MaybePromise<FoundRecord<T> | undefined> {
    if (!stored) return undefined;
    if (stored.value.length === 0) return { record: '' as T, version: stored.version };
    const cached = this.#cache.get(key) as FoundRecord<T> | undefined;
    return cached?.version === stored.version ? cached : this.#decoded(key, stored, check);
  }

  async #decoded<T>(key: string, { value, version }: Stored, check?: RecordCheck<T>): Promise<FoundRecord<T>> {
    const record = await this.#decode<T>(key, value, check);
    this.#cache.put(key, version, record, value.length);
    return { record, version };
  }

  /** Whether an index entry is there: all it says is its key. */
  async isMark(key: string): Promise<boolean> {
    return (await this.get(key)) === '';
  }

  async has(key: string): Promise<boolean> {
    this.#requireOpen();
    const stored = this.#driver.getSync ? this.#driver.getSync(key) : LATER;
    return (stored === LATER ? await this.#driver.get(key) : stored) !== undefined;
  }

  /** Keys in byte order. */
  async keys(query: Omit<RangeQuery, 'keysOnly'>): Promise<string[]> {
    this.#requireOpen();
    return (await this.#driver.range({ ...query, keysOnly: true })).map((entry) => entry.key);
  }

  /** Keys in byte order, with whether they are index entries: nothing is decrypted. */
  async marks(query: Omit<RangeQuery, 'keysOnly'>): Promise<{ key: string; mark: boolean }[]> {
    this.#requireOpen();
    return (await this.#driver.range(query)).map(({ key, value }) => ({ key, mark: value.length === 0 }));
  }

  /**
   * Records in key order, read page by page, so that others are not kept waiting. One that cannot be read is left out and handed to `corrupt`, so that
   * it harms nothing else.
   */
  async entries<T>(
    query: Omit<RangeQuery, 'keysOnly' | 'reverse'>,
    corrupt?: CorruptListener,
    check?: RecordCheck<T>,
  ): Promise<[key: string, record: T][]> {
    const found: [string, T][] = [];
    let { limit: left = Infinity, after } = query;
    for (;;) {
      const size = Math.min(PAGE, left);
      const page = await this.#driver.range({ ...query, limit: size, ...(after === undefined ? {} : { after }) });
      for (const one of await this.#readable(page, corrupt, check)) found.push(one);
      left -= page.length;
      if (page.length < size || left === 0) return found;
      after = page.at(-1)!.key;
      await nextTurn();
    }
  }

  async #readable<T>(
    entries: readonly StoredEntry[],
    corrupt: CorruptListener,
    check?: RecordCheck<T>,
  ): Promise<[key: string, record: T][]> {
    const found: [string, T][] = [];
    for (const { key, value } of entries) {
      try {
        if (value.length > 0 || !check) found.push([key, await this.#decode<T>(key, value, check)]);
      } catch (error) {
        if (!(error instanceof CorruptRecord) || !corrupt) throw error;
        corrupt(error);
      }
    }
    return found;
  }

  /** All records below a prefix, page by page, so that others are not kept waiting; unreadable ones go to `corrupt`. */
  async *pages<T>(prefix: string, corrupt: CorruptListener, check?: RecordCheck<T>): AsyncGenerator<[key: string, record: T][]> {
    let after: string | undefined;
    for (;;) {
      const entries = await this.#driver.range({ prefix, ...(after === undefined ? {} : { after }), limit: PAGE });
      yield await this.#readable<T>(entries, corrupt, check);
      const last = entries[entries.length - 1];
      if (entries.length < PAGE || !last) return;
      after = last.key;
      await nextTurn();
    }
  }

  /** One member per next path segment below `folder` (which is '' or ends with a slash), as clients list it. */
  async folder(folder: string, query: { prefix?: string; after?: string; limit?: number } = {}): Promise<string[]> {
    this.#requireOpen();
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
      await nextTurn();
    }
  }

  /** From now on, `listener` hears of the index entries that transactions of this process make, once they are stored. */
  onMarks(listener: (keys: readonly string[]) => void): void {
    this.#stored = listener;
  }

  /** Forgets the decoded records: when the keys are forgotten. */
  clear(): void {
    this.#cache.clear();
  }

  /** Index entries and deletions need no key: they are refused all the same once the keys are forgotten. @throws BarrierSealed */
  #requireOpen(): void {
    if (this.#barrier.sealed) throw new BarrierSealed();
  }

  async #decode<T>(key: string, value: Uint8Array, check?: RecordCheck<T>): Promise<T> {
    if (value.length === 0) return '' as T;
    let plain: Buffer;
    try {
      plain = this.#barrier.ring.decrypt(key, value);
    } catch (error) {
      // Another process rotated the key a moment ago, and its change notification has not arrived yet.
      if (!(error instanceof UnknownTerm)) throw error;
      await this.#barrier.reload();
      plain = this.#barrier.ring.decrypt(key, value);
    }
    const large = plain.length > LARGE;
    if (large) await nextTurn();
    const record = parsed(key, plain);
    if (large) await nextTurn();
    return check ? check(key, record) : (record as T);
  }

  encode(key: string, record: unknown): Entry | Promise<Entry> {
    const json = record instanceof Json ? record.json : writeStoredJson(record);
    if (json.length > LARGE) return this.#encodeInTurns(key, json);
    return { key, value: this.#barrier.ring.encrypt(key, typeof json === 'string' ? Buffer.from(json) : json) };
  }

  /** Others have a turn between the steps, each of which takes long for a large record. */
  async #encodeInTurns(key: string, json: string | Buffer): Promise<Entry> {
    await nextTurn();
    const plain = typeof json === 'string' ? Buffer.from(json) : json;
    await nextTurn();
    return { key, value: await this.#barrier.ring.encryptInTurns(key, plain, nextTurn) };
  }

  /**
   * Reads are checked and writes applied at the end, all or nothing; run again on a conflict, so `work` touches nothing else.
   */
  transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    return traced(this.#tracer, 'transaction', () => this.#transaction(work));
  }

  async #transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    let attempt = await this.#attempt(work);
    for (let tries = 1; 'conflict' in attempt; tries += 1) {
      if (tries >= ATTEMPTS) throw attempt.conflict;
      this.#cache.drop(attempt.conflict.key);
      attempt = await this.#inLine(attempt.conflict.key, () => this.#attempt(work));
    }
    return attempt.done;
  }

  async #attempt<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<{ done: T } | { conflict: Conflict }> {
    const tx = new StoreTransaction(this);
    try {
      const done = await work(tx);
      this.#requireOpen();
      const marks = await tx.commit(this.#driver, this.#cache);
      // It was sealed meanwhile: nothing decoded stays in memory.
      if (this.#barrier.sealed) this.#cache.clear();
      if (marks.length > 0) this.#stored?.(marks);
      tx.committed();
      return { done };
    } catch (error) {
      if (error instanceof Conflict) return { conflict: error };
      throw error;
    }
  }

  /** Retries on one record go one after another, so that a crowd is served in linear time. */
  async #inLine<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#lines.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    const tail = mine.then(nothing, nothing);
    this.#lines.set(key, tail);
    try {
      return await mine;
    } finally {
      if (this.#lines.get(key) === tail) this.#lines.delete(key);
    }
  }
}

/** @throws CorruptRecord */
function parsed(key: string, json: Buffer): unknown {
  try {
    return readStoredJson(json);
  } catch {
    throw new CorruptRecord(key, 'it is not JSON');
  }
}

/** Who asks for a record of a kind finds none in an index entry. */
function recordOf<T>(found: unknown, check: RecordCheck<T> | undefined): T | undefined {
  return check && found === '' ? undefined : (found as T | undefined);
}

function nothing(): void {}

/** Characters of a record that is encoded in turns. */
const LARGE = 262_144;

const PAGE = 256;

/** A folder's last possible key, so that a listing goes on behind it instead of walking through it. */
function behind(key: string): string {
  return key.endsWith('/') ? `${key}\u{10FFFF}` : key;
}

interface ReadRecord {
  readonly version: number | undefined;
  readonly record: unknown;
}

const NOTHING: ReadRecord = { version: undefined, record: undefined };

/** One attempt of a transaction: what was read, and what is to be written. */
export class StoreTransaction {
  readonly #store: Store;
  readonly #read = new Map<string, ReadRecord>();
  readonly #written = new Map<string, unknown>();
  #notified: Set<string> | undefined;
  /** Records that nobody changes once they are written. */
  #final: Set<string> | undefined;
  #afterwards: (() => void)[] | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** With a check, an index entry is no record. */
  get(key: string): Promise<unknown>;
  get<T>(key: string, check: RecordCheck<T>): Promise<T | undefined>;
  async get<T>(key: string, check?: RecordCheck<T>): Promise<T | undefined> {
    return this.lookUp(key, check);
  }

  /** As `get`, at once where it is known here, or the store answers so. */
  lookUp<T>(key: string, check?: RecordCheck<T>): MaybePromise<T | undefined> {
    if (this.#written.has(key)) {
      const pending = this.#written.get(key);
      if (pending instanceof Json) return readStoredJson(pending.json) as T;
      return recordOf(pending === MARK ? '' : pending, check);
    }
    // A second read gives what the first gave: what was decided by it is what the commit checks.
    const known = this.#read.get(key);
    if (known) return recordOf(known.record, check);
    const found = this.#store.read<T>(key, check);
    return found instanceof Promise ? found.then((read) => this.#noted(key, read, check)) : this.#noted(key, found, check);
  }

  #noted<T>(key: string, found: FoundRecord<T> | undefined, check?: RecordCheck<T>): T | undefined {
    this.#read.set(key, found ?? NOTHING);
    return recordOf(found?.record, check);
  }

  /** Whether an index entry is there: all it says is its key. */
  async isMark(key: string): Promise<boolean> {
    return (await this.get(key)) === '';
  }

  put(key: string, record: unknown, notify = false): void {
    this.#written.set(key, record);
    this.#final?.delete(key);
    if (notify) this.notify(key);
  }

  /** As `put`, for a record that nobody changes any more: whoever reads it next may get this very object. */
  putFinal(key: string, record: unknown): void {
    this.put(key, record);
    (this.#final ??= new Set()).add(key);
  }

  /**
   * Writes the record as it is now: it may change once this has resolved. What replaces a record that this transaction has read is likely to be read
   * again soon: it is kept decoded.
   */
  putCopy(key: string, record: unknown, notify = false): void | Promise<void> {
    const least = leastJsonLength(record, LARGE);
    if (least > LARGE) return this.#putLarge(key, record, notify);
    const replaces = this.#read.get(key)?.version !== undefined;
    const copy = replaces && least <= LARGEST_BYTES ? plainCopyOf(record) : NOT_PLAIN;
    this.put(key, copy === NOT_PLAIN ? new Json(writeStoredJson(record)) : copy, notify);
    if (copy !== NOT_PLAIN) (this.#final ??= new Set()).add(key);
  }

  async #putLarge(key: string, record: unknown, notify: boolean): Promise<void> {
    this.put(key, new Json(await writeStoredJsonInTurns(record, nextTurn)), notify);
  }

  /** Writes only when nothing is there: no read needed. */
  create(key: string, record: unknown): void {
    this.#read.set(key, NOTHING);
    this.#written.set(key, record);
  }

  /** An index entry: all it says is its key. */
  mark(key: string): void {
    this.#written.set(key, MARK);
  }

  delete(key: string, notify = false): void {
    this.#written.set(key, undefined);
    if (notify) this.notify(key);
  }

  notify(key: string): void {
    (this.#notified ??= new Set()).add(key);
  }

  /** Calls back once this is committed; never for an attempt that is not. The callback must not throw. */
  afterwards(callback: () => void): void {
    (this.#afterwards ??= []).push(callback);
  }

  /** The commit has resolved. */
  committed(): void {
    for (const callback of this.#afterwards ?? []) callback();
  }

  /** Keys as stored before this transaction, with its own writes applied. Not protected against others' additions. */
  async keys(query: Omit<RangeQuery, 'keysOnly'>): Promise<string[]> {
    // As many more as this transaction itself may have deleted: they must not use up the limit.
    const stored = await this.#store.keys(query.limit === undefined ? query : { ...query, limit: query.limit + this.#written.size });
    const keys = stored.filter((key) => !this.#written.has(key) || this.#written.get(key) !== undefined);
    const known = new Set(keys);
    for (const [key, record] of this.#written) {
      if (record !== undefined && !known.has(key) && inRange(key, query)) keys.push(key);
    }
    return keys.sort(byBytes).slice(0, query.limit);
  }

  /** Resolves with the index entries made. What `cache` has of the records that are replaced or deleted is let go, or replaced too. */
  async commit(driver: StorageDriver, cache: Pick<RecordCache, 'drop' | 'put'>): Promise<string[]> {
    const marks: string[] = [];
    if (this.#written.size === 0) return marks;
    // `forEach` makes no array for each entry, as `for` would.
    const expect: Expectation[] = [];
    this.#read.forEach(({ version }, key) => expect.push({ key, version }));
    const put: Entry[] = [];
    const remove: string[] = [];
    const large: Promise<Entry>[] = [];
    this.#written.forEach((record, key) => {
      if (record === undefined) remove.push(key);
      else if (record === MARK) {
        put.push({ key, value: EMPTY });
        marks.push(key);
      } else {
        const entry = this.#store.encode(key, record);
        if (entry instanceof Promise) {
          // Another record may fail before this one is waited for.
          entry.catch(() => undefined);
          large.push(entry);
        } else put.push(entry);
      }
    });
    if (large.length > 0) put.push(...(await Promise.all(large)));
    const version = await driver.commit({ expect, put, delete: remove, ...(this.#notified ? { notify: [...this.#notified] } : {}) });
    // They may be the only ones to hold what was decoded, and would keep it for many collections of garbage.
    for (const key of this.#read.keys()) if (this.#written.has(key)) cache.drop(key);
    const final = this.#final;
    if (typeof version === 'number' && final) {
      for (const { key, value } of put) if (final.has(key)) cache.put(key, version, this.#written.get(key), value.length);
    }
    return marks;
  }
}

/** A record already in its stored form. */
class Json {
  readonly json: string | Buffer;
  constructor(json: string | Buffer) {
    this.json = json;
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

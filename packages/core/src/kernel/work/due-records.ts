import type { Clock } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { CorruptRecord } from '../barrier/key-ring.ts';
import type { MaybePromise } from '../storage/maybe-promise.ts';
import type { CorruptListener, RecordReader, RecordScanner, RecordWriter } from '../storage/records.ts';
import type { Store, StoreTransaction } from '../storage/store.ts';
import { dueBetween, realign, reschedule, type DueEntry, type DueKind } from './schedule-index.ts';

/** What every record that comes due says of it, beside what is to be done. */
export interface DueRecord {
  /** Milliseconds since the epoch: where its index entry is. While a process works on it, the end of the claim. Absent: it never comes due. */
  due?: number;
  /** The incarnation that works on it. */
  process?: string;
  /** The claim of whoever works on it, in kinds that store one; the others know a claim by its end. */
  claim?: string;
  /** Failures since the last success. */
  attempts?: number;
  last_error?: { message: string; at: number };
  /** When the failures since the last success began, or the waiting for an outside system whose circuit breaker is open. */
  failing_since?: number;
  /** The last tries since the first failure, in kinds that keep them. */
  tries?: readonly TryRecord[];
}

/** One try, as records keep it. Times are milliseconds; `message` is absent for a success, `request` where no request asked for it. */
export const TryRecord = Type.Object({
  at: Type.Number(),
  took: Type.Number(),
  message: Type.Optional(Type.String()),
  request: Type.Optional(Type.String()),
});
export type TryRecord = Static<typeof TryRecord>;

/** Tries that a record keeps. */
const TRIES = 16;
/** Characters of a message that a try keeps. */
const TRY_TEXT = 240;

/** The tries with one more; a success is kept only after a failure. */
export function withTry(tries: readonly TryRecord[] | undefined, { at, took, message, request }: TryRecord): { tries?: TryRecord[] } {
  if (message === undefined && (tries === undefined || tries.length === 0)) return {};
  const next = {
    at,
    took,
    ...(message === undefined ? {} : { message: message.slice(0, TRY_TEXT) }),
    ...(request === undefined ? {} : { request }),
  };
  return { tries: [...(tries ?? []), next].slice(-TRIES) };
}

/** Gives two fields their names in records of older versions. */
export function renameOutcome({ lastError, lastSuccess, ...stored }: Record<string, unknown>): Record<string, unknown> {
  if (lastError !== undefined) stored['last_error'] ??= lastError;
  if (lastSuccess !== undefined) stored['last_success'] ??= lastSuccess;
  return stored;
}

/** One kind of record, as `Records` keeps it. */
interface Kept<R> {
  readonly prefix: string;
  get(from: RecordReader, id: string): Promise<R | undefined>;
  lookUp(from: RecordReader, id: string): MaybePromise<R | undefined>;
  put(tx: RecordWriter, id: string, record: R): void;
  putFinal(tx: RecordWriter, id: string, record: R): void;
  create(tx: RecordWriter, id: string, record: R): void;
  delete(tx: RecordWriter, id: string): void;
  entries(
    store: RecordScanner,
    query: { prefix?: string; after?: string; limit?: number },
    corrupt: CorruptListener,
  ): Promise<[string, R][]>;
  pages(store: RecordScanner, corrupt: CorruptListener, below?: string): AsyncIterable<[string, R][]>;
}

/** Records that are changed in one commit. */
const TOGETHER = 64;

/**
 * Records of one kind with their index entries: the entry in the schedule, and whatever else the kind derives from a record (`marks`). Both are written
 * in one commit, here and nowhere else.
 */
export class DueRecords<R extends DueRecord> {
  readonly kind: DueKind;
  readonly store: Store;
  readonly #records: Kept<R>;
  readonly #clock: Clock;
  readonly #marks: ((id: string, record: R) => readonly string[]) | undefined;
  readonly #final: boolean;

  constructor(options: {
    readonly kind: DueKind;
    readonly store: Store;
    readonly records: Kept<R>;
    readonly clock: Clock;
    /** Keys of further index entries of a record. */
    readonly marks?: (id: string, record: R) => readonly string[];
    /** Nobody changes a record once it replaces another: the steps that follow each other soon need not decode it. */
    readonly final?: boolean;
  }) {
    this.kind = options.kind;
    this.store = options.store;
    this.#records = options.records;
    this.#clock = options.clock;
    this.#marks = options.marks;
    this.#final = options.final === true;
  }

  get prefix(): string {
    return this.#records.prefix;
  }

  /** Within a transaction, or from the store. @throws CorruptRecord */
  get(id: string, from: RecordReader = this.store): Promise<R | undefined> {
    return this.#records.get(from, id);
  }

  /** As `get` from the store, at once where that can be. */
  lookUp(id: string): MaybePromise<R | undefined> {
    return this.#records.lookUp(this.store, id);
  }

  /** As `get`; undefined for a damaged record too. */
  async readable(id: string, from: RecordReader = this.store): Promise<R | undefined> {
    try {
      return await this.get(id, from);
    } catch (error) {
      if (error instanceof CorruptRecord) return undefined;
      throw error;
    }
  }

  /** In the order of their ids. */
  list(query: { prefix?: string; after?: string; limit?: number }, corrupt: CorruptListener): Promise<[id: string, record: R][]> {
    return this.#records.entries(this.store, query, corrupt);
  }

  /** All whose id begins with `below`, page by page. */
  pages(corrupt: CorruptListener, below?: string): AsyncIterable<[id: string, record: R][]> {
    return this.#records.pages(this.store, corrupt, below);
  }

  /** Where nothing is yet: no read is needed. */
  create(tx: StoreTransaction, id: string, record: R): void {
    this.#records.create(tx, id, record);
    this.#index(tx, id, undefined, record);
  }

  /** `before`: what is replaced. */
  put(tx: StoreTransaction, id: string, before: R | undefined, record: R): void {
    if (this.#final && before) this.#records.putFinal(tx, id, record);
    else this.#records.put(tx, id, record);
    this.#index(tx, id, before, record);
  }

  remove(tx: StoreTransaction, id: string, before: R): void {
    this.#records.delete(tx, id);
    this.#index(tx, id, before, undefined);
  }

  /** A record that cannot be read: its index entries go when they come due. */
  removeDamaged(tx: StoreTransaction, id: string): void {
    this.#records.delete(tx, id);
  }

  /** Rewrites the record in a commit of its own; with undefined it stays as it is. Resolves with what is stored then. */
  async change(id: string, change: (record: R, now: number) => R | undefined): Promise<R | undefined> {
    return this.store.transaction(async (tx) => {
      const record = await this.get(id, tx);
      const next = record && change(record, this.#clock.millis());
      if (!next) return record;
      this.put(tx, id, record, next);
      return next;
    });
  }

  /** The same for many, in few commits. Damaged ones stay. Resolves with how many were rewritten. */
  async changeAll(ids: AsyncIterable<readonly string[]>, change: (record: R, now: number, id: string) => R | undefined): Promise<number> {
    let count = 0;
    for await (const page of ids) {
      for (let at = 0; at < page.length; at += TOGETHER) {
        count += await this.store.transaction(async (tx) => {
          let changed = 0;
          for (const id of page.slice(at, at + TOGETHER)) {
            const record = await this.readable(id, tx);
            const next = record && change(record, this.#clock.millis(), id);
            if (!next) continue;
            this.put(tx, id, record, next);
            changed += 1;
          }
          return changed;
        });
      }
    }
    return count;
  }

  /** Ids of those that come due within a number of milliseconds. */
  async *dueWithin(millis: number): AsyncGenerator<string[]> {
    const now = this.#clock.millis();
    for await (const page of dueBetween(this.store, this.kind, now, now + millis)) yield page.map(({ id }) => id);
  }

  /** The entry of the index disagrees with its record, which is right: it was restored, replaced or quarantined. */
  async realign(entry: DueEntry): Promise<void> {
    await this.store.transaction(async (tx) => realign(tx, entry, (await this.get(entry.id, tx))?.due));
  }

  #index(tx: StoreTransaction, id: string, before: R | undefined, after: R | undefined): void {
    if (before?.due !== after?.due) reschedule(tx, this.kind, id, before?.due, after?.due);
    if (!this.#marks) return;
    const old = before ? this.#marks(id, before) : [];
    const marks = after ? this.#marks(id, after) : [];
    for (const key of old) if (!marks.includes(key)) tx.delete(key);
    // A record of an older version that goes on failing may lack its mark.
    const failedAgain = after?.attempts !== before?.attempts;
    for (const key of marks) if (failedAgain || !old.includes(key)) tx.mark(key);
  }
}

/** Without its claim. */
export function released<R extends DueRecord>(record: R): R {
  const free = { ...record };
  delete free.process;
  delete free.claim;
  return free;
}

/** Whether a record is still under the claim that it was given. */
export function isHeld(record: DueRecord, claimed: DueRecord): boolean {
  return claimed.claim === undefined ? record.due === claimed.due : record.claim === claimed.claim;
}

/** What operators see of every record that comes due. */
export interface DueStatus {
  /** Failed ones since the last success. */
  readonly attempts: number;
  readonly nextAttempt: Date;
  readonly lastError?: { readonly message: string; readonly at: Date };
}

export function dueStatus({ due = 0, attempts = 0, last_error }: DueRecord): DueStatus {
  const shown = { attempts, nextAttempt: new Date(due) };
  return last_error === undefined ? shown : { ...shown, lastError: { message: last_error.message, at: new Date(last_error.at) } };
}

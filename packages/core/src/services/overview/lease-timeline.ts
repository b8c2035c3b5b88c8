import { setImmediate as nextTurn } from 'node:timers/promises';
import { BadRequest, mapConcurrently } from '@strongroom/engine-sdk';
import { leaseRecords } from '../leases/lease-record.ts';
import { byBytes, type Store } from '../../kernel/storage/store.ts';
import { dueFrom, dueKey, parseDueKey, SCHEDULE, type DueEntry } from '../../kernel/work/schedule-index.ts';
import { at, below, found, isBelow, tokenDigest, type FoundLease } from './lease-ids.ts';
import { LeaseRows, type LeaseRow, type TokenReader } from './lease-row.ts';

/** How much one call reads at most. */
export interface TimelineBounds {
  /** Entries of the schedule: only keys are read, nothing is decrypted. */
  readonly entries: number;
  readonly records: number;
  /** What one read brings. */
  readonly page: number;
  /** Below a path with no more leases, these are read; otherwise the schedule is. */
  readonly few: number;
}

/** Records that one read brings at most: they are decrypted, which takes longer than reading keys. */
const RECORD_PAGE = 200;

const BOUNDS: TimelineBounds = { entries: 50_000, records: 5_000, page: 1_000, few: 1_000 };
/** Records that are read side by side. */
const TOGETHER = 32;

/** A span of time; milliseconds since the epoch, `to` exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** What a call looks at: all leases, or those of a path; from the start, or where an earlier call ended. */
export interface Look extends Span {
  /** '' for all; otherwise the id of a lease, or a path with the leases below it. */
  readonly prefix: string;
  /** The `next` of an earlier call with the same span and prefix. */
  readonly after?: string | undefined;
}

export interface LeaseCounts {
  secrets: number;
  tokens: number;
}

/** Exact counts of what this call has read. `next`: there is more; the counts of the next call are to be added. */
export interface Histogram {
  readonly buckets: readonly (LeaseCounts & { readonly from: number })[];
  readonly next?: string;
}

/** Leases in the order of their ends. `next`: there may be more, also where this call has found none. */
export interface LeasePage {
  readonly rows: readonly LeaseRow[];
  readonly next?: string;
}

/**
 * Leases by the time at which the server acts on them: a live lease at its end, one that is being revoked at the next try. Reads the schedule, which is
 * ordered by time, so that a look at the next hour costs nothing of what ends next week. Every call reads a bounded number of entries.
 */
export class LeaseTimeline {
  readonly #store: Store;
  readonly #tokens: TokenReader;
  readonly #bounds: TimelineBounds;

  constructor(parts: { store: Store; tokens: TokenReader; bounds?: TimelineBounds }) {
    this.#store = parts.store;
    this.#tokens = parts.tokens;
    this.#bounds = parts.bounds ?? BOUNDS;
  }

  /** @throws BadRequest where `after` is nothing that a call has answered. */
  async histogram(look: Look, count: number): Promise<Histogram> {
    const width = (look.to - look.from) / count;
    const buckets = Array.from({ length: count }, (_, index) => ({ from: Math.round(look.from + index * width), secrets: 0, tokens: 0 }));
    const add = (due: number, kind: keyof LeaseCounts): void => {
      if (due >= look.from && due < look.to) buckets[Math.min(count - 1, Math.floor((due - look.from) / width))]![kind] += 1;
    };
    const next = look.prefix === '' ? await this.#countAll(look, add) : await this.#countBelow(look, add);
    return { buckets, ...(next === undefined ? {} : { next }) };
  }

  /** At most `limit` rows. @throws BadRequest as `histogram` */
  async expiring(look: Look, limit: number): Promise<LeasePage> {
    const rows = new LeaseRows(this.#store, this.#tokens);
    const after = look.after === undefined ? dueFrom(look.from) : cursorKey(look.after);
    if (look.prefix !== '') {
      const few = await this.#fewBelow(look.prefix);
      if (few) return sorted(await this.#rowsOf(few, rows), look, after, limit);
    }
    return this.#walk(look, after, limit, rows);
  }

  async #countAll(look: Look, add: (due: number, kind: keyof LeaseCounts) => void): Promise<string | undefined> {
    let after = look.after === undefined ? dueFrom(look.from) : cursorKey(look.after);
    for (let read = 0; read < this.#bounds.entries; read += this.#bounds.page) {
      const keys = await this.#store.keys({ prefix: SCHEDULE, after, before: dueFrom(look.to), limit: this.#bounds.page });
      for (const key of keys) {
        const entry = parseDueKey(key);
        if (entry?.kind === 'lease') add(entry.at, 'secrets');
        else if (entry?.kind === 'token') add(entry.at, 'tokens');
      }
      if (keys.length < this.#bounds.page) return undefined;
      after = keys.at(-1)!;
      await nextTurn();
    }
    return after.slice(SCHEDULE.length);
  }

  /** The schedule is not ordered by path: the leases of the path are read instead, in the order of their ids. */
  async #countBelow(look: Look, add: (due: number, kind: keyof LeaseCounts) => void): Promise<string | undefined> {
    const rows = new LeaseRows(this.#store, this.#tokens);
    const folder = leaseRecords.key(below(look.prefix));
    const page = Math.min(this.#bounds.page, RECORD_PAGE);
    let { after } = look;
    const count = async (ids: readonly FoundLease[]): Promise<void> => {
      for (const row of await this.#rowsOf(ids, rows)) add(row.due, `${row.type}s`);
    };
    if (after === undefined) await count(await at(this.#store, look.prefix));
    for (let read = 0; read < this.#bounds.records; read += page) {
      const ids = await found(this.#store, {
        prefix: folder,
        ...(after === undefined ? {} : { after: leaseRecords.key(after) }),
        limit: page,
      });
      await count(ids);
      if (ids.length < page) return undefined;
      after = ids.at(-1)!.id;
      await nextTurn();
    }
    return after;
  }

  async #walk(look: Look, start: string, limit: number, rows: LeaseRows): Promise<LeasePage> {
    const page: LeaseRow[] = [];
    let after = start;
    let [entries, records] = [0, 0];
    while (entries < this.#bounds.entries && records < this.#bounds.records) {
      const keys = await this.#store.keys({ prefix: SCHEDULE, after, before: dueFrom(look.to), limit: this.#bounds.page });
      entries += keys.length;
      const candidates = keys.flatMap((key) => parseDueKey(key) ?? []).filter((entry) => mayBeBelow(entry, look.prefix));
      for (let begin = 0; begin < candidates.length; begin += TOGETHER) {
        const batch = candidates.slice(begin, begin + TOGETHER);
        records += batch.length;
        const read = await Promise.all(batch.map(async (entry) => this.#rowOf(entry, rows)));
        for (const [position, row] of read.entries()) {
          if (!row || !isBelow(row.id, look.prefix)) continue;
          page.push(row);
          if (page.length >= limit) return { rows: page, next: batch[position]!.key.slice(SCHEDULE.length) };
        }
      }
      if (keys.length < this.#bounds.page) return { rows: page };
      after = keys.at(-1)!;
      await nextTurn();
    }
    return { rows: page, next: after.slice(SCHEDULE.length) };
  }

  /** Undefined where the entry does not say what its record says: it is realigned when it comes due. */
  async #rowOf(entry: DueEntry, rows: LeaseRows): Promise<LeaseRow | undefined> {
    const row = entry.kind === 'lease' ? await rows.ofSecret(entry.id) : await rows.ofToken(entry.id);
    if (row?.state === 'damaged') return { ...row, due: entry.at };
    return row?.due === entry.at ? row : undefined;
  }

  /** Undefined where there are more than a few. */
  async #fewBelow(prefix: string): Promise<FoundLease[] | undefined> {
    const few = await found(this.#store, { prefix: leaseRecords.key(below(prefix)), limit: this.#bounds.few + 1 });
    return few.length > this.#bounds.few ? undefined : [...(await at(this.#store, prefix)), ...few];
  }

  async #rowsOf(ids: readonly FoundLease[], rows: LeaseRows): Promise<LeaseRow[]> {
    const read: (LeaseRow | undefined)[] = [];
    await mapConcurrently(ids, TOGETHER, async ({ id, token }, position) => {
      read[position] = token ? await rows.ofToken(tokenDigest(id)) : await rows.ofSecret(id);
    });
    return read.filter((row) => row !== undefined);
  }
}

function sorted(rows: readonly LeaseRow[], { from, to }: Span, after: string, limit: number): LeasePage {
  const keyed = rows
    // When a damaged one ends is not known without its entry in the schedule: it comes first.
    .map((row) => (row.state === 'damaged' ? { ...row, due: from } : row))
    .filter(({ due }) => due >= from && due < to)
    .map((row) => ({ row, key: keyOf(row) }))
    .filter(({ key }) => byBytes(key, after) > 0)
    .sort((a, b) => byBytes(a.key, b.key));
  const page = keyed.slice(0, limit);
  const next = keyed.length > page.length ? page.at(-1)?.key.slice(SCHEDULE.length) : undefined;
  return { rows: page.map(({ row }) => row), ...(next === undefined ? {} : { next }) };
}

function keyOf({ type, id, due }: LeaseRow): string {
  return type === 'token' ? dueKey(due, 'token', tokenDigest(id)) : dueKey(due, 'lease', id);
}

/** @throws BadRequest */
function cursorKey(after: string): string {
  const key = SCHEDULE + after;
  if (!parseDueKey(key)) throw new BadRequest('after: must be the `next` of an earlier answer');
  return key;
}

/** What the entry alone says: a token's entry does not say its path. */
function mayBeBelow({ kind, id }: DueEntry, prefix: string): boolean {
  return kind === 'token' || (kind === 'lease' && isBelow(id, prefix));
}

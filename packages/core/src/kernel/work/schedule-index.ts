import type { StoreTransaction } from '../storage/store.ts';

export const SCHEDULE = 'schedule/';

/** What an index entry points to: a record of this kind, or what a token has left whose record is gone (`tombstone`). */
export const DUE_KINDS = ['intent', 'job', 'lease', 'login', 'removal', 'token', 'tombstone'] as const;
/** One of them. */
export type DueKind = (typeof DUE_KINDS)[number];
const DUE_KEY = new RegExp(`^schedule/(\\d{14})/(${DUE_KINDS.join('|')})/(.+)$`, 's');

export interface DueEntry {
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: DueKind;
  readonly id: string;
}

/** `schedule/<milliseconds, 14 digits>/<kind>/<id>`: the order of the keys is the order of time. */
export function dueKey(at: number, kind: DueKind, id: string): string {
  return `${SCHEDULE}${stamp(at)}/${kind}/${id}`;
}

/** Before every entry that is due at `at` or later, and behind all that are due earlier. */
export function dueFrom(at: number): string {
  return `${SCHEDULE}${stamp(at)}`;
}

/** Every entry before this key is due at `now`. */
export function dueBound(now: number): string {
  return dueFrom(now + 1);
}

export function parseDueKey(key: string): DueEntry | undefined {
  const match = DUE_KEY.exec(key);
  return match ? { key, at: Number(match[1]), kind: match[2] as DueKind, id: match[3]! } : undefined;
}

function stamp(at: number): string {
  return String(Math.max(0, Math.min(Math.trunc(at), 99_999_999_999_999))).padStart(14, '0');
}

/**
 * The index entry and the record disagree about the time: a record was restored, replaced or quarantined. The record is right; `due` is
 * what it says, undefined where there is none.
 */
export function realign(tx: StoreTransaction, entry: DueEntry, due: number | undefined): void {
  if (due === entry.at) return;
  tx.delete(entry.key);
  if (due !== undefined) tx.mark(dueKey(due, entry.kind, entry.id));
}

/** Moves an entry of the index; the record that names the time is the caller's to write in the same transaction. */
export function reschedule(tx: StoreTransaction, kind: DueKind, id: string, from: number | undefined, to: number | undefined): void {
  if (from !== undefined && from !== to) tx.delete(dueKey(from, kind, id));
  if (to !== undefined) tx.mark(dueKey(to, kind, id));
}

/** Entries of one kind that are due between two times, page by page. */
export async function* dueBetween(
  store: { keys(query: { prefix: string; after: string; before: string; limit: number }): Promise<string[]> },
  kind: DueKind,
  from: number,
  to: number,
): AsyncGenerator<DueEntry[]> {
  let after = dueFrom(from);
  for (;;) {
    const keys = await store.keys({ prefix: SCHEDULE, after, before: dueBound(to), limit: PAGE });
    yield keys.flatMap((key) => parseDueKey(key) ?? []).filter((entry) => entry.kind === kind);
    const last = keys.at(-1);
    if (keys.length < PAGE || last === undefined) return;
    after = last;
  }
}

const PAGE = 512;

import { DUE_KINDS, parseDueKey, type DueKind } from '../../kernel/work/schedule-index.ts';

/** Work that is due for longer than this is late. Milliseconds. */
const LATE = 120_000;

/** What is due now, of one kind. */
export interface DueOfKind {
  readonly kind: DueKind;
  readonly due: number;
  /** Of them, overdue by more than two minutes. */
  readonly late: number;
  /** Seconds. */
  readonly oldest: number;
}

/** How much work waits, and how much fails. Each number is at most 10,000. */
export interface WaitingWork {
  readonly due: readonly DueOfKind[];
  readonly failingJobs: number;
  readonly irrevocableLeases: number;
  /** Outside changes that are not completed or undone. */
  readonly openIntents: number;
  /** The series of scheduled snapshots. */
  readonly snapshots: readonly SeriesFigures[];
}

/** A series of scheduled snapshots, as metrics show it. */
export interface SeriesFigures {
  readonly name: string;
  /** Of the last good snapshot, or of the settings where there is none. Seconds. */
  readonly age: number;
  /** When the last good snapshot was taken: milliseconds since the epoch. */
  readonly lastGood: number | undefined;
  /** Of the last good snapshot. */
  readonly bytes: number | undefined;
  /** Since the last good snapshot. */
  readonly failures: number;
  readonly kept: number;
  /** Seconds. */
  readonly interval: number;
}

/** `keys`: entries of the schedule that are due, in their order. */
export function dueByKind(keys: readonly string[], now: number): DueOfKind[] {
  const found = new Map(DUE_KINDS.map((kind) => [kind, { due: 0, late: 0, oldest: 0 }]));
  for (const key of keys) {
    const entry = parseDueKey(key);
    if (!entry) continue;
    const of = found.get(entry.kind)!;
    of.due += 1;
    if (now - entry.at > LATE) of.late += 1;
    of.oldest = Math.max(of.oldest, (now - entry.at) / 1_000);
  }
  return [...found].map(([kind, counts]) => ({ kind, ...counts }));
}

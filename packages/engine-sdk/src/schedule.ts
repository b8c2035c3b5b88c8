import type { Static, TObject } from 'typebox';
import type { Subject } from './failing-thing.ts';
import type { ScheduleKind } from './schedule-kind.ts';
import type { StorageView } from './storage-view.ts';

/** Work that is due later and survives restarts. */
export interface Schedule<E extends TObject> extends ScheduleKind<E> {
  /** Milliseconds that a run may take: a minute by default, and never less. At the end its signal is aborted, and it counts as failed. */
  readonly deadline?: number;
  /** The target whose circuit breaker guards runs: a connection, a directory. */
  target?(entry: Static<E>): string;
  /** What the job is for, by the name that operators know. Reads storage only. Undefined, or without this hook: they see the kind and the id. */
  about?(entry: Static<E>, storage: StorageView, id: string): Promise<Subject | undefined>;
  /** Runs the job and returns the next time, if any. A throw is stored with the job, shown, and retried with backoff. */
  run(entry: Static<E>, storage: StorageView, signal: AbortSignal, job: JobRun): Promise<Date | undefined>;
}

/** A schedule of any entry: what is stored is checked against `entry` before it is handed over. */
export type AnySchedule = Schedule<TObject>;

/** One run of a job of a schedule. */
export interface JobRun {
  readonly id: string;
  /** When the job was due. */
  readonly due: Date;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

import type { TObject } from 'typebox';

/** A kind of job, as storage knows it: its name, and what is stored of each job. */
export interface ScheduleKind<E extends TObject = TObject> {
  /** Written into every stored job; never renamed. */
  readonly kind: string;
  readonly entry: E;
}

/** One try of the work of a job. */
export interface JobTry {
  /** When it ended. */
  readonly at: Date;
  /** Milliseconds. */
  readonly took: number;
  /** Why it failed; absent for a success. */
  readonly message?: string;
  /** The id of the request that asked for it, where one did. */
  readonly request?: string;
}

/** The state of a job, as operators see it. */
export interface JobStatus {
  readonly state: 'waiting' | 'running' | 'failing';
  /** Failed attempts since the last success. */
  readonly attempts: number;
  readonly nextAttempt: Date;
  readonly lastSuccess?: Date;
  readonly lastError?: { readonly message: string; readonly at: Date };
  /** When it began to fail, or to wait for an outside system whose circuit breaker is open; absent if the last try succeeded. */
  readonly failingSince?: Date;
  /** The last tries, the oldest first, as far as they are kept: failures, and the successes after them. */
  readonly tries?: readonly JobTry[];
}

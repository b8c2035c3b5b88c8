import type { TObject } from 'typebox';

/** A kind of job, as storage knows it: its name, and what is stored of each job. */
export interface ScheduleKind<E extends TObject = TObject> {
  /** Written into every stored job; never renamed. */
  readonly kind: string;
  readonly entry: E;
}

/** The state of a job, as operators see it. */
export interface JobStatus {
  readonly state: 'waiting' | 'running' | 'failing';
  /** Failed attempts since the last success. */
  readonly attempts: number;
  readonly nextAttempt: Date;
  readonly lastSuccess?: Date;
  readonly lastError?: { readonly message: string; readonly at: Date };
}

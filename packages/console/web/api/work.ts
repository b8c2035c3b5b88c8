/** One try of some work, as `sys/schedule` and `sys/internal/ui/job` show it. Times are RFC 3339. */
export interface Try {
  readonly at: string;
  readonly took_ms: number;
  /** Why it failed; absent for a success. */
  readonly message?: string;
}

export interface Circuit {
  readonly state: 'closed' | 'open' | 'half-open';
  readonly failures: number;
  readonly since: string | null;
  readonly next_try: string | null;
}

export interface OutsideSystem {
  readonly target: string;
  readonly name: string;
  readonly path?: string;
}

export interface Job {
  readonly job: string;
  readonly mount: string;
  readonly kind: string;
  readonly id: string;
  readonly noun: string | null;
  readonly name: string | null;
  readonly path: string | null;
  readonly system: OutsideSystem | null;
  readonly state: 'waiting' | 'running' | 'failing';
  readonly attempts: number;
  readonly next_attempt: string;
  readonly last_success: string | null;
  readonly last_error: { readonly message: string; readonly at: string } | null;
  readonly failing_since: string | null;
  readonly tries: readonly Try[];
}

/** `sys/internal/ui/job` */
export interface JobDetails extends Job {
  readonly mount_type: string;
  readonly retry: string | null;
  readonly circuit: Circuit | null;
}

export type AttentionKind =
  | 'audit'
  | 'seal'
  | 'mount'
  | 'lease'
  | 'rotation'
  | 'sync'
  | 'job'
  | 'circuit'
  | 'journal'
  | 'removal'
  | 'late'
  | 'node'
  | 'drift'
  | 'token'
  | 'plugin';

/** One thing that fails. */
export interface AttentionThing {
  readonly mount: string | null;
  readonly noun: string;
  readonly name: string;
  readonly path: string | null;
  readonly message: string;
  readonly since: string | null;
  readonly attempts: number;
  readonly next_attempt: string | null;
  readonly job: string | null;
  readonly retry: string | null;
}

/** One cause, with what fails for it. */
export interface AttentionItem {
  readonly id: string;
  readonly kind: AttentionKind;
  readonly mount: string | null;
  readonly mount_type: string | null;
  readonly target: string;
  readonly severity: 'critical' | 'warning' | 'notice';
  readonly since: string | null;
  readonly message: string;
  readonly attempts: number;
  readonly next_attempt: string | null;
  readonly cause: { readonly system: OutsideSystem; readonly circuit: Circuit } | null;
  readonly count: number;
  readonly things: readonly AttentionThing[];
}

/** `sys/internal/ui/attention` */
export interface Attention {
  readonly items: readonly AttentionItem[];
  readonly total: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly complete: boolean;
  readonly as_of: string;
}

/** Paths whose reads change when something is tried again. */
export const WORK_PATHS = ['sys/internal/ui/attention', 'sys/internal/ui/job', 'sys/schedule', 'sys/journal', 'sys/circuits'] as const;

import type { Job, OutsideSystem, Circuit } from '../../api/work.ts';
import type { Mood } from '../../parts/state-chip.tsx';
import type { ThingPage } from '../../parts/thing-page.ts';

/** `sys/journal` */
export interface Change {
  readonly id: string;
  readonly mount: string;
  readonly kind: string;
  readonly opened: string;
  readonly attempts: number;
  readonly next_attempt: string;
  readonly last_error: { readonly message: string; readonly at: string } | null;
  readonly failing_since: string | null;
  readonly system: OutsideSystem | null;
  readonly leaves: { readonly kind: string; readonly name: string; readonly system?: string; readonly detail?: string } | null;
  readonly tries: Job['tries'];
}

/** `sys/circuits` */
export interface ShownCircuit extends Circuit {
  readonly mount: string;
  readonly target: string;
  readonly system: OutsideSystem | null;
}

export type Sort = 'job' | 'change' | 'circuit';

/** A row of the table of work: a job, an outside change that is not finished, or a circuit breaker. */
export interface WorkRow {
  readonly sort: Sort;
  readonly key: string;
  readonly mount: string;
  readonly what: string;
  readonly page: ThingPage | undefined;
  readonly mood: Mood;
  readonly state: string;
  readonly failing: boolean;
  readonly tries: number;
  readonly next: string | null;
  readonly message: string | undefined;
  /** What is called to try again. */
  readonly job: string | null;
  readonly retry: string | null;
  readonly target: string | undefined;
}

export function jobRow(job: Job): WorkRow {
  const failing = job.failing_since !== null;
  return {
    sort: 'job',
    key: `job ${job.job}`,
    mount: job.mount,
    what: job.name === null ? `${job.kind} ${job.id}` : `${job.noun ?? job.kind} ${job.name}`,
    page: { to: '/work/job', search: { mount: job.mount, kind: job.kind, id: job.id } },
    mood: failing ? 'bad' : job.state === 'running' ? 'good' : 'wait',
    state: failing ? 'failing' : job.state,
    failing,
    tries: failedTries(job),
    next: job.next_attempt,
    message: failing ? job.last_error?.message : undefined,
    // A rotation that is not due does nothing when its job runs; it is rotated on its own page.
    job: failing || !job.kind.startsWith('rotate-') ? job.job : null,
    retry: null,
    target: undefined,
  };
}

/** With the tries of requests, which the server's own number leaves out. */
export function failedTries({ attempts, tries, failing_since }: Pick<Job, 'attempts' | 'tries' | 'failing_since'>): number {
  if (failing_since === null) return attempts;
  return Math.max(attempts, tries.filter(({ at, message }) => message !== undefined && at >= failing_since).length);
}

export function changeRow(change: Change): WorkRow {
  const failing = change.failing_since !== null;
  return {
    sort: 'change',
    key: `change ${change.id}`,
    mount: change.mount,
    what: change.leaves ? `${change.leaves.kind} ${change.leaves.name}` : change.kind,
    page: { to: '/work/change/$id', params: { id: change.id } },
    mood: failing ? 'bad' : 'wait',
    state: failing ? 'cannot be undone' : 'not finished',
    failing,
    tries: change.attempts,
    next: change.next_attempt,
    message: change.last_error?.message,
    job: null,
    retry: `sys/journal/${change.id}/retry`,
    target: undefined,
  };
}

export function circuitRow(circuit: ShownCircuit): WorkRow {
  const open = circuit.state !== 'closed';
  return {
    sort: 'circuit',
    key: `circuit ${circuit.mount} ${circuit.target}`,
    mount: circuit.mount,
    what: `circuit breaker of ${circuit.system?.name ?? circuit.target}`,
    page: undefined,
    mood: open ? 'bad' : 'warn',
    state: circuit.state,
    failing: open,
    tries: circuit.failures,
    next: circuit.next_try,
    message: undefined,
    job: null,
    retry: null,
    target: circuit.target,
  };
}

/** What fails first, then what is due first. */
export function byNeed(a: WorkRow, b: WorkRow): number {
  if (a.failing !== b.failing) return a.failing ? -1 : 1;
  return (a.next ?? '').localeCompare(b.next ?? '') || a.key.localeCompare(b.key);
}

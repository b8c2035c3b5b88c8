import type { CoreEvent, EventKind } from '../events/core-event.ts';

/** What is counted for each mount. The first part is what, the second is how it ended. */
export const COUNTED = [
  'leases_issued',
  'leases_renewed',
  'leases_revoked',
  'revocations_failed',
  'rotations_ok',
  'rotations_failed',
  'sync_ok',
  'sync_failed',
  'logins_ok',
  'logins_denied',
  'logins_failed',
  'rollbacks_ok',
  'rollbacks_failed',
  'circuits_opened',
] as const;
/** What is counted of each mount. */
export type Counted = (typeof COUNTED)[number];

const INDEX = Object.fromEntries(COUNTED.map((name, index) => [name, index])) as Record<Counted, number>;

/** What an event counts as. */
const BY_KIND: Partial<Record<EventKind, Counted>> = {
  'lease.issued': 'leases_issued',
  'lease.renewed': 'leases_renewed',
  'lease.revoked': 'leases_revoked',
  'lease.failing': 'revocations_failed',
  'lease.irrevocable': 'revocations_failed',
  'rotation.done': 'rotations_ok',
  'rotation.failed': 'rotations_failed',
  'sync.done': 'sync_ok',
  'sync.failed': 'sync_failed',
  'circuit.opened': 'circuits_opened',
};

/** More mounts than this are counted together, so that metrics stay bounded. */
const MOST_MOUNTS = 1_000;
/** Jobs of more kinds than this on one mount are counted together. */
const MOST_KINDS = 32;
/** Stands for the mounts and the kinds beyond. */
const OTHERS = '';

interface JobCounts {
  ok: number;
  failed: number;
}

/** What a mount has done since the server started. */
export interface MountFigures {
  /** Uuid; '' for the mounts beyond the first thousand. */
  readonly mount: string;
  readonly counted: Readonly<Record<Counted, number>>;
  /** Attempts of scheduled jobs, by kind. */
  readonly jobs: ReadonlyMap<string, Readonly<JobCounts>>;
}

/** Counts what mounts do, whatever their engine is. In memory: a counter begins at 0 with the process, as Prometheus expects. */
export class MountCounters {
  readonly #counts = new Map<string, Float64Array>();
  readonly #jobs = new Map<string, Map<string, JobCounts>>();
  readonly #totals = new Float64Array(COUNTED.length);

  /** Over all mounts. */
  total(what: Counted): number {
    return this.#totals[INDEX[what]]!;
  }

  count(mount: string, what: Counted): void {
    const index = INDEX[what];
    this.#totals[index]! += 1;
    this.#of(mount)[index]! += 1;
  }

  countJob(mount: string, kind: string, result: keyof JobCounts): void {
    const key = this.#key(mount);
    const ofMount = this.#jobs.get(key) ?? new Map<string, JobCounts>();
    this.#jobs.set(key, ofMount);
    const known = ofMount.has(kind) || ofMount.size < MOST_KINDS ? kind : OTHERS;
    const counts = ofMount.get(known) ?? { ok: 0, failed: 0 };
    ofMount.set(known, counts);
    counts[result] += 1;
  }

  readonly event = ({ kind, mount }: CoreEvent): void => {
    const what = BY_KIND[kind];
    if (what !== undefined) this.count(mount ?? OTHERS, what);
  };

  /** Also of those of these mounts that have not counted anything yet. */
  figures(also: Iterable<string> = []): MountFigures[] {
    for (const mount of also) this.#of(mount);
    return [...this.#counts].map(([mount, counts]) => ({
      mount,
      counted: Object.fromEntries(COUNTED.map((name, index) => [name, counts[index]!])) as Record<Counted, number>,
      jobs: this.#jobs.get(mount) ?? new Map<string, JobCounts>(),
    }));
  }

  /** The mount is gone; its part stays in the totals. */
  forgetMount(mount: string): void {
    this.#counts.delete(mount);
    this.#jobs.delete(mount);
  }

  #key(mount: string): string {
    this.#of(mount);
    return this.#counts.has(mount) ? mount : OTHERS;
  }

  #of(mount: string): Float64Array {
    const key = this.#counts.has(mount) || this.#counts.size < MOST_MOUNTS ? mount : OTHERS;
    let counts = this.#counts.get(key);
    if (!counts) this.#counts.set(key, (counts = new Float64Array(COUNTED.length)));
    return counts;
  }
}

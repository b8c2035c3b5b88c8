import type { Clock, Log } from '@strongroom/engine-sdk';
import type { Events } from '../events/events.ts';
import { DeniedLogins } from './denied-logins.ts';
import { LiveLeases } from './live-leases.ts';
import { MountCounters, type Counted } from './mount-counters.ts';
import type { WaitingWork } from './due-figures.ts';
import type { KeyCount } from './key-count.ts';
import { RequestTimings } from './request-timings.ts';
import { Sampler } from './sampler.ts';

interface FigureParts {
  readonly events: Events;
  readonly clock: Clock;
  /** For the timer between two samples. */
  readonly timer: Clock;
  readonly log: Log;
  readonly leaseIds: (prefix: string, query: { after?: string; limit: number }) => Promise<{ id: string; token: boolean }[]>;
  readonly mountOf: (path: string) => string | undefined;
  /** The paths that show a login method, by its uuid. */
  readonly aboveLogins: (mount: string) => readonly string[];
  readonly circuitsOpen: () => number;
  readonly waiting: () => Promise<WaitingWork>;
  readonly counts: readonly KeyCount[];
}

/** What one mount has done since this server started, and how many of its leases live. */
export interface MountCounts {
  /** The path of the mount; '' for what belongs to none that is there now. */
  readonly mount: string;
  /** `database`, `ldap`; '' where there is no mount. */
  readonly type: string;
  readonly counted: Readonly<Record<Counted, number>>;
  /** Attempts of scheduled jobs, by kind. */
  readonly jobs: Readonly<Record<string, { readonly ok: number; readonly failed: number }>>;
  /** Absent until they were counted. */
  readonly leases?: number;
  /** Of tokens that were issued at the mount. Absent until they were counted. */
  readonly tokenLeases?: number;
  /** Requests that were refused with 403. */
  readonly denied: number;
}

/** The work of this server as it is now. */
export interface WorkFigures {
  /** Outside systems that are not asked, because they kept failing. */
  readonly circuitsOpen: number;
  /** At the last sample. */
  readonly waiting?: WaitingWork;
  readonly requestsUnderWay: number;
  /** Entries of the schedule that are being carried out. */
  readonly workUnderWay: number;
  /** Absent until they were counted. */
  readonly tokens?: number;
  readonly entities?: number;
}

/** The figures of this server: counters of every mount, the leases that live, and samples of the last day. */
export function openFigures({ events, leaseIds, mountOf, ...parts }: FigureParts) {
  const counters = new MountCounters();
  const leases = new LiveLeases({ log: parts.log, now: () => parts.clock.millis(), ids: leaseIds, mountOf });
  events.listen(counters.event);
  events.listen(leases.event);
  const denied = new DeniedLogins(
    () => parts.clock.millis(),
    (mount, count) => events.publish({ kind: 'login.failures', mount, above: parts.aboveLogins(mount), count }),
  );
  return { counters, denied, leases, timings: new RequestTimings(), sampler: new Sampler({ ...parts, counters, leases }) };
}

export type Figures = ReturnType<typeof openFigures>;

/** By mount, in the order of their paths. */
export function mountCounts(
  { counters, leases, timings }: Figures,
  mount: (uuid: string) => { readonly path: string; readonly type: string } | undefined,
): MountCounts[] {
  const live = leases.byMount();
  const tokens = leases.tokensByMount();
  const known = leases.total !== undefined;
  const found: MountCounts[] = [];
  const gone: MountCounts[] = [];
  for (const { mount: uuid, counted, jobs } of counters.figures([...live.keys(), ...tokens.keys(), ...timings.denied.keys()])) {
    const at = mount(uuid);
    const counts: MountCounts = {
      mount: at?.path ?? '',
      type: at?.type ?? '',
      counted,
      jobs: Object.fromEntries(jobs),
      denied: timings.denied.get(uuid) ?? 0,
    };
    if (at) found.push(known ? { ...counts, leases: live.get(uuid) ?? 0, tokenLeases: tokens.get(uuid) ?? 0 } : counts);
    else gone.push(counts);
  }
  const others = gone.reduce<MountCounts | undefined>((sum, next) => (sum ? added(sum, next) : next), undefined);
  return [...found.sort((a, b) => (a.mount < b.mount ? -1 : 1)), ...(others ? [others] : [])];
}

/** Of mounts that are gone there is one line, so that no series appears twice. */
function added(a: MountCounts, b: MountCounts): MountCounts {
  const counted = Object.fromEntries(Object.entries(a.counted).map(([name, value]) => [name, value + b.counted[name as Counted]]));
  return { ...a, counted: counted as Record<Counted, number>, jobs: {}, denied: a.denied + b.denied };
}

import { outsideSubject } from '../../kernel/mounts/outside-subject.ts';
import {
  mapConcurrently,
  withDeadline,
  type CircuitStatus,
  type Clock,
  type FailingThing,
  type Log,
  type Subject,
} from '@strongroom/engine-sdk';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { OutsideSystems } from '../../kernel/work/outside-systems.ts';
import type { Jobs, ShownJob } from '../jobs/jobs.ts';
import type { Found, Kind, Right, Trouble } from './attention-item.ts';

export interface MountTroublesParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly jobs: Pick<Jobs, 'failingKeys' | 'find'>;
  readonly outside: OutsideSystems;
}

/** Things of one mount that are read. */
const EACH = 200;
/** Things of all mounts that are read. */
const MOST = 2_000;
/** Keys of the index at a time. */
const PAGE = 500;
/** Milliseconds that an engine has to say what fails. */
const DEADLINE = 2_000;
/** Texts of engines are cut off here. */
const LONGEST = 500;

/** Who may see how things of a mount fail: who may read `failing` of the mount, the thing itself, or the schedule. */
export function rightsAt(mount: Pick<Mount, 'path'>, subject: Subject | undefined): Right[] {
  const right = (path: string): Right => ({ path, operation: 'read' });
  return [right(`${mount.path}failing`), ...(subject ? [right(mount.path + subject.path)] : []), { ...right('sys/schedule'), sudo: true }];
}

/** What fails at mounts: jobs, by their index; what engines know besides; circuit breakers that are open; engines that do not run. */
export class MountTroubles {
  readonly #parts: MountTroublesParts;

  constructor(parts: MountTroublesParts) {
    this.#parts = parts;
  }

  async read(mounts: readonly Mount[]): Promise<Found> {
    const jobs = await this.#jobs(new Map(mounts.map((mount) => [mount.uuid, mount])));
    const things = await this.#things(mounts);
    return {
      troubles: [...mounts.flatMap(quarantined), ...jobs.troubles, ...things.troubles, ...this.#circuits(mounts)],
      complete: jobs.complete && things.complete,
    };
  }

  /** Walks the index of failing jobs; a mount with many does not crowd out others. */
  async #jobs(mounts: ReadonlyMap<string, Mount>): Promise<Found> {
    const keys: string[] = [];
    const counts = new Map<string, number>();
    let complete = true;
    let after: string | undefined;
    for (;;) {
      const page = await this.#parts.jobs.failingKeys({ after, limit: PAGE });
      after = page.at(-1);
      for (const key of page) {
        const uuid = key.slice(0, key.indexOf('/'));
        const count = counts.get(uuid) ?? 0;
        if (mounts.has(uuid) && count < EACH) {
          keys.push(key);
          counts.set(uuid, count + 1);
        } else {
          complete &&= !mounts.has(uuid);
          // Behind all keys of this mount: '0' follows '/'.
          after = `${uuid}0`;
          break;
        }
      }
      if (keys.length >= MOST) complete = false;
      if (page.length === 0 || keys.length >= MOST) break;
    }
    const found = new Array<Trouble | undefined>(keys.length);
    await mapConcurrently(keys, 16, async (key, at) => {
      const job = await this.#parts.jobs.find(key).catch(() => undefined);
      const mount = job && mounts.get(job.mount);
      if (job?.status.failingSince && mount) found[at] = jobTrouble(mount, job);
    });
    return { troubles: found.filter((trouble) => trouble !== undefined), complete };
  }

  async #things(mounts: readonly Mount[]): Promise<Found> {
    const troubles: Trouble[] = [];
    let complete = true;
    await mapConcurrently(mounts, 8, async (mount) => {
      const { engine } = mount;
      if (!engine?.failing) return;
      try {
        const things = await withDeadline({ clock: this.#parts.clock, millis: DEADLINE }, async () =>
          mount.run(async () => engine.failing!(EACH)),
        );
        if (things.length >= EACH) complete = false;
        for (const thing of things.slice(0, EACH)) troubles.push(thingTrouble(mount, thing));
      } catch (error) {
        complete = false;
        this.#parts.log.warn('an engine does not say what fails', { mount: mount.path, error: String(error) });
      }
    });
    return { troubles, complete };
  }

  #circuits(mounts: readonly Mount[]): Trouble[] {
    const byUuid = new Map(mounts.map((mount) => [mount.uuid, mount]));
    return this.#parts.outside.breakers.failing().flatMap(({ target: key, status }): Trouble[] => {
      const slash = key.indexOf('/');
      const mount = byUuid.get(key.slice(0, slash));
      const target = key.slice(slash + 1);
      if (!mount || status.state === 'closed' || target === '') return [];
      const subject = systemOf(mount, target);
      return [
        {
          kind: 'circuit',
          severity: 'warning',
          mount,
          subject,
          message: `the circuit breaker is open after ${status.failures} failures in a row`,
          since: status.since,
          attempts: status.failures,
          nextAttempt: status.nextTry,
          target,
          rights: rightsAt(mount, subject),
        },
      ];
    });
  }
}

/**
 * A circuit breaker as the viewer may see it. Its failures are of all that uses the outside system: who may not see that learns of no more than `attempts`, those of the
 * things that they see.
 */
export function circuitSeenBy(
  viewer: { may(right: Right): boolean },
  at: { readonly mount: Mount; readonly target: string },
  circuit: CircuitStatus,
  attempts: number,
): CircuitStatus {
  if (rightsAt(at.mount, systemOf(at.mount, at.target)).some((right) => viewer.may(right))) return circuit;
  return { ...circuit, failures: Math.min(circuit.failures, attempts) };
}

function systemOf(mount: Mount, target: string): Subject {
  return outsideSubject(mount, target) ?? { noun: 'outside system', name: target, path: 'failing' };
}

function quarantined(mount: Mount): Trouble[] {
  if (mount.quarantine === undefined) return [];
  return [
    {
      kind: 'mount',
      severity: 'critical',
      mount,
      subject: { noun: 'mount', name: mount.path, path: '' },
      message: mount.quarantine,
      since: undefined,
      attempts: 0,
      nextAttempt: undefined,
      target: undefined,
      rights: [...rightsAt(mount, undefined), { path: 'sys/mounts', operation: 'read' }],
    },
  ];
}

function jobTrouble(mount: Mount, { key, kind, id, about, target, status }: ShownJob): Trouble {
  const subject = about ?? { noun: `job ${kind}`, name: id, path: 'failing' };
  return {
    kind: kindOf(mount, kind),
    severity: kindOf(mount, kind) === 'rotation' ? 'critical' : 'warning',
    mount,
    subject,
    message: status.lastError?.message ?? 'it waits for its outside system, whose circuit breaker is open',
    since: status.failingSince,
    attempts: status.attempts,
    nextAttempt: status.nextAttempt,
    target: target === '' ? undefined : target,
    job: key,
    rights: rightsAt(mount, about),
  };
}

function kindOf(mount: Mount, kind: string): Kind {
  if (kind.startsWith('rotate-')) return 'rotation';
  return mount.path === 'sys/sync/' ? 'sync' : 'job';
}

function thingTrouble(mount: Mount, thing: FailingThing): Trouble {
  const cut = (text: unknown): string => String(text).slice(0, LONGEST);
  const subject = {
    noun: cut(thing.noun),
    name: cut(thing.name),
    path: String(thing.path),
    ...(thing.retry === undefined ? {} : { retry: String(thing.retry) }),
  };
  const drifts = thing.kind === 'drift';
  return {
    kind: drifts ? 'drift' : kindOf(mount, ''),
    severity: drifts ? 'notice' : 'warning',
    mount,
    subject,
    message: cut(thing.message),
    since: thing.since,
    attempts: thing.attempts ?? 0,
    nextAttempt: thing.nextAttempt,
    target: thing.target,
    rights: rightsAt(mount, subject),
  };
}

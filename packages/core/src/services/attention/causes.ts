import { createHash } from 'node:crypto';
import type { CircuitStatus, Subject } from '@strongroom/engine-sdk';
import type { Mount } from '../../kernel/mounts/mount.ts';
import { KINDS, SEVERITIES, severest, type AttentionItem, type Cause, type Trouble } from './attention-item.ts';

/** Looks up an outside system of a mount. */
export interface Outside {
  subject(mount: Mount, target: string): Subject | undefined;
  circuit(mount: Mount, target: string): CircuitStatus;
}

/** Characters of a sentence that tell one cause from another. */
const LONGEST = 200;

/**
 * What a sentence says, whoever it is about: without quoted names, numbers and the name of the thing itself. Two things of one outside system whose sentences
 * agree in that have one cause.
 */
export function gist(message: string, { name }: Pick<Subject, 'name'>): string {
  const own = name === '' ? message : message.replaceAll(name, '?');
  return own
    .replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, '?')
    .replaceAll(/[0-9a-f]{8,}/gi, '#')
    .replaceAll(/\d+/g, '#')
    .replaceAll(/\s+/g, ' ')
    .slice(0, LONGEST);
}

/** Rows from things, by harm: severity, kind, number, age. */
export function groupedByCause(troubles: readonly Trouble[], outside: Outside): AttentionItem[] {
  const groups = new Map<string, Trouble[]>();
  for (const trouble of troubles) {
    const key = groupOf(trouble, outside);
    const group = groups.get(key);
    if (group) group.push(trouble);
    else groups.set(key, [trouble]);
  }
  return [...groups].map(([key, group]) => itemOf(key, group, outside)).sort(byHarm);
}

function groupOf(trouble: Trouble, outside: Outside): string {
  const { mount, target, kind, subject, message } = trouble;
  if (!mount || target === undefined) return JSON.stringify([kind, mount?.uuid ?? '', gist(message, subject), ownGroup(trouble)]);
  const system = outside.subject(mount, target)?.path ?? target;
  // While nobody answers there, whatever a thing says is an echo of that.
  if (outside.circuit(mount, target).state !== 'closed') return JSON.stringify(['outside', mount.uuid, system]);
  return JSON.stringify(['outside', mount.uuid, system, kindOfCause(kind), gist(message, subject)]);
}

/** Rotations and jobs that fail for one reason are one row. */
const kindOfCause = (kind: Trouble['kind']): string => (kind === 'job' || kind === 'circuit' ? 'rotation' : kind);

/** Audit devices, plugins, tokens and the like: each is a cause of its own. */
function ownGroup({ mount, subject }: Trouble): string {
  return mount ? '' : subject.path + subject.name;
}

function itemOf(key: string, group: Trouble[], outside: Outside): AttentionItem {
  // A circuit breaker is a row of its own only where nothing else mentions its outside system.
  const told = group.filter(({ kind }) => kind !== 'circuit');
  const troubles = [...(told.length > 0 ? told : group)].sort(
    (a, b) => worst(a) - worst(b) || b.attempts - a.attempts || time(a.since) - time(b.since),
  );
  const [first] = troubles as [Trouble, ...Trouble[]];
  const cause = troubles.map((trouble) => causeOf(trouble, outside)).find((found) => found !== undefined);
  const times = troubles.flatMap(({ nextAttempt }) => nextAttempt ?? []).sort((a, b) => a.getTime() - b.getTime());
  const since = troubles.flatMap(({ since: at }) => at ?? []).sort((a, b) => a.getTime() - b.getTime());
  return {
    id: createHash('sha256').update(key).digest('hex').slice(0, 20),
    kind: first.kind,
    severity: troubles.map(({ severity }) => severity).reduce(severest),
    mount: first.mount,
    troubles,
    since: since[0],
    attempts: Math.max(...troubles.map(({ attempts }) => attempts)),
    nextAttempt: times[0],
    message: first.message,
    cause,
  };
}

function causeOf({ mount, target }: Trouble, outside: Outside): Cause | undefined {
  if (!mount || target === undefined) return undefined;
  return { target, subject: outside.subject(mount, target), circuit: outside.circuit(mount, target) };
}

const worst = ({ severity, kind }: Trouble): number => SEVERITIES.indexOf(severity) * 100 + KINDS.indexOf(kind);
const time = (at: Date | undefined): number => at?.getTime() ?? Number.MAX_SAFE_INTEGER;

function byHarm(a: AttentionItem, b: AttentionItem): number {
  return (
    SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
    KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
    b.troubles.length - a.troubles.length ||
    time(a.since) - time(b.since) ||
    (a.id < b.id ? -1 : 1)
  );
}

import type { AttentionItem, AttentionKind } from '../../api/work.ts';
import { pageOfThing, type ThingPage } from '../../parts/thing-page.ts';

const ONE: Readonly<Record<AttentionKind, string>> = {
  audit: 'does not write',
  seal: 'fails',
  mount: 'does not run',
  lease: 'cannot be revoked',
  rotation: 'is not rotated',
  sync: 'is not synced',
  job: 'fails',
  circuit: 'does not answer',
  journal: 'cannot be undone',
  removal: 'cannot be removed',
  late: 'is late',
  node: 'is missing',
  drift: 'differs outside',
  token: 'needs a look',
  plugin: 'is refused',
};

const MANY: Readonly<Record<AttentionKind, string>> = {
  ...ONE,
  seal: 'fail',
  mount: 'do not run',
  rotation: 'are not rotated',
  sync: 'are not synced',
  job: 'fail',
  circuit: 'do not answer',
  drift: 'differ outside',
};

/** What a row is about, in the words of its title: `connection prod: 12 static roles are not rotated`. */
export function titleOf({ kind, count, target, things }: AttentionItem): string {
  if (count === 1) return `${target} ${ONE[kind]}`;
  const nouns = new Set(things.map(({ noun }) => noun));
  const noun = nouns.size === 1 ? plural(things[0]!.noun) : 'things';
  if (kind === 'lease') return `${count} leases cannot be revoked`;
  if (kind === 'journal') return `${count} changes cannot be undone`;
  return things[0]!.name === '' || target.endsWith(things[0]!.name)
    ? `${count} ${noun} ${MANY[kind]}`
    : `${target}: ${count} ${noun} ${MANY[kind]}`;
}

function plural(noun: string): string {
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

/** The page where a person does something about it. */
export function pageOf({ kind, count, mount, mount_type, cause, things }: AttentionItem): ThingPage {
  const [first] = things;
  if (kind === 'lease') return { to: '/leases', search: { prefix: mount ?? '' } };
  if (kind === 'journal')
    return count === 1
      ? { to: '/work/change/$id', params: { id: first!.path!.split('/').at(-1)! } }
      : { to: '/work', search: { show: 'changes' } };
  if (kind === 'late') return { to: '/work' };
  if (kind === 'audit') return { to: '/server/audit' };
  if (kind === 'plugin') return { to: '/server/plugins' };
  if (kind === 'node') return { to: '/server/nodes' };
  if (kind === 'token')
    return first?.path && count === 1 ? { to: '/access/tokens/$accessor', params: { accessor: first.path } } : { to: '/access/tokens' };
  if (kind === 'mount' || kind === 'removal' || mount === null) return { to: '/mounts' };
  const path = count > 1 ? (cause?.system.path ?? first!.path) : first!.path;
  return pageOfThing(mount, mount_type, path ?? mount);
}

export const SEVERITY_WORDS = { critical: 'critical', warning: 'warning', notice: 'notice' } as const;

import type { LiveEvent } from './live-event.ts';

/** What an event makes stale, by the first part of its kind: paths of the API, and everything below them. `mount` stands for the mount of the event. */
const STALE: Readonly<Record<string, readonly string[]>> = {
  rotation: ['mount', 'sys/schedule', 'sys/internal/ui/attention'],
  sync: ['sys/sync', 'sys/internal/ui/attention'],
  lease: ['sys/leases', 'sys/internal/ui/attention'],
  circuit: ['mount', 'sys/schedule', 'sys/internal/ui/attention'],
  mount: ['sys/mounts', 'sys/auth', 'sys/internal/ui/mounts', 'sys/internal/ui/resultant-acl'],
  policy: ['sys/policies', 'sys/capabilities-self', 'sys/internal/ui/resultant-acl'],
  login: ['sys/locked-users', 'sys/internal/ui/attention'],
  server: ['sys/nodes', 'sys/seal-status'],
};

/** Whether what was read of a path may be another now. `path`: as it was asked for, encoded. */
export function makesStale(event: LiveEvent, path: string): boolean {
  if (event.kind === 'reset') return true;
  const [area = ''] = event.kind.split('.');
  const asked = decoded(path);
  if (area === 'secret') return ofSecret(event, asked);
  return (Object.hasOwn(STALE, area) ? STALE[area]! : []).some((one) => {
    const below = one === 'mount' ? event.mount : one;
    return below !== undefined && below !== '' && isBelow(asked, below);
  });
}

/** The secret itself, whatever is asked of it, and the list of its folder. */
function ofSecret({ mount = '', name = '' }: LiveEvent, asked: string): boolean {
  if (mount === '' || !asked.startsWith(mount)) return false;
  const rest = asked.slice(mount.length);
  const folder = name.slice(0, name.lastIndexOf('/') + 1);
  return (
    rest === name || rest.endsWith(`/${name}`) || rest === folder || rest === `metadata/${folder}` || `${rest}/` === `metadata/${folder}`
  );
}

function isBelow(path: string, above: string): boolean {
  return path === above || path.startsWith(above.endsWith('/') ? above : `${above}/`);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

import type { MountMap } from './mount-map.ts';

/** A policy with the paths and accessors of this server, and the lines that differ. */
export function rewritePolicy(text: string, map: MountMap): { policy: string; diff: string[] } {
  const policy = text
    .split('\n')
    .map((line) => withPaths(map.withAccessors(line), map.renames))
    .join('\n');
  return { policy, diff: policy === text ? [] : differences(text.split('\n'), policy.split('\n')) };
}

/** Rules are written `path "…"` in HCL and `"…": {` in JSON. */
const RULE = /(\bpath\s*"|(?<=[{,]\s*|^\s*)")([^"]+)(?="\s*[{:]|"\s*$)/g;
/** Paths of the system that hold the path of a mount. */
const ABOUT_MOUNTS = ['sys/mounts/', 'sys/leases/lookup/', 'sys/leases/revoke-prefix/', 'sys/leases/revoke-force/', 'sys/remount/', ''];

function withPaths(line: string, renames: MountMap['renames']): string {
  if (renames.length === 0) return line;
  return line.replace(RULE, (_, lead: string, path: string) => lead + renamedPath(path, renames));
}

function renamedPath(path: string, renames: MountMap['renames']): string {
  for (const [from, to] of renames) {
    const auth = from.startsWith('auth/') && to.startsWith('auth/');
    if (auth && path.startsWith(`sys/${from}`)) return `sys/${to}${path.slice(`sys/${from}`.length)}`;
    for (const lead of ABOUT_MOUNTS) {
      if (path.startsWith(lead + from)) return lead + to + path.slice((lead + from).length);
      if (`${path}/` === lead + from) return (lead + to).slice(0, -1);
    }
  }
  return path;
}

function differences(before: readonly string[], after: readonly string[]): string[] {
  return before.flatMap((line, at) => (line === after[at] ? [] : [`- ${line.trim()}`, `+ ${(after[at] ?? '').trim()}`]));
}

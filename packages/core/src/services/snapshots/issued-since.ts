import type { SnapshotMeta } from '@strongroom/snapshot-file';
import type { Mount } from '../../kernel/mounts/mount.ts';

/**
 * What an operator has to know of a store that was restored: the store does not know what was issued after the snapshot, and these calls find what of it
 * is left outside.
 */
export function issuedSince(meta: SnapshotMeta, mounts: readonly Mount[]): string[] {
  const finders = mounts.flatMap((mount) =>
    (mount.router?.paths ?? []).flatMap(({ pattern, operations }) => {
      if (!/^orphans(?:\/\{name\})?$/.test(pattern)) return [];
      const path = `${mount.path}${pattern.replace('{name}', 'NAME')}`;
      if (operations.list) return [`strongroom list ${path}`];
      return operations.read ? [`strongroom read ${path}`] : [];
    }),
  );
  const lost = `the store is as it was at ${meta.CreatedAt}: tokens, leases and secrets that are newer are not in it`;
  if (finders.length === 0) return [lost];
  return [lost, `users and keys that were made outside since then have no lease; these find them: ${finders.join(', ')}`];
}

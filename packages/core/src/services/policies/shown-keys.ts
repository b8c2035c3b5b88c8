import { BadRequest } from '@strongroom/engine-sdk';
import { admittedPath } from '../../kernel/call/admitted-path.ts';
import { canonicalPath, type MountFinder } from '../../kernel/mounts/canonical-path.ts';
import type { Acl } from './acl.ts';
import type { KeysFilter } from './keys-filter.ts';

/** Whether the caller may see a key of the list at `folder`, by its path from each filter: it can list what ends in a slash, and read all else. */
export function isShown(
  { acl, mounts }: { acl: Acl; mounts: MountFinder },
  filters: readonly KeysFilter[],
  folder: string,
  key: string,
): boolean {
  return filters.every((filter) => {
    const path = filter.pathOf(folder, key);
    return path !== undefined && isReached(acl, mounts, path, key.endsWith('/') ? 'list' : 'read');
  });
}

function isReached(acl: Acl, mounts: MountFinder, asked: string, operation: 'list' | 'read'): boolean {
  try {
    const path = admittedPath(asked, operation);
    const found = canonicalPath(mounts, path) ?? { path };
    const { allowed, sudo } = acl.check({ operation, ...found });
    const needsSudo = 'match' in found && found.match?.path.declaration.about.access === 'sudo';
    return allowed && (!needsSudo || sudo);
  } catch (error) {
    // No call can have such a path.
    if (error instanceof BadRequest) return false;
    throw error;
  }
}

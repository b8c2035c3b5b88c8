import { BadRequest } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { canonicalPath, type MountFinder } from '../../kernel/mounts/canonical-path.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';

/** What a quota applies to, as it is stored: a mount keeps its quotas when it moves. */
export const QuotaScope = Type.Object({
  /** Uuid of the mount; '' for everything. */
  mount: Type.String(),
  /** Where the mount was when the quota was written: shown once the mount is gone. */
  mount_path: Type.String(),
  /** Below the mount: '' for all of it, an exact path, or the beginning of paths and `*`. */
  suffix: Type.String(),
  /** The role of a login, or the role that a secret is issued for; '' for any. */
  role: Type.String(),
});
export type QuotaScope = Static<typeof QuotaScope>;

/** A request as quotas see it. */
export interface QuotaSubject {
  /** Uuid of the mount; undefined where there is none. */
  readonly mount: string | undefined;
  /** The canonical path below the mount. */
  readonly rest: string;
  /** '' where the request has none, or no quota asks for it. */
  readonly role: string;
}

/**
 * The scope that a path and a role mean. @throws BadRequest for a path where no mount is. `byRole` checks that a mount can have quotas by role.
 */
export function quotaScope(mounts: MountFinder, path: string, role: string, byRole: (mount: Mount) => void): QuotaScope {
  if (path === '') {
    if (role !== '') throw new BadRequest("'role' needs a 'path': the mount whose roles are meant");
    return { mount: '', mount_path: '', suffix: '', role: '' };
  }
  const asked = path.replace(/^\/+/, '');
  const found = mounts.route(asked.endsWith('/') ? asked : `${asked}/`);
  if (!found) throw new BadRequest(`invalid mount path ${JSON.stringify(asked.endsWith('/') ? asked : `${asked}/`)}`);
  const { mount } = found;
  const below = asked.slice(mount.path.length);
  const suffix = below.endsWith('*') ? below : (canonicalPath(mounts, asked)?.rest ?? below).replace(/\/$/, '');
  if (role !== '') {
    byRole(mount);
    if (suffix !== '') {
      throw new BadRequest(
        'Quotas cannot contain both a path suffix and a role. If a role is provided, path must be a valid auth mount with a concept of roles',
      );
    }
  }
  return { mount: mount.uuid, mount_path: mount.path, suffix, role: role.toLowerCase() };
}

export function sameScope(a: QuotaScope, b: QuotaScope): boolean {
  return a.mount === b.mount && a.suffix === b.suffix && a.role === b.role;
}

/** Whether the scope contains the request. */
export function inScope(scope: QuotaScope, { mount, rest, role }: QuotaSubject): boolean {
  if (scope.mount === '') return true;
  if (scope.mount !== mount || (scope.role !== '' && scope.role !== role)) return false;
  if (scope.suffix.endsWith('*')) return rest.startsWith(scope.suffix.slice(0, -1));
  return scope.suffix === '' || scope.suffix === rest.replace(/\/$/, '');
}

/** Of two scopes that contain a request, the one with the higher rank decides: role, exact path, longest `*` path, mount, everything. */
export function rankOf({ mount, suffix, role }: QuotaScope): number {
  if (mount === '') return 0;
  if (role !== '') return Infinity;
  if (suffix === '') return 1;
  return suffix.endsWith('*') ? 1 + suffix.length : Number.MAX_SAFE_INTEGER;
}

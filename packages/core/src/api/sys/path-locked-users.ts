import { type AnyPath, f, foldName, NoContent, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { LockoutMount } from '../../services/lockout/lockout-settings.ts';
import type { UserLockout } from '../../services/lockout/user-lockout.ts';

export interface LockedUserPathParts {
  readonly lockout: UserLockout;
  /** The login methods that are mounted now and whose logins are counted. */
  loginMounts(): Iterable<LockoutMount>;
}

const OfMount = Type.Object({ mount_accessor: Type.String(), counts: Type.Integer(), alias_identifiers: Type.Array(Type.String()) });
const Locked = Type.Object({
  by_namespace: Type.Array(
    Type.Object({
      namespace_id: Type.String(),
      namespace_path: Type.String(),
      counts: Type.Integer(),
      mount_accessors: Type.Array(OfMount),
    }),
  ),
  total: Type.Integer(),
});

export function lockedUserPaths({ lockout, loginMounts }: LockedUserPathParts): AnyPath[] {
  return [
    path('locked-users', {
      synopsis: 'Login names that are locked.',
      description: 'Names with too many refused logins, by login method, the method with the most of them first.',
      fields: { mount_accessor: f.string('Only those of the login method with this accessor.', { default: '' }) },
    }).read({
      summary: 'List locked login names',
      response: Locked,
      handle: async ({ data }) => {
        const mounts = [...loginMounts()].filter((mount) => data.mount_accessor === '' || mount.accessor === data.mount_accessor);
        const mount_accessors = (await lockout.locked(mounts))
          .map(({ accessor, names }) => ({ mount_accessor: accessor, counts: names.length, alias_identifiers: names }))
          .sort((a, b) => b.counts - a.counts);
        const total = mount_accessors.reduce((sum, { counts }) => sum + counts, 0);
        return { data: { by_namespace: [{ namespace_id: 'root', namespace_path: '', counts: total, mount_accessors }], total } };
      },
    }),

    path('locked-users/{mount_accessor}/unlock/{alias_identifier:all}', {
      synopsis: 'Unlock a login name.',
      description: 'Ends the lock of a name at once and forgets its refused logins. No error when it is not locked.',
      fields: {
        mount_accessor: f.name('Accessor of the login method.'),
        alias_identifier: f.name('The login name.', { folds: (name) => foldName(name) }),
      },
    }).update({
      summary: 'Unlock a login name',
      response: NoContent,
      handle: async ({ data }) => {
        await lockout.unlock(data.mount_accessor, data.alias_identifier);
        return undefined;
      },
    }),
  ];
}

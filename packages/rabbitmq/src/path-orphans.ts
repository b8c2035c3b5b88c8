import { orphanCopiesWarning, orphanFields, orphanRemoval, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { OrphanedUsers } from './orphans.ts';
import { MARKED_LENGTH } from './user-mark.ts';

const COPIES = orphanCopiesWarning('users');

const NO_MARK = `username_template has neither uuid nor ${MARKED_LENGTH} characters of random as they are, so its names carry no mark: only users whose lease was revoked by force are listed`;

const Names = Type.Array(Type.String());

export function orphanPath(orphans: OrphanedUsers): AnyPath {
  const remove = orphanRemoval('RabbitMQ', async (asked, { signal }) => orphans.remove(asked, signal));
  return path('orphans', {
    synopsis: 'Users that were left in RabbitMQ.',
    access: 'sudo',
    description:
      'Users that this mount made and that nothing keeps: no lease, no creation or removal under way, no static role and no connection of any mount of this ' +
      'server. They are left by a lease that was revoked by force, or by a store that was restored from a backup; the mount knows them by a record, or by the ' +
      'mark that it puts into the UUID or the random characters of a name.',
    fields: orphanFields,
  })
    .read({
      summary: 'Lists the orphans of the mount.',
      response: Type.Object({ usernames: Names }),
      handle: async (req) => {
        const usernames = await orphans.find(req.signal);
        const warnings = [...((await orphans.marked()) ? [] : [NO_MARK]), ...(usernames.length > 0 ? [COPIES] : [])];
        return { data: { usernames: [...usernames] }, ...(warnings.length > 0 ? { warnings } : {}) };
      },
    })
    .update(remove)
    .delete(remove);
}

import { BadRequest, f, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { OrphanedUsers } from './orphans.ts';
import { MARKED_LENGTH } from './user-mark.ts';

const COPIES =
  'a copy of this server, such as another server that was restored from its backup, marks its users alike; remove users by name where there is one';

const NO_MARK = `username_template has neither uuid nor ${MARKED_LENGTH} characters of random as they are, so its names carry no mark: only users whose lease was revoked by force are listed`;

const Names = Type.Array(Type.String());
const Answer = Type.Object({
  removed: Names,
  gone: Type.Array(Type.String(), { description: 'Asked for, and not in RabbitMQ.' }),
  pending: Type.Record(Type.String(), Type.String(), { description: 'Could not be removed yet, and why. The server goes on trying.' }),
});

export function orphanPath(orphans: OrphanedUsers): AnyPath {
  interface Asked {
    readonly data: { readonly usernames: string[] | undefined; readonly all: boolean };
    readonly signal: AbortSignal;
  }
  const remove = async ({ data: { usernames = [], all }, signal }: Asked) => {
    if (all === usernames.length > 0) throw new BadRequest('give either usernames, those to remove, or all=true');
    const { removed, gone, pending } = await orphans.remove(all ? 'all' : usernames, signal);
    return { data: { removed: [...removed], gone: [...gone], pending: { ...pending } } };
  };
  return path('orphans', {
    synopsis: 'Users that were left in RabbitMQ.',
    access: 'sudo',
    description:
      'Users that this mount made and that nothing keeps: no lease, no creation or removal under way, no static role and no connection of any mount of this ' +
      'server. They are left by a lease that was revoked by force, or by a store that was restored from a backup; the mount knows them by a record, or by the ' +
      'mark that it puts into the UUID or the random characters of a name.',
    fields: {
      usernames: f.commaStrings('Those to remove.'),
      all: f.bool('Remove all that are listed at the moment.', { default: false }),
    },
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
    .update({ summary: 'Removes orphans.', response: Answer, handle: remove })
    .delete({ summary: 'Removes orphans.', response: Answer, handle: remove });
}

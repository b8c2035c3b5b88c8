import { BadRequest, f, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Connections } from './connections.ts';
import type { OrphanedUsers } from './orphans.ts';
import { MARKED_LENGTH } from './user-mark.ts';

const COPIES =
  'a copy of this server, such as another server that was restored from its backup, marks its users alike; remove users by name where there is one';

const NO_MARK = `username_template leaves fewer than ${MARKED_LENGTH} characters of random, too few for a mark: only users whose lease was revoked by force are listed`;

const Names = Type.Array(Type.String());
const Answer = Type.Object({
  removed: Names,
  gone: Type.Array(Type.String(), { description: 'Asked for, and not in the database.' }),
  pending: Type.Record(Type.String(), Type.String(), { description: 'Could not be removed yet, and why. The server goes on trying.' }),
});

export function orphanPaths(connections: Connections, orphans: OrphanedUsers): readonly AnyPath[] {
  interface Asked {
    readonly data: { readonly name: string; readonly usernames: string[] | undefined; readonly all: boolean };
    readonly signal: AbortSignal;
  }
  const remove = async ({ data, signal }: Asked) => {
    const { name, usernames = [], all } = data;
    if (all === usernames.length > 0) throw new BadRequest('give either usernames, those to remove, or all=true');
    const { removed, gone, pending } = await orphans.remove(await connections.require(name), all ? 'all' : usernames, signal);
    return { data: { removed: [...removed], gone: [...gone], pending: { ...pending } } };
  };

  const found = path('orphans/{name}', {
    synopsis: 'Users that were left in a database.',
    access: 'sudo',
    description:
      'Users that this mount made and that nothing keeps: no lease, no creation or removal under way, no static role and no connection of any mount of this ' +
      'server. They are left by a lease that was revoked by force, or by a store that was restored from a backup; the mount knows them by a record, or by ' +
      `the mark that it puts into names with at least ${MARKED_LENGTH} characters of random.`,
    fields: {
      name: f.name('Name of the connection.'),
      usernames: f.commaStrings('Those to remove.'),
      all: f.bool('Remove all that are listed at the moment.', { default: false }),
    },
  })
    .read({
      summary: 'Lists the orphans of a connection.',
      response: Type.Object({
        usernames: Names,
        templates: Type.Array(Type.String(), { description: 'Those whose names carry the mark.' }),
      }),
      handle: async (req) => {
        const { usernames, templates } = await orphans.find(await connections.require(req.data.name), req.signal);
        const warnings = [...(templates.length === 0 ? [NO_MARK] : []), ...(usernames.length > 0 ? [COPIES] : [])];
        return { data: { usernames: [...usernames], templates: [...templates] }, ...(warnings.length > 0 ? { warnings } : {}) };
      },
    })
    .update({ summary: 'Removes orphans.', response: Answer, handle: remove })
    .delete({ summary: 'Removes orphans.', response: Answer, handle: remove });
  return [found];
}

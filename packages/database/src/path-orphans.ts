import { BadRequest, f, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Connections } from './connections.ts';
import type { OrphanedUsers } from './orphans.ts';

const OTHER_SERVERS =
  'a user of another server that leads to the same database and names its users alike looks the same; remove by name where there is one';

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
      'Users whose name is one that username_template makes, in its fixed parts and in the shape of the others, and that neither a lease, a creation ' +
      'or removal under way, a static role nor a connection of any mount of this server has to do with.',
    fields: {
      name: f.name('Name of the connection.'),
      usernames: f.commaStrings('Those to remove.'),
      all: f.bool('Remove all that are listed at the moment.', { default: false }),
    },
  })
    .read({
      summary: 'Lists the orphans of a connection.',
      response: Type.Object({ usernames: Names, templates: Type.Array(Type.String(), { description: 'By which names were told.' }) }),
      handle: async (req) => {
        const { usernames, templates } = await orphans.find(await connections.require(req.data.name), req.signal);
        return {
          data: { usernames: [...usernames], templates: [...templates] },
          ...(usernames.length > 0 ? { warnings: [OTHER_SERVERS] } : {}),
        };
      },
    })
    .update({ summary: 'Removes orphans.', response: Answer, handle: remove })
    .delete({ summary: 'Removes orphans.', response: Answer, handle: remove });
  return [found];
}

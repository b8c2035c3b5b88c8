import {
  f,
  orphanCopiesWarning,
  orphanFields,
  orphanRemoval,
  path,
  type AnyPath,
  type OrphanChoice,
  type OrphanRequest,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Connections } from './connections.ts';
import type { OrphanedUsers } from './orphans.ts';
import { MARKED_LENGTH } from './user-mark.ts';

const COPIES = orphanCopiesWarning('users');

const NO_MARK = `username_template leaves fewer than ${MARKED_LENGTH} characters of random, too few for a mark: only users whose lease was revoked by force are listed`;

const Names = Type.Array(Type.String());

export function orphanPaths(connections: Connections, orphans: OrphanedUsers): readonly AnyPath[] {
  const remove = orphanRemoval('the database', async (asked, { data, signal }: OrphanRequest<OrphanChoice & { readonly name: string }>) =>
    orphans.remove(await connections.require(data.name), asked, signal),
  );
  const found = path('orphans/{name}', {
    synopsis: 'Users that were left in a database.',
    access: 'sudo',
    description:
      'Users that this mount made and that nothing keeps: no lease, no creation or removal under way, no static role and no connection of any mount of this ' +
      'server. They are left by a lease that was revoked by force, or by a store that was restored from a backup; the mount knows them by a record, or by ' +
      `the mark that it puts into names with at least ${MARKED_LENGTH} characters of random.`,
    fields: {
      name: f.name('Name of the connection.'),
      ...orphanFields,
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
    .update(remove)
    .delete(remove);
  return [found];
}

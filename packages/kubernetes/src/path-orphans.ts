import { orphanCopiesWarning, orphanFields, orphanRemoval, path, Timestamp, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { titleOf } from './manifests.ts';
import type { OrphanedObjects } from './orphans.ts';

const COPIES = orphanCopiesWarning('objects');

export function orphanPath(orphans: OrphanedObjects): AnyPath {
  const remove = orphanRemoval('the cluster', async (asked, { signal }) => orphans.remove(asked, signal));
  return path('orphans', {
    synopsis: 'Objects that were left in the cluster.',
    access: 'sudo',
    description:
      'Service accounts that this mount made and that nothing keeps, with their roles and bindings: no lease, and no creation or removal under way. They are ' +
      'left by a lease that was revoked by force, or by a store that was restored from a backup; the mount knows them by a record, or by the labels of its ' +
      'objects, for which all namespaces are searched.',
    fields: orphanFields,
  })
    .read({
      summary: 'Lists the orphans of the mount.',
      response: Type.Object({
        usernames: Type.Array(Type.String({ description: 'The namespace and the name of the service account.' })),
        accounts: Type.Array(
          Type.Object({
            username: Type.String(),
            creation: Type.String({ description: 'The value of the label strongroom.io/creation.' }),
            objects: Type.Array(Type.String(), { description: 'What a removal deletes.' }),
            created: Timestamp,
            known_by: Type.Union([Type.Literal('record'), Type.Literal('label')], {
              description: 'record: its lease was revoked by force. label: it has the labels of this mount, and no record knows it.',
            }),
          }),
        ),
      }),
      handle: async (req) => {
        const accounts = await orphans.find(req.signal);
        const usernames = [...new Set(accounts.map(({ username }) => username))];
        const shown = accounts.map(({ objects, ...account }) => ({ ...account, objects: objects.map(titleOf) }));
        return { data: { usernames, accounts: shown }, ...(accounts.length > 0 ? { warnings: [COPIES] } : {}) };
      },
    })
    .update(remove)
    .delete(remove);
}

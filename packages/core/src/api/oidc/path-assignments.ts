import { f, ListedKeys, pageFields, path, slicePage, type AnyPath } from '@strongroom/engine-sdk';
import type { Assignments } from '../../services/oidc/assignments.ts';

/** `identity/oidc/assignment…` */
export function assignmentPaths({ assignments }: { readonly assignments: Assignments }): AnyPath[] {
  return [
    path('oidc/assignment', { synopsis: 'Who may log in at clients.', description: 'Lists names only.', fields: pageFields }).list({
      summary: 'List the assignments',
      response: ListedKeys,
      handle: async ({ data }) => ({ data: { keys: slicePage(await assignments.names(), data, (name) => name) } }),
    }),

    path('oidc/assignment/{name}', {
      synopsis: 'People who may log in at a client.',
      description: 'A client names its assignments. allow_all is always there and names everybody.',
      fields: {
        name: f.name('Name of the assignment.'),
        entity_ids: f.commaStrings('Ids of entities.'),
        group_ids: f.commaStrings('Ids of groups whose members, direct or through other groups, may log in.'),
      },
    })
      .read({
        summary: 'Read an assignment',
        handle: async ({ data }) => {
          const found = await assignments.get(data.name);
          return found && { data: found };
        },
      })
      .upsert({
        summary: 'Create or change an assignment',
        exists: async ({ data }) => (await assignments.get(data.name)) !== undefined,
        handle: async ({ data: { name, ...fields } }) => {
          await assignments.save(name, fields);
          return undefined;
        },
      })
      .delete({
        summary: 'Delete an assignment that no client uses',
        handle: async ({ data }) => {
          await assignments.remove(data.name);
          return undefined;
        },
      }),
  ];
}

import { type AnyPath, f, ListedKeys, NoContent, pageFields, path, slicePage } from '@strongroom/engine-sdk';
import { Assignment } from '../../services/oidc/oidc-records.ts';
import type { Assignments } from '../../services/oidc/assignments.ts';

/** `identity/oidc/assignment…` */
export function assignmentPaths({ assignments }: { readonly assignments: Assignments }): AnyPath[] {
  return [
    path('oidc/assignment', { synopsis: 'List the assignments.', description: 'Lists names only.', fields: pageFields }).list({
      summary: 'List the assignments',
      response: ListedKeys,
      handle: async ({ data }) => ({ data: { keys: slicePage(await assignments.names(), data, (name) => name) } }),
    }),

    path('oidc/assignment/{name}', {
      synopsis: 'Configure an assignment: the people who can log in at a client.',
      description: 'assignments of a client lists who can log in. The built-in assignment allow_all contains everybody.',
      fields: {
        name: f.name('Name of the assignment.'),
        entity_ids: f.commaStrings('Ids of entities.'),
        group_ids: f.commaStrings('Ids of groups. Members of groups inside them are included.'),
      },
    })
      .read({
        summary: 'Read an assignment',
        response: Assignment,
        handle: async ({ data }) => {
          const found = await assignments.get(data.name);
          return found && { data: found };
        },
      })
      .upsert({
        summary: 'Create or change an assignment',
        response: NoContent,
        exists: async ({ data }) => (await assignments.get(data.name)) !== undefined,
        handle: async ({ data: { name, ...fields } }) => {
          await assignments.save(name, fields);
          return undefined;
        },
      })
      .delete({
        summary: 'Delete an assignment that no client uses',
        response: NoContent,
        handle: async ({ data }) => {
          await assignments.remove(data.name);
          return undefined;
        },
      }),
  ];
}

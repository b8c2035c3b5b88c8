import { policyNames } from '@strongroom/auth-sdk';
import { type AnyPath, f, keysOf, ListedKeys, NoContent, pageFields, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { ConfigStore } from './config-store.ts';
import type { Mappings } from './mappings.ts';

export function groupPaths(configs: ConfigStore, { groups }: Mappings): AnyPath[] {
  return [
    path('groups', {
      synopsis: 'Groups that policies are mapped to.',
      description: 'Lists their names.',
      fields: pageFields,
    }).list({
      summary: 'List the names of groups.',
      response: ListedKeys,
      searched: true,
      handle: async (req) => keysOf(groups.records, req.data),
    }),
    path('groups/{name:all}', {
      synopsis: 'The policies of a group.',
      description:
        'Given to those whom the directory, or users/, counts among its members. Any name is fine, slashes and spaces too. Names differ by case where ' +
        'case_sensitive_names is set, and nowhere else.',
      fields: {
        name: f.name('Name of the group.', { folds: groups.fold }),
        policies: f.commaStrings('Policies of its members.', { default: [] }),
      },
    })
      .read({
        summary: 'Read the policies of a group.',
        response: Type.Object({ policies: Type.Array(Type.String()) }),
        handle: async ({ data: { name } }) => {
          groups.requireStorable(name);
          const group = await groups.records.get(name);
          return group && { data: { policies: group.policies }, ...groups.warningsOf(name) };
        },
      })
      .update({
        summary: 'Create or replace a group.',
        response: NoContent,
        handle: async ({ data }) => {
          const policies = policyNames(data.policies, 'policies');
          await groups.put(data.name, { policies }, async (tx) => (await configs.readIn(tx)).case_sensitive_names);
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a group.',
        response: NoContent,
        handle: async ({ data: { name } }) => {
          groups.requireStorable(name);
          await groups.delete(name);
          return undefined;
        },
      }),
  ];
}

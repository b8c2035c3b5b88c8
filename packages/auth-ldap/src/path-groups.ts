import { f, path, type AnyPath, keysOf, ListedKeys, pageFields } from '@strongroom/engine-sdk';
import type { ConfigStore } from './config-store.ts';
import { mappingName, policyNames, requireStorable, type Mappings } from './mappings.ts';

export function groupPaths(configs: ConfigStore, { groups }: Mappings): AnyPath[] {
  const idOf = async (name: string): Promise<string> => {
    const id = mappingName(name, (await configs.read()).case_sensitive_names);
    requireStorable(id, 'group');
    return id;
  };
  return [
    path('groups', {
      synopsis: 'Groups that policies are mapped to.',
      description: 'Lists their names.',
      fields: pageFields,
    }).list({
      summary: 'List the names of groups.',
      response: ListedKeys,
      handle: async (req) => keysOf(groups, req.data),
    }),
    path('groups/{name:all}', {
      synopsis: 'The policies of a group.',
      description: 'Given to those whom the directory, or users/, counts among its members. Any name is fine, slashes and spaces too.',
      fields: {
        name: f.name('Name of the group.'),
        policies: f.commaStrings('Policies of its members.', { default: [] }),
      },
    })
      .read({
        summary: 'Read the policies of a group.',
        handle: async (req) => {
          const group = await groups.get(await idOf(req.data.name));
          return group && { data: { policies: group.policies } };
        },
      })
      .update({
        summary: 'Create or replace a group.',
        handle: async (req) => {
          await groups.put(await idOf(req.data.name), { policies: policyNames(req.data.policies) });
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a group.',
        handle: async (req) => {
          await groups.delete(await idOf(req.data.name));
          return undefined;
        },
      }),
  ];
}

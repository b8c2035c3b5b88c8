import { f, path, type AnyPath, keysOf, ListedKeys, pageFields } from '@strongroom/engine-sdk';
import type { ConfigStore } from './config-store.ts';
import { mappingName, policyNames, requireStorable, type Mappings } from './mappings.ts';

export function userPaths(configs: ConfigStore, { users }: Mappings): AnyPath[] {
  const keyOf = async (name: string): Promise<{ id: string; caseSensitive: boolean }> => {
    const caseSensitive = (await configs.read()).case_sensitive_names;
    const id = mappingName(name, caseSensitive);
    requireStorable(id, 'user');
    return { id, caseSensitive };
  };
  return [
    path('users', {
      synopsis: 'Users that policies or groups are mapped to.',
      description: 'Lists their names.',
      fields: pageFields,
    }).list({
      summary: 'List the names of users.',
      response: ListedKeys,
      handle: async (req) => keysOf(users, req.data),
    }),
    path('users/{username:all}', {
      synopsis: 'The policies and further groups of a user.',
      description: 'Added to what the groups of the directory give. Any name is fine.',
      fields: {
        username: f.name('Name of the user, as given at login.'),
        policies: f.commaStrings('Policies of the user.', { default: [] }),
        groups: f.commaStrings('Groups of the user beside those of the directory.', { default: [] }),
      },
    })
      .read({
        summary: 'Read the policies and groups of a user.',
        handle: async (req) => {
          const user = await users.get((await keyOf(req.data.username)).id);
          return user && { data: { groups: user.groups.join(','), policies: user.policies } };
        },
      })
      .update({
        summary: 'Create or replace a user.',
        handle: async (req) => {
          const { id, caseSensitive } = await keyOf(req.data.username);
          const groups = [...new Set(req.data.groups.map((name) => mappingName(name, caseSensitive)))].sort();
          await users.put(id, { policies: policyNames(req.data.policies), groups });
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a user.',
        handle: async (req) => {
          await users.delete((await keyOf(req.data.username)).id);
          return undefined;
        },
      }),
  ];
}

import { policyNames } from '@strongroom/auth-sdk';
import { type AnyPath, f, keysOf, ListedKeys, NoContent, pageFields, path, type Transaction } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { ConfigStore } from './config-store.ts';
import { loginName } from './login-name.ts';
import { groupName, type Mappings } from './mappings.ts';

export function userPaths(configs: ConfigStore, { users }: Mappings): AnyPath[] {
  return [
    path('users', {
      synopsis: 'Users that policies or groups are mapped to.',
      description: 'Lists their names.',
      fields: pageFields,
    }).list({
      summary: 'List the names of users.',
      response: ListedKeys,
      searched: true,
      handle: async (req) => keysOf(users.records, req.data),
    }),
    path('users/{username:all}', {
      synopsis: 'The policies and further groups of a user.',
      description:
        'Added to what the groups of the directory give. Any name is fine. Variants that a directory takes for one name are one name: case (unless ' +
        'case_sensitive_names is set), kinds and numbers of spaces, full-width letters, composed accents.',
      fields: {
        username: f.name('Name of the user, as the directory has it.', { folds: users.fold }),
        policies: f.commaStrings('Policies of the user.', { default: [] }),
        groups: f.commaStrings('Groups of the user beside those of the directory.', { default: [] }),
      },
    })
      .read({
        summary: 'Read the policies and groups of a user.',
        response: Type.Object({ groups: Type.String({ description: 'Separated by commas.' }), policies: Type.Array(Type.String()) }),
        handle: async ({ data: { username } }) => {
          users.requireStorable(username);
          const user = await users.records.get(username);
          return user && { data: { groups: user.groups.join(','), policies: user.policies }, ...users.warningsOf(username) };
        },
      })
      .update({
        summary: 'Create or replace a user.',
        response: NoContent,
        handle: async ({ data }) => {
          const policies = policyNames(data.policies, 'policies');
          const rule = async (tx: Transaction): Promise<boolean> => (await configs.readIn(tx)).case_sensitive_names;
          const groups = [...new Set(data.groups.map((name) => groupName(name, configs.present.case_sensitive_names)))].sort();
          await users.put(data.username, { policies, groups }, rule);
          const { folded } = loginName(configs.present, data.username);
          if (folded === data.username) return undefined;
          return { warnings: [`no login has this name: who logs in as ${data.username} is ${folded}; write users/${folded}`] };
        },
      })
      .delete({
        summary: 'Delete a user.',
        response: NoContent,
        handle: async ({ data: { username } }) => {
          users.requireStorable(username);
          await users.delete(username);
          return undefined;
        },
      }),
  ];
}

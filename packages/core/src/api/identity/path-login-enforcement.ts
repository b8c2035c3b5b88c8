import { f, pageFields, path, type AnyPath } from '@strongroom/engine-sdk';
import { listing } from '../../services/identity/identity-data.ts';
import type { LoginEnforcements } from '../../services/mfa/login-enforcements.ts';
import type { LoginEnforcement } from '../../services/mfa/mfa-settings.ts';

/** `identity/mfa/login-enforcement/…`: which logins need a second factor. */
export function loginEnforcementPaths(enforcements: LoginEnforcements): AnyPath[] {
  return [
    path('mfa/login-enforcement', {
      synopsis: 'Login enforcements.',
      description: 'Lists the names of all enforcements with what they say.',
      fields: pageFields,
    }).list({
      summary: 'List login enforcements',
      handle: async ({ data }) =>
        listing(
          (await enforcements.list())
            .map((one): [string, unknown] => [one.name, enforcementData(one)])
            .sort(([a], [b]) => (a < b ? -1 : 1)),
          data,
        ),
    }),

    path('mfa/login-enforcement/{name}', {
      synopsis: 'Which logins need a second factor.',
      description:
        'An enforcement holds for the logins of its entities, of the members of its groups, of its auth methods and of auth methods of its types. A login ' +
        'has to meet every enforcement that holds for it, each by any of its MFA methods. Only what is sent changes; mfa_method_ids must be sent.',
      fields: {
        name: f.name('Name of the enforcement.'),
        mfa_method_ids: f.commaStrings('Ids of the MFA methods, any of which is enough.'),
        auth_method_accessors: f.commaStrings('Accessors of auth methods whose logins it holds for.'),
        auth_method_types: f.commaStrings('Types of auth methods whose logins it holds for.'),
        identity_group_ids: f.commaStrings('Ids of groups whose members it holds for, also by other groups.'),
        identity_entity_ids: f.commaStrings('Ids of entities that it holds for.'),
      },
    })
      .read({
        summary: 'Read a login enforcement',
        handle: async ({ data }) => {
          const found = await enforcements.get(data.name);
          return found && { data: enforcementData(found) };
        },
      })
      .update({
        summary: 'Create or update a login enforcement',
        handle: async ({ data: { name, ...order } }) => {
          await enforcements.save(name, order);
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a login enforcement',
        handle: async ({ data }) => {
          await enforcements.remove(data.name);
          return undefined;
        },
      }),
  ];
}

function enforcementData(enforcement: LoginEnforcement): Record<string, unknown> {
  return { ...enforcement, namespace_id: 'root', namespace_path: '' };
}

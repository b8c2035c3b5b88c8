import { type AnyPath, f, NoContent, pageFields, path } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { listedWith, slicedListing } from '../../services/identity/identity-data.ts';
import type { LoginEnforcements } from '../../services/mfa/login-enforcements.ts';
import { LoginEnforcement } from '../../services/mfa/mfa-settings.ts';

const Enforcement = Type.Object({ ...LoginEnforcement.properties, namespace_id: Type.String(), namespace_path: Type.String() });

/** `identity/mfa/login-enforcement/…`: which logins need a second factor. */
export function loginEnforcementPaths(enforcements: LoginEnforcements): AnyPath[] {
  return [
    path('mfa/login-enforcement', {
      synopsis: 'List the login enforcements.',
      description: 'Lists the names and settings of all enforcements.',
      fields: pageFields,
    }).list({
      summary: 'List login enforcements',
      response: listedWith(Enforcement),
      handle: async ({ data }) =>
        slicedListing(
          (await enforcements.list())
            .map((one): [string, Static<typeof Enforcement>] => [one.name, enforcementData(one)])
            .sort(([a], [b]) => (a < b ? -1 : 1)),
          data,
        ),
    }),

    path('mfa/login-enforcement/{name}', {
      synopsis: 'Configure which logins require a second factor.',
      description:
        'An enforcement applies to logins of its entities, of members of its groups, with its auth methods, and with auth methods of its types. A login must ' +
        'satisfy each enforcement that applies, with any of its MFA methods. A write keeps omitted lists; mfa_method_ids is required.',
      fields: {
        name: f.name('Name of the enforcement.'),
        mfa_method_ids: f.commaStrings('Ids of the MFA methods. Any one of them satisfies the enforcement.'),
        auth_method_accessors: f.commaStrings('Accessors of the auth methods that it applies to.'),
        auth_method_types: f.commaStrings('Types of the auth methods that it applies to.'),
        identity_group_ids: f.commaStrings('Ids of the groups that it applies to. Members of groups inside them are included.'),
        identity_entity_ids: f.commaStrings('Ids of the entities that it applies to.'),
      },
    })
      .read({
        summary: 'Read a login enforcement',
        response: Enforcement,
        handle: async ({ data }) => {
          const found = await enforcements.get(data.name);
          return found && { data: enforcementData(found) };
        },
      })
      .update({
        summary: 'Create or update a login enforcement',
        response: NoContent,
        handle: async ({ data: { name, ...order } }) => {
          await enforcements.save(name, order);
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a login enforcement',
        response: NoContent,
        handle: async ({ data }) => {
          await enforcements.remove(data.name);
          return undefined;
        },
      }),
  ];
}

function enforcementData(enforcement: LoginEnforcement): Static<typeof Enforcement> {
  return { ...enforcement, namespace_id: 'root', namespace_path: '' };
}

import { f, namesPath, path, type AnyPath } from '@strongroom/engine-sdk';
import type { IdentityTokenRoles } from '../../services/oidc/token-roles.ts';

/** `identity/oidc/role…` */
export function rolePaths({ roles }: { readonly roles: IdentityTokenRoles }): AnyPath[] {
  return [
    namesPath(
      'oidc/role',
      { list: async (page) => roles.records.list(page) },
      { synopsis: 'The roles by which callers get identity tokens.' },
    ),

    path('oidc/role/{name}', {
      synopsis: 'What an identity token says.',
      description: 'Callers read identity/oidc/token/<role> for a token about themselves.',
      fields: {
        name: f.name('Name of the role.'),
        key: f.string('Name of the key that signs. It must allow the client_id of the role.'),
        template: f.string('Further claims: a JSON object in which {{…}} stands for a value of the entity; also in base64.'),
        ttl: f.duration('How long tokens are good; 24 h by default, at most the verification_ttl of the key.'),
        client_id: f.string('The audience of the tokens; one is made when left out.'),
      },
    })
      .read({
        summary: 'Read a role',
        handle: async ({ data }) => {
          const role = await roles.get(data.name);
          return role && { data: role };
        },
      })
      .upsert({
        summary: 'Create or change a role',
        exists: async ({ data }) => (await roles.get(data.name)) !== undefined,
        handle: async ({ data: { name, ...fields } }) => {
          await roles.save(name, fields);
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a role',
        handle: async ({ data }) => {
          await roles.remove(data.name);
          return undefined;
        },
      }),
  ];
}

import { type AnyPath, f, namesPath, NoContent, path } from '@strongroom/engine-sdk';
import { TokenRole } from '../../services/oidc/oidc-records.ts';
import type { IdentityTokenRoles } from '../../services/oidc/token-roles.ts';

/** `identity/oidc/role…` */
export function rolePaths({ roles }: { readonly roles: IdentityTokenRoles }): AnyPath[] {
  return [
    namesPath('oidc/role', { list: async (page) => roles.records.list(page) }, { synopsis: 'List the roles.' }),

    path('oidc/role/{name}', {
      synopsis: 'Configure a role: the claims and the key of its tokens.',
      description: 'A caller reads identity/oidc/token/<role> to get a token.',
      fields: {
        name: f.name('Name of the role.'),
        key: f.string('Name of the key that signs. It must allow the client_id of the role.'),
        template: f.string(
          'Template of additional claims: a JSON object in which {{…}} is replaced by a value of the entity. Base64 is accepted.',
        ),
        ttl: f.duration('Lifetime of tokens, at most verification_ttl of the key. Default: 24 h.'),
        client_id: f.string('The audience of the tokens. Default: a generated id.'),
      },
    })
      .read({
        summary: 'Read a role',
        response: TokenRole,
        handle: async ({ data }) => {
          const role = await roles.get(data.name);
          return role && { data: role };
        },
      })
      .upsert({
        summary: 'Create or change a role',
        response: NoContent,
        exists: async ({ data }) => (await roles.get(data.name)) !== undefined,
        handle: async ({ data: { name, ...fields } }) => {
          await roles.save(name, fields);
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a role',
        response: NoContent,
        handle: async ({ data }) => {
          await roles.remove(data.name);
          return undefined;
        },
      }),
  ];
}

import { type AnyPath, f, NoContent, pageFields, path, slicePage } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { Provider } from '../../services/oidc/oidc-records.ts';
import { allowsClient } from '../../services/oidc/identity-tokens.ts';
import type { KnownProvider, Providers } from '../../services/oidc/providers.ts';
import { ISSUER_WARNING } from '../../services/oidc/token-issuer.ts';

/** `identity/oidc/provider…` */
export function providerPaths({ providers }: { readonly providers: Providers }): AnyPath[] {
  return [
    path('oidc/provider', {
      synopsis: 'The OpenID providers of this server.',
      description: 'Lists names and settings.',
      fields: { ...pageFields, allowed_client_id: f.string('List only providers that serve the client with this id.', { default: '' }) },
    }).list({
      summary: 'List the providers',
      response: Type.Object({ keys: Type.Array(Type.String()), key_info: Type.Record(Type.String(), Provider) }),
      handle: async ({ data }) => {
        const id = data.allowed_client_id;
        const serving = (await providers.all()).filter((one) => id === '' || allowsClient(one.allowed_client_ids, id));
        const page = slicePage(serving, data, ({ name }) => name);
        if (page.length === 0) return undefined;
        return { data: { keys: page.map(({ name }) => name), key_info: Object.fromEntries(page.map((one) => [one.name, shown(one)])) } };
      },
    }),

    path('oidc/provider/{name}', {
      synopsis: 'Configure an OpenID provider.',
      description: 'Applications use a provider to log people in. The built-in provider default serves every client.',
      fields: {
        name: f.name('Name of the provider.'),
        issuer: f.string('Scheme, host and port, such as https://example.com:8200. Empty: api_addr of the server.'),
        allowed_client_ids: f.commaStrings('Ids of the clients that can use the provider; * means all. Default: none.'),
        scopes_supported: f.commaStrings('Names of the scopes that clients can request.'),
      },
    })
      .read({
        summary: 'Read a provider',
        response: Provider,
        handle: async ({ data }) => {
          const found = await providers.get(data.name);
          return found && { data: shown(found) };
        },
      })
      .upsert({
        summary: 'Create or change a provider',
        response: NoContent,
        exists: async ({ data }) => (await providers.get(data.name)) !== undefined,
        handle: async ({ data: { name, ...fields } }) => {
          const overlaps = await providers.save(name, fields);
          const warnings = [...(fields.issuer ? [ISSUER_WARNING] : []), ...overlaps];
          return warnings.length === 0 ? undefined : { data: null, warnings };
        },
      })
      .delete({
        summary: 'Delete a provider',
        response: NoContent,
        handle: async ({ data }) => {
          await providers.remove(data.name);
          return undefined;
        },
      }),
  ];
}

function shown({ issuer, allowed_client_ids, scopes_supported }: KnownProvider): Provider {
  return { issuer, allowed_client_ids, scopes_supported };
}

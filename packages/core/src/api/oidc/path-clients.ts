import { type AnyPath, BadRequest, f, NoContent, pageFields, path, slicePage } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { Clients } from '../../services/oidc/clients.ts';
import { Client } from '../../services/oidc/oidc-records.ts';

const { client_secret: _secret, ...visible } = Client.properties;
const VisibleClient = Type.Object({ ...visible, authorization_code: Type.Boolean(), client_credentials: Type.Boolean() });
const ReadClient = Type.Object({
  ...VisibleClient.properties,
  client_secret: Type.Optional(Type.String({ description: 'Of a confidential client.', secret: true })),
});

/** `identity/oidc/client…` */
export function clientPaths({ clients }: { readonly clients: Clients }): AnyPath[] {
  return [
    path('oidc/client', {
      synopsis: 'List the clients.',
      description: 'Lists names and settings, without secrets.',
      fields: pageFields,
    }).list({
      summary: 'List the clients',
      response: Type.Object({ keys: Type.Array(Type.String()), key_info: Type.Record(Type.String(), VisibleClient) }),
      handle: async ({ data }) => {
        const entries = slicePage(await clients.entries(), data, ([name]) => name);
        if (entries.length === 0) return undefined;
        return {
          data: {
            keys: entries.map(([name]) => name),
            key_info: Object.fromEntries(entries.map(([name, client]) => [name, shown(client)])),
          },
        };
      },
    }),

    path('oidc/client/{name}', {
      synopsis: 'Configure a client: an application that people log in to.',
      description: 'The server generates the client_id, and the client_secret of a confidential client.',
      fields: {
        name: f.name('Name of the client.'),
        redirect_uris: f.commaStrings('Allowed redirect addresses. They must match exactly, except for the port of loopback addresses.'),
        assignments: f.commaStrings('Names of the assignments that can log in at the client. Default: none.'),
        key: f.string('Name of the key that signs identity tokens. Default: the key named default. Cannot be changed.'),
        client_type: f.string('confidential (default), or public: without a secret, PKCE required. Cannot be changed.'),
        id_token_ttl: f.duration('Lifetime of identity tokens, at most verification_ttl of the key. Default: 24 h.'),
        access_token_ttl: f.duration('Lifetime of access tokens. Default: 24 h.'),
        authorization_code: f.bool('Accepted for compatibility. The code flow is always enabled.'),
        client_credentials: f.bool('Accepted for compatibility. true is refused.'),
      },
    })
      .read({
        summary: 'Read a client, with its secret',
        response: ReadClient,
        handle: async ({ data }) => {
          const client = await clients.get(data.name);
          if (!client) return undefined;
          const { client_secret } = client;
          return { data: { ...shown(client), ...(client_secret === undefined ? {} : { client_secret }) } };
        },
      })
      .upsert({
        summary: 'Create or change a client',
        response: NoContent,
        exists: async ({ data }) => (await clients.get(data.name)) !== undefined,
        handle: async ({ data: { name, authorization_code, client_credentials, ...fields } }) => {
          if (authorization_code === false || client_credentials === true)
            throw new BadRequest('authorization_code must be true and client_credentials false: clients use the code flow');
          await clients.save(name, fields);
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a client',
        response: NoContent,
        handle: async ({ data }) => {
          await clients.remove(data.name);
          return undefined;
        },
      }),
  ];
}

function shown({ client_secret: _hidden, ...client }: Client): Static<typeof VisibleClient> {
  return { ...client, authorization_code: true, client_credentials: false };
}

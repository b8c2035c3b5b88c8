import { BadRequest, f, pageFields, path, slicePage, type AnyPath } from '@strongroom/engine-sdk';
import type { Clients } from '../../services/oidc/clients.ts';
import type { Client } from '../../services/oidc/oidc-records.ts';

/** `identity/oidc/client…` */
export function clientPaths({ clients }: { readonly clients: Clients }): AnyPath[] {
  return [
    path('oidc/client', {
      synopsis: 'The applications that people log in at.',
      description: 'Lists names, and what each client is, without secrets.',
      fields: pageFields,
    }).list({
      summary: 'List the clients',
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
      synopsis: 'An application that people log in at.',
      description: 'Its client_id, and the client_secret of a confidential client, are made here.',
      fields: {
        name: f.name('Name of the client.'),
        redirect_uris: f.commaStrings('Where codes may be sent. Compared as they stand; on the loopback interface the port is free.'),
        assignments: f.commaStrings('Who may log in at the client: names of assignments. None by default.'),
        key: f.string('Name of the key that signs its identity tokens; default by default. Cannot be changed.'),
        client_type: f.string('confidential, the default, or public, which has no secret and must use PKCE. Cannot be changed.'),
        id_token_ttl: f.duration('How long identity tokens are good; 24 h by default, at most the verification_ttl of the key.'),
        access_token_ttl: f.duration('How long access tokens are good; 24 h by default.'),
        authorization_code: f.bool('Accepted for clients that send it: the code flow is the one that there is.'),
        client_credentials: f.bool('Accepted for clients that send it; cannot be true.'),
      },
    })
      .read({
        summary: 'Read a client, with its secret',
        handle: async ({ data }) => {
          const client = await clients.get(data.name);
          if (!client) return undefined;
          const { client_secret } = client;
          return { data: { ...shown(client), ...(client_secret === undefined ? {} : { client_secret }) } };
        },
      })
      .upsert({
        summary: 'Create or change a client',
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
        handle: async ({ data }) => {
          await clients.remove(data.name);
          return undefined;
        },
      }),
  ];
}

function shown({ client_secret: _hidden, ...client }: Client): Record<string, unknown> {
  return { ...client, authorization_code: true, client_credentials: false };
}

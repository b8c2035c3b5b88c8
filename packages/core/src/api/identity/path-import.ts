import { type AnyPath, BadRequest, f, NoContent, path } from '@strongroom/engine-sdk';
import type { IdentityStore } from '../../services/identity/identity-store.ts';
import type { TotpMethods } from '../../services/mfa/totp-methods.ts';
import type { Clients } from '../../services/oidc/clients.ts';
import { methodFields, orderOf } from './path-mfa-method.ts';

export interface IdentityImportDeps {
  readonly store: IdentityStore;
  readonly methods: TotpMethods;
  readonly clients: Clients;
}

const id = f.name('The id that it has at the other server.');
const own = {
  name: f.string('Its name.', { required: true }),
  policies: f.commaStrings('Policies that it gives to tokens.', { default: [] }),
  metadata: f.keyValues('Free key-value pairs.', { default: {} }),
} as const;
const alias = {
  name: f.string('The name by which the login method knows it.', { required: true }),
  mount_accessor: f.string('Accessor of the login method at this server.', { required: true }),
  canonical_id: f.string('Id of the entity or group.', { required: true }),
} as const;
const description =
  'Like a write without import/, but what is new is created with the id of the other server, so that everything that names the id goes on.';

/** `identity/import/…`: what another server knows of callers, with the ids that it has there. */
export function identityImportPaths({ store, methods, clients }: IdentityImportDeps): AnyPath[] {
  const IMPORTED = { imported: true } as const;
  return [
    path('import/entity/{id}', {
      synopsis: 'Imports an entity.',
      description,
      access: 'sudo',
      fields: { id, ...own, disabled: f.bool('Refuse every token of the entity.', { default: false }) },
    }).update({
      summary: 'Import an entity',
      response: NoContent,
      handle: async ({ data: { id, ...fields } }) => void (await store.entities.save(id, fields, IMPORTED)),
    }),

    path('import/entity-alias/{id}', {
      synopsis: 'Imports an alias of an entity.',
      description,
      access: 'sudo',
      fields: { id, ...alias, custom_metadata: f.keyValues('Free key-value pairs.', { default: {} }) },
    }).update({
      summary: 'Import an alias of an entity',
      response: NoContent,
      handle: async ({ data }) => {
        const { name, mount_accessor: mountAccessor, canonical_id: canonicalId, custom_metadata: customMetadata } = data;
        await store.entityAliases.save(data.id, { name, mountAccessor, canonicalId, customMetadata }, IMPORTED);
        return undefined;
      },
    }),

    path('import/group/{id}', {
      synopsis: 'Imports a group.',
      description,
      access: 'sudo',
      fields: {
        id,
        ...own,
        type: f.string('internal or external.', { default: 'internal' }),
        member_entity_ids: f.commaStrings('Entities that are members. Only of an internal group.'),
        member_group_ids: f.commaStrings('Groups that are members. Only of an internal group.'),
      },
    }).update({
      summary: 'Import a group',
      response: NoContent,
      handle: async ({ data }) => {
        const { member_entity_ids: memberEntityIds, member_group_ids: memberGroupIds, name, type, policies, metadata } = data;
        await store.groups.save({ id: data.id, imported: true }, { name, type, policies, metadata, memberEntityIds, memberGroupIds });
        return undefined;
      },
    }),

    path('import/group-alias/{id}', {
      synopsis: 'Imports the alias of an external group.',
      description,
      access: 'sudo',
      fields: { id, ...alias },
    }).update({
      summary: 'Import the alias of an external group',
      response: NoContent,
      handle: async ({ data: { id, name, mount_accessor: mountAccessor, canonical_id: canonicalId } }) =>
        void (await store.groupAliases.save(id, { name, mountAccessor, canonicalId }, IMPORTED)),
    }),

    path('import/mfa/method/totp/{id}', {
      synopsis: 'Imports a TOTP method.',
      description,
      access: 'sudo',
      fields: { id, ...methodFields },
    }).update({
      summary: 'Import a TOTP method',
      response: NoContent,
      handle: async ({ data }) => void (await methods.save(data.id, orderOf(data), IMPORTED)),
    }),

    path('import/oidc/client/{name}', {
      synopsis: 'Imports a client with its id and secret.',
      description: 'Like a write without import/, but a new client has the client_id and client_secret of the other server.',
      access: 'sudo',
      fields: {
        name: f.name('Name of the client.'),
        client_id: f.string('The client_id that the application knows.', { required: true }),
        client_secret: f.secret('The client_secret that the application knows. None for a public client.'),
        client_type: f.string('confidential or public.', { default: 'confidential' }),
        key: f.string('Name of the key that signs identity tokens.'),
        redirect_uris: f.commaStrings('Allowed redirect addresses.', { default: [] }),
        assignments: f.commaStrings('Names of the assignments that can log in at the client.', { default: [] }),
        id_token_ttl: f.duration('Lifetime of identity tokens.'),
        access_token_ttl: f.duration('Lifetime of access tokens.'),
      },
    }).update({
      summary: 'Import a client',
      response: NoContent,
      handle: async ({ data: { name, client_id, client_secret, ...fields } }) => {
        if (!/^[\x21-\x7e]{1,256}$/.test(client_id)) throw new BadRequest('client_id must be 1 to 256 printable characters without blanks');
        if (fields.client_type !== 'public' && (client_secret ?? '').length < 16)
          throw new BadRequest('client_secret must have at least 16 characters');
        await clients.save(name, { ...fields, credentials: { client_id, client_secret } });
        return undefined;
      },
    }),
  ];
}

import {
  type AnyPath,
  BadRequest,
  type EngineHost,
  type EngineResponse,
  f,
  ListedKeys,
  NoContent,
  NotFound,
  orNoContent,
  pageFields,
  path,
} from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { roleName } from './path-roles.ts';
import type { Role } from './role.ts';
import type { Roles } from './roles.ts';
import { ShownSecretId, shownSecretId } from './secret-id.ts';
import type { SecretIdMaker, SecretIdOrder } from './secret-id-maker.ts';
import type { FoundSecretId, SecretIds } from './secret-ids.ts';

const orderFields = {
  metadata: f.string('Metadata for the tokens issued with this secret id: a JSON object of strings, or a=b,c=d.', { default: '' }),
  cidr_list: f.commaStrings('Addresses and CIDR blocks from which the secret id can be used, within those of the role.', { default: [] }),
  token_bound_cidrs: f.commaStrings('Addresses and CIDR blocks that tokens are bound to, within those of the role.', { default: [] }),
  num_uses: f.int('Number of times the secret id can be used; 0 means no limit. Default: secret_id_num_uses of the role.'),
  ttl: f.duration('Lifetime of the secret id; 0 means that it does not expire. Default: secret_id_ttl of the role.'),
};
const secretIdField = f.secret('The secret id.', { default: '' });
const accessorField = f.string('The accessor of the secret id.', { default: '' });

const MadeSecretId = Type.Object({
  secret_id: Type.String({ description: 'Shown once.', secret: true }),
  secret_id_accessor: Type.String(),
  secret_id_num_uses: Type.Integer({ description: 'How often it can be used; 0 means without limit.' }),
  secret_id_ttl: Type.Integer({ description: 'Seconds; 0 means that it does not expire.' }),
});
/** With status 404, an `error`. */
const FoundByAccessor = Type.Union([ShownSecretId, Type.Object({ error: Type.String() })]);

export function secretIdPaths(host: EngineHost, parts: { roles: Roles; secretIds: SecretIds; maker: SecretIdMaker }): AnyPath[] {
  const { storage } = host;
  const { roles, secretIds, maker } = parts;
  const requireRole = async (name: string): Promise<Role> => {
    const role = await roles.records(storage).get(name);
    if (!role) throw new BadRequest(`role ${JSON.stringify(name)} does not exist`);
    return role;
  };
  const make = async (name: string, order: SecretIdOrder): Promise<EngineResponse<Static<typeof MadeSecretId>>> => {
    const { secretId, record } = await maker.make(name, order);
    const { accessor, uses_left, ttl } = record;
    return {
      data: { secret_id: secretId, secret_id_accessor: accessor, secret_id_num_uses: uses_left, secret_id_ttl: ttl },
      accessor,
    };
  };
  const remove = async (role: Role, found: FoundSecretId): Promise<void> =>
    storage.transaction(async (tx) => secretIds.remove(tx, role.key, found));
  const destroy = async ({ data: { name, secret_id } }: { data: { name: string; secret_id: string } }): Promise<undefined> => {
    const secretId = required('secret_id', secret_id);
    const role = await requireRole(name);
    const found = await secretIds.find(storage, role.key, secretId);
    if (found) await remove(role, found);
    return undefined;
  };
  const destroyByAccessor = async ({
    data: { name, secret_id_accessor },
  }: {
    data: { name: string; secret_id_accessor: string };
  }): Promise<undefined> => {
    const accessor = required('secret_id_accessor', secret_id_accessor);
    const role = await requireRole(name);
    const found = await secretIds.findByAccessor(storage, role.key, accessor);
    if (!found) throw new NotFound(accessorUnknown(accessor));
    await remove(role, found);
    return undefined;
  };
  return [
    path('role/{name}/secret-id', {
      synopsis: 'Generate a secret id, or list the accessors.',
      description: 'A write generates a random secret id and shows it only once. Use response wrapping to deliver it to the program.',
      fields: { name: roleName, ...orderFields, ...pageFields },
    })
      .update({
        summary: 'Generate a secret id.',
        response: MadeSecretId,
        handle: async ({ data, supplied }) => make(data.name, orderOf(data, supplied)),
      })
      .list({
        summary: 'List the accessors of the secret ids.',
        response: ListedKeys,
        handle: async ({ data }) => {
          const role = await roles.records(storage).get(data.name);
          if (!role) throw new BadRequest(`role ${JSON.stringify(data.name)} does not exist`);
          return secretIds.accessorsOf(storage, role.key, data);
        },
      }),
    path('role/{name}/custom-secret-id', {
      synopsis: 'Store a secret id of your choice.',
      description: 'Generated secret ids are safer. Leading and trailing spaces are removed, as they are at login.',
      fields: { name: roleName, ...orderFields, secret_id: f.secret('The secret id, at most 4096 bytes.', { default: '' }) },
    }).update({
      summary: 'Store a secret id.',
      response: MadeSecretId,
      handle: async ({ data, supplied }) =>
        make(data.name, { ...orderOf(data, supplied), secretId: required('secret_id', data.secret_id.trim()) }),
    }),
    path('role/{name}/secret-id/lookup', {
      synopsis: 'Look up a secret id.',
      description: 'Returns its metadata, addresses, remaining uses and expiry.',
      fields: { name: roleName, secret_id: secretIdField },
    }).update({
      summary: 'Look up a secret id.',
      response: orNoContent(ShownSecretId),
      handle: async ({ data: { name, secret_id } }) => {
        const secretId = required('secret_id', secret_id);
        const found = await secretIds.find(storage, (await requireRole(name)).key, secretId);
        return found && { data: shownSecretId(found.record) };
      },
    }),
    path('role/{name}/secret-id/destroy', {
      synopsis: 'Destroy a secret id.',
      description: 'The secret id stops working immediately. Tokens issued with it stay valid until they expire.',
      fields: { name: roleName, secret_id: secretIdField },
    })
      .update({ summary: 'Destroy a secret id.', response: NoContent, handle: destroy })
      .delete({ summary: 'Destroy a secret id.', response: NoContent, handle: destroy }),
    path('role/{name}/secret-id-accessor/lookup', {
      synopsis: 'Look up a secret id by its accessor.',
      description: 'Returns the same fields as a lookup by secret id.',
      fields: { name: roleName, secret_id_accessor: accessorField },
    }).update({
      summary: 'Look up a secret id by its accessor.',
      response: FoundByAccessor,
      handle: async ({ data: { name, secret_id_accessor } }) => {
        const accessor = required('secret_id_accessor', secret_id_accessor);
        const found = await secretIds.findByAccessor(storage, (await requireRole(name)).key, accessor);
        return found ? { data: shownSecretId(found.record) } : { status: 404, data: { error: accessorUnknown(accessor) } };
      },
    }),
    path('role/{name}/secret-id-accessor/destroy', {
      synopsis: 'Destroy a secret id by its accessor.',
      description: 'The secret id stops working immediately. Tokens issued with it stay valid until they expire.',
      fields: { name: roleName, secret_id_accessor: accessorField },
    })
      .update({ summary: 'Destroy a secret id by its accessor.', response: NoContent, handle: destroyByAccessor })
      .delete({ summary: 'Destroy a secret id by its accessor.', response: NoContent, handle: destroyByAccessor }),
  ];
}

function required(field: string, value: string): string {
  if (value.trim() === '') throw new BadRequest(`missing ${field}`);
  return value.trim();
}

function accessorUnknown(accessor: string): string {
  return `failed to find accessor entry for secret_id_accessor: ${JSON.stringify(accessor)}`;
}

function orderOf(
  data: { metadata: string; cidr_list: string[]; token_bound_cidrs: string[]; num_uses: number | undefined; ttl: number | undefined },
  supplied: ReadonlySet<string>,
): SecretIdOrder {
  return {
    metadata: data.metadata,
    cidrs: data.cidr_list,
    tokenCidrs: data.token_bound_cidrs,
    uses: supplied.has('num_uses') ? data.num_uses : undefined,
    ttl: supplied.has('ttl') ? data.ttl : undefined,
  };
}

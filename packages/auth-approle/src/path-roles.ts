import { recordName, recordPaths } from '@strongroom/auth-sdk';
import { type AnyPath, BadRequest, type EngineHost, NoContent, path, UnsupportedPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { roleFields, shownRole, type RoleChange } from './role.ts';
import type { Roles } from './roles.ts';

/** Token types that mean something for mounts only. */
const PLAIN_TYPES: Readonly<Record<string, string>> = { 'default-service': 'service', 'default-batch': 'batch' };

/** Names of roles are in lower case everywhere. */
export const roleName = recordName('role');

export function rolePaths(host: EngineHost, roles: Roles): AnyPath[] {
  const { storage } = host;
  return [
    ...recordPaths({
      at: 'role',
      capture: 'name',
      noun: 'role',
      synopsis: 'Configure a role.',
      description:
        'A program logs in with the role id and, unless bind_secret_id is false, with a secret id of the role. A write changes only the parameters that it contains. ' +
        'Deleting a role also deletes its secret ids. Tokens stay valid until they expire.',
      fields: roleFields,
      storage,
      records: (view) => roles.records(view),
      read: shownRole,
      write: async (stored, req, tx, name) => {
        const { change, warnings } = withPlainType(req);
        const record = await roles.merged(tx, name, stored, change);
        return { record, warnings: [...warnings, ...lifetimeWarnings(host, record.token_max_ttl)] };
      },
      removed: async (role, _name, tx) => roles.ended(tx, role),
    }),
    path('role/{name}/role-id', {
      synopsis: 'Read or replace the role id.',
      description:
        'The role id names the role at a login. It is not a secret, but do not publish it. After it is replaced, the old one stops working immediately.',
      fields: { name: roleName, role_id: roleFields.role_id },
    })
      .read({
        summary: 'Read the role id.',
        response: Type.Object({ role_id: Type.String() }),
        handle: async ({ data: { name } }) => {
          const role = await roles.records(storage).get(name);
          return role && { data: { role_id: role.role_id } };
        },
      })
      .update({
        summary: 'Replace the role id.',
        response: NoContent,
        handle: async ({ data: { name, role_id }, supplied }) => {
          if (role_id === undefined || role_id.trim() === '') throw new BadRequest('missing role_id');
          if (!(await roles.change(name, { data: { role_id }, supplied }))) throw new UnsupportedPath();
          return undefined;
        },
      }),
  ];
}

function withPlainType({ data, supplied }: RoleChange): { readonly change: RoleChange; readonly warnings: readonly string[] } {
  const type = data.token_type ?? '';
  const plain = Object.hasOwn(PLAIN_TYPES, type) ? PLAIN_TYPES[type] : undefined;
  if (plain === undefined) return { change: { data, supplied }, warnings: [] };
  return { change: { data: { ...data, token_type: plain }, supplied }, warnings: [`${type} has no useful meaning; adjusting to ${plain}`] };
}

function lifetimeWarnings(host: EngineHost, maxTtl: number): string[] {
  if (maxTtl <= host.limit({ ttl: 0, maxTtl: 0 }).maxTtl) return [];
  return ["token_max_ttl is greater than the mount's maximum; tokens get the mount's maximum"];
}

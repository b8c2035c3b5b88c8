import { defaultRoleTokens, mergeRoleTokens, roleTokenData, roleTokenFields, RoleTokens } from '@strongroom/auth-sdk';
import { BadRequest, f, formatDuration } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { requireCidrs } from './addresses.ts';

/** A role as it is stored, by its name. */
export const Role = Type.Object({
  /** Its secret ids are filed below this key, so that those of a deleted role never belong to another role of the same name. */
  key: Type.String(),
  role_id: Type.String(),
  bind_secret_id: Type.Boolean(),
  secret_id_bound_cidrs: Type.Array(Type.String()),
  secret_id_num_uses: Type.Number(),
  secret_id_ttl: Type.Number(),
  local_secret_ids: Type.Boolean(),
  ...RoleTokens.properties,
});
export type Role = Static<typeof Role>;

export const roleFields = {
  bind_secret_id: f.bool('Whether a login needs a secret id.'),
  secret_id_bound_cidrs: f.commaStrings('Addresses and CIDR blocks from which a login is accepted.', { aliases: ['bound_cidr_list'] }),
  secret_id_num_uses: f.int('Number of times each secret id can be used; 0 means no limit.'),
  secret_id_ttl: f.duration('Lifetime of each secret id; 0 means that it does not expire.'),
  local_secret_ids: f.bool('Can only be set when the role is created. Has no effect: all servers of a store share secret ids.'),
  role_id: f.string('The id that identifies the role at login. Default: a random UUID.'),
  ...roleTokenFields(['policies', 'period']),
};

/** The fields of a write, decoded. */
export type RoleData = { readonly [K in keyof typeof roleFields]?: Static<(typeof roleFields)[K]> | undefined };

/** What is written of a role. */
export interface RoleChange {
  readonly data: RoleData;
  readonly supplied: ReadonlySet<string>;
}

/** Longer role ids cannot be names of entity aliases. */
const LONGEST_ROLE_ID = 512;

const newRole: Omit<Role, 'key' | 'role_id'> = {
  bind_secret_id: true,
  secret_id_bound_cidrs: [],
  secret_id_num_uses: 0,
  secret_id_ttl: 0,
  local_secret_ids: false,
  ...defaultRoleTokens,
};

/** The role after a write, which changes only what it supplies. `fresh`: of a new role. `maxLeaseTtl`: of the mount, in seconds. @throws BadRequest */
export function mergeRole(
  stored: Role | undefined,
  fresh: Pick<Role, 'key' | 'role_id'>,
  { data, supplied }: RoleChange,
  maxLeaseTtl: number,
): Role {
  const before: Role = stored ?? { ...newRole, ...fresh };
  if (stored && supplied.has('local_secret_ids') && data.local_secret_ids !== stored.local_secret_ids) {
    throw new BadRequest('local_secret_ids can only be modified during role creation');
  }
  const role: Role = {
    ...before,
    ...mergeRoleTokens(stored, data, supplied),
    role_id: supplied.has('role_id') ? (data.role_id ?? '').trim() : before.role_id,
    bind_secret_id: data.bind_secret_id ?? before.bind_secret_id,
    secret_id_bound_cidrs: data.secret_id_bound_cidrs ?? before.secret_id_bound_cidrs,
    secret_id_num_uses: data.secret_id_num_uses ?? before.secret_id_num_uses,
    secret_id_ttl: data.secret_id_ttl ?? before.secret_id_ttl,
    local_secret_ids: data.local_secret_ids ?? before.local_secret_ids,
  };
  if (role.secret_id_num_uses < 0) throw new BadRequest('secret_id_num_uses cannot be negative');
  requireRoleId(role.role_id);
  requireCidrs(role.secret_id_bound_cidrs);
  if (!role.bind_secret_id && role.secret_id_bound_cidrs.length === 0 && role.token_bound_cidrs.length === 0) {
    throw new BadRequest('at least one constraint should be enabled on the role');
  }
  if (role.token_period > maxLeaseTtl) {
    const [period, most] = [role.token_period, maxLeaseTtl].map((seconds) => JSON.stringify(formatDuration(seconds)));
    throw new BadRequest(`period of ${period} is greater than the backend's maximum lease TTL of ${most}`);
  }
  return role;
}

/** What a read shows: everything but the role id. */
export function shownRole(role: Role): Record<string, unknown> {
  return {
    bind_secret_id: role.bind_secret_id,
    local_secret_ids: role.local_secret_ids,
    secret_id_bound_cidrs: shownCidrs(role),
    secret_id_num_uses: role.secret_id_num_uses,
    secret_id_ttl: role.secret_id_ttl,
    ...roleTokenData(role),
  };
}

export function shownCidrs({ secret_id_bound_cidrs }: Role): readonly string[] | null {
  return secret_id_bound_cidrs.length === 0 ? null : secret_id_bound_cidrs;
}

/** @throws BadRequest */
function requireRoleId(roleId: string): void {
  if (roleId === '') throw new BadRequest('invalid role_id supplied, or failed to generate a role_id');
  if (Buffer.byteLength(roleId) > LONGEST_ROLE_ID) throw new BadRequest(`role_id is longer than ${LONGEST_ROLE_ID} bytes`);
  if (/[\p{Cc}\p{Cs}]/u.test(roleId)) throw new BadRequest('role_id must not contain control characters');
}

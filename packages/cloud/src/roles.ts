import { BadRequest, InvalidRequest, type Collection } from '@strongroom/engine-sdk';
import { upgradeLegacy } from './legacy-role.ts';
import type { CredentialType, RoleFields, RoleRecord } from './records.ts';

/** A role as credentials are made by it. */
export interface Role extends Omit<RoleFields, 'credential_type'> {
  readonly types: readonly CredentialType[];
  readonly legacy: boolean;
}

/** Which of the two paths of a role is asked. */
export type CredentialPath = 'creds' | 'sts';

/** Undefined for a record of the old form that cannot be understood. */
export function roleOf(record: RoleRecord): Role | undefined {
  if (!('legacy' in record)) {
    const { credential_type, ...fields } = record;
    return { types: [credential_type], legacy: false, ...fields };
  }
  const upgraded = upgradeLegacy(record.legacy);
  return upgraded && { types: upgraded.types, legacy: true, ...upgraded.fields };
}

/** @throws BadRequest for an unknown role, InvalidRequest for one whose data are invalid. */
export async function requireRole(roles: Collection<RoleRecord>, name: string): Promise<Role> {
  const record = await roles.get(name);
  if (!record) throw new BadRequest(`Role ${JSON.stringify(name)} not found`);
  const role = roleOf(record);
  if (!role)
    throw new InvalidRequest(`the data of role ${JSON.stringify(name)} are invalid; see invalid_data of the role, and write it again`);
  return role;
}

/**
 * What a path issues of a role. An older policy makes users at `creds` and federation tokens at `sts`; other roles make the same at both, but the
 * rights of an old role that makes users are not given out by `sts`, nor the other way round. @throws BadRequest
 */
export function typeFor(role: Role, path: CredentialPath): CredentialType {
  const [first, second] = role.types;
  const type = second !== undefined && path === 'sts' ? second : first!;
  if (role.legacy && (type === 'iam_user') !== (path === 'creds')) {
    throw new BadRequest(`attempted to retrieve ${type} credentials through the ${path} path; this is not allowed for legacy roles`);
  }
  return type;
}

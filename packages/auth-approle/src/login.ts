import { termsFor } from '@strongroom/auth-sdk';
import { BadRequest, TokenRefused, withinCidrs, type IssuedAuth, type StorageView } from '@strongroom/engine-sdk';
import { addressRefused, tokenAddresses } from './addresses.ts';
import type { NamedRole, Roles } from './roles.ts';
import type { FoundSecretId, SecretIds } from './secret-ids.ts';

/** No role has this key. */
const NOBODY = 'nobody';

export interface LoginCall {
  readonly roleId: string;
  readonly secretId: string;
  readonly remoteAddress: string;
}

export interface LoginParts {
  readonly storage: StorageView;
  readonly roles: Roles;
  readonly secretIds: SecretIds;
}

/** Checks a login without changing anything; the use of the secret id is taken in the commit that stores the token. @throws BadRequest, TokenRefused */
export async function login(parts: LoginParts, { roleId, secretId, remoteAddress }: LoginCall): Promise<IssuedAuth> {
  const { storage, roles, secretIds } = parts;
  if (roleId === '') throw new BadRequest('missing role_id');
  const found = await roles.byRoleId(roleId);
  const needsSecret = found?.role.bind_secret_id !== false;
  const secret = needsSecret ? await secretIds.find(storage, found?.role.key ?? NOBODY, secretId) : undefined;
  if (!found || (needsSecret && !secret)) throw credentialsRefused();
  requireAddresses(found, secret, remoteAddress);
  return authOf(parts, found, secret, remoteAddress);
}

/** @throws BadRequest outside the addresses of the secret id or of the role */
export function requireAddresses({ role }: NamedRole, secret: FoundSecretId | undefined, remoteAddress: string): void {
  if (secret && !withinCidrs(secret.record.cidr_list, remoteAddress)) throw addressRefused(remoteAddress, 'secret ID');
  if (!withinCidrs(role.secret_id_bound_cidrs, remoteAddress)) throw addressRefused(remoteAddress, 'role');
}

function authOf(
  { roles, secretIds }: LoginParts,
  { name, role }: NamedRole,
  secret: FoundSecretId | undefined,
  remoteAddress: string,
): IssuedAuth {
  const bound = tokenAddresses(role.token_bound_cidrs, secret?.record.token_bound_cidrs ?? []);
  // With token_strictly_bind_ip the token is bound to the address of the login instead, which must be one of these.
  if (!bound || !withinCidrs(bound, remoteAddress)) throw new TokenRefused();
  return {
    displayName: '',
    policies: role.token_policies,
    metadata: { ...secret?.record.metadata, role_name: name },
    // The metadata of a secret id is its token's alone: on the alias it would change what the tokens of other secret ids may do.
    alias: { name: role.role_id, metadata: { role_name: name } },
    terms: termsFor({ ...role, token_bound_cidrs: [...bound] }, remoteAddress),
    internal: { role: name, key: role.key },
    consume: async (tx) => {
      if (!(await roles.isSame(tx, name, role)) || (secret && !(await secretIds.use(tx, role.key, secret.digest))))
        throw credentialsRefused();
    },
  };
}

/** The same for an unknown role id, a missing, wrong or expired secret id, and one that is used up. */
export function credentialsRefused(): BadRequest {
  return new BadRequest('invalid role or secret ID');
}

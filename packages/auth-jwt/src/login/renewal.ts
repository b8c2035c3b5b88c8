import { renewalRefused, renewedBy } from '@strongroom/auth-sdk';
import type { AuthRenewal, RenewedAuth, StorageView } from '@strongroom/engine-sdk';
import { rolesOf } from '../roles/role.ts';

/** The terms of the role as it is now. The token of the login is not looked at again. @throws InvalidRequest where the role is gone */
export async function renew(storage: StorageView, auth: AuthRenewal): Promise<RenewedAuth> {
  const name = String(auth.internal['role']);
  const role = await rolesOf(storage).get(name);
  if (!role) throw renewalRefused(`role ${name} does not exist during renewal`);
  return renewedBy(role);
}

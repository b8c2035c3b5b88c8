import { renewalRefused, renewedBy } from '@strongroom/auth-sdk';
import type { AuthRenewal, RenewedAuth, StorageView } from '@strongroom/engine-sdk';
import type { Roles } from './roles.ts';

/** A token renews while its role exists, by the parameters of the role as they are now. @throws InvalidRequest */
export async function renew(storage: StorageView, roles: Roles, { internal }: AuthRenewal): Promise<RenewedAuth> {
  const name = String(internal['role']);
  const role = await roles.records(storage).get(name);
  if (!role) throw renewalRefused(`role ${JSON.stringify(name)} does not exist during renewal`);
  return renewedBy(role);
}

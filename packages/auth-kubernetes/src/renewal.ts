import { renewalRefused, renewedBy } from '@strongroom/auth-sdk';
import type { AuthRenewal, RenewedAuth } from '@strongroom/engine-sdk';
import type { LoginInternal } from './login.ts';
import { roles } from './role.ts';

/** A token is renewed while its role exists, by the parameters that the role has now. @throws InvalidRequest */
export async function renew({ internal, storage }: AuthRenewal): Promise<RenewedAuth> {
  const { role: name } = internal as unknown as LoginInternal;
  const role = await roles(storage).get(name);
  if (!role) throw renewalRefused(`role ${name} does not exist during renewal`);
  return renewedBy(role);
}

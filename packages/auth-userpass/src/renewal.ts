import { renewalRefused, renewedBy, samePolicies } from '@strongroom/auth-sdk';
import type { AuthRenewal, RenewedAuth } from '@strongroom/engine-sdk';
import type { Users } from './users.ts';

/** A token can be renewed while its user exists and has the same policies. Its lifetimes are those that the user has now. @throws InvalidRequest */
export async function renew(users: Users, { internal, policies }: AuthRenewal): Promise<RenewedAuth> {
  const username = String(internal['username']);
  const user = await users.records.get(username);
  if (!user) throw renewalRefused(`user ${JSON.stringify(username)} does not exist during renewal`);
  if (!samePolicies(user.token_policies, policies)) throw renewalRefused('policies have changed, not renewing');
  return renewedBy(user);
}

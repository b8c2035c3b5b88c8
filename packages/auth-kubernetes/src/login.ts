import { termsFor } from '@strongroom/auth-sdk';
import { BadRequest, type Clock, type IssuedAuth } from '@strongroom/engine-sdk';
import { authorize } from './authorization.ts';
import type { Cluster } from './clusters.ts';
import { presentedToken } from './presented-token.ts';
import { review } from './review.ts';
import type { Role } from './role.ts';
import type { ServiceAccount } from './service-account.ts';
import type { Trace } from './trace.ts';

export interface LoginCall {
  readonly roleName: string;
  /** Undefined: there is no such role. */
  readonly role: Role | undefined;
  readonly jwt: string;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
}

/** Kept with the token. */
export interface LoginInternal {
  readonly role: string;
}

/** @throws BadRequest for what is missing */
export function requireSent({ role, jwt }: { readonly role?: string | undefined; readonly jwt?: string | undefined }): void {
  if (!role) throw new BadRequest('missing role');
  if (!jwt) throw new BadRequest('missing jwt');
}

/**
 * The token is reviewed before anything of it is believed, and before the role decides: an unknown role takes the same calls and gets the same answer as
 * one that does not fit.
 * @throws TokenRefused for a refusal; UpstreamFailed or Unavailable where the API server does not do its part
 */
export async function checkLogin(
  cluster: Cluster,
  call: LoginCall,
  clock: Clock,
  trace: Trace,
): Promise<{ account: ServiceAccount; role: Role }> {
  const { roleName, role, remoteAddress, signal } = call;
  const token = presentedToken(call.jwt, cluster, clock, trace);
  await review(cluster, token, role?.audience ?? '', trace, signal);
  const { account } = token;
  return { account, role: await authorize(cluster, { account, roleName, role, remoteAddress }, trace, signal) };
}

/** What a login grants. */
export function grant(roleName: string, role: Role, account: ServiceAccount, remoteAddress: string): IssuedAuth {
  const { namespace, name, uid, secretName } = account;
  const metadata = {
    service_account_name: name,
    service_account_namespace: namespace,
    service_account_secret_name: secretName,
    service_account_uid: uid,
  };
  const internal: LoginInternal = { role: roleName };
  return {
    displayName: `${namespace}-${name}`,
    policies: role.token_policies,
    metadata: { role: roleName, ...metadata },
    alias: { name: role.alias_name_source === 'serviceaccount_name' ? `${namespace}/${name}` : uid, metadata },
    terms: termsFor(role, remoteAddress),
    internal: { ...internal },
  };
}

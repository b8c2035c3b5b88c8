import { requireAddress } from '@strongroom/auth-sdk';
import { BadRequest, type Clock, type EngineResponse, type Log, type StorageView } from '@strongroom/engine-sdk';
import type { TemplateEnvironment } from '@strongroom/go-template';
import { claimedAuth } from '../claims/claimed-auth.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { groupSeparator } from '../config/provider.ts';
import { rolesOf } from '../roles/role.ts';
import { audiencesOf, checkAudience, checkIssuer, checkSubject } from '../token/token-claims.ts';
import { checkTimes } from '../token/token-times.ts';
import { signatureRefused } from '../token/token-refused.ts';
import { verifySigned } from '../token/verify-token.ts';

export interface LoginParts {
  readonly storage: StorageView;
  readonly configs: ConfigStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly template: TemplateEnvironment;
}

export interface LoginCall {
  /** In lower case; '' for the default role. */
  readonly role: string;
  readonly jwt: string;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
}

/** @throws BadRequest for a token that the role does not accept, TokenRefused for an address, UpstreamFailed where the issuer's keys are not known */
export async function login(parts: LoginParts, call: LoginCall): Promise<EngineResponse<never>> {
  const setup = await parts.configs.required();
  const roleName = call.role === '' ? setup.config.default_role : call.role;
  if (roleName === '') throw new BadRequest('missing role');
  if (call.jwt === '') throw new BadRequest('missing token');
  const role = await rolesOf(parts.storage).get(roleName);
  const { claims } = await verifySigned(setup, call.jwt, call.signal);
  if (role?.role_type !== 'jwt') {
    parts.log.info('a login named a role that does not exist or is not of the type jwt', { role: roleName });
    throw signatureRefused('failed to verify id token signature');
  }
  requireAddress(role, call.remoteAddress);
  checkIssuer(claims, setup.issuer);
  checkSubject(claims, role.bound_subject);
  if (role.bound_audiences.length > 0) checkAudience(claims, role.bound_audiences);
  checkTimes(claims, role, parts.clock.millis() / 1_000);
  if (role.bound_audiences.length === 0 && audiencesOf(claims).length > 0) {
    throw new BadRequest('audience claim found in JWT but no audiences bound to the role');
  }
  const auth = claimedAuth({
    roleName,
    role,
    claims,
    remoteAddress: call.remoteAddress,
    groupSeparator: groupSeparator(setup.config.provider_config),
    template: parts.template,
  });
  return { auth };
}

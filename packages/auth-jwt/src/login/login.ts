import { requireAddress } from '@strongroom/auth-sdk';
import {
  BadRequest,
  EngineError,
  type Clock,
  type EngineResponse,
  type IssuedAuth,
  type Log,
  type StorageView,
} from '@strongroom/engine-sdk';
import type { TemplateEnvironment } from '@strongroom/go-template';
import type { ClaimedLogin } from '../claims/claimed-auth.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { groupSeparator } from '../config/provider.ts';
import type { Setup } from '../config/setup.ts';
import { rolesOf } from '../roles/role.ts';
import { notVerified, verifySigned } from '../token/verify-token.ts';
import { acceptToken } from './accept-token.ts';
import { identifierOf, type Replays } from './replays.ts';

export interface LoginParts {
  readonly storage: StorageView;
  readonly configs: ConfigStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly template: TemplateEnvironment;
  readonly replays: Replays;
}

export interface LoginCall {
  /** In lower case; '' for the default role. */
  readonly role: string;
  readonly jwt: string;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
}

/**
 * Without a token of the issuer, nobody learns which roles there are: an unknown role answers as a wrong signature does, after the same work.
 * @throws BadRequest for a token that the role does not accept, TokenRefused for an address, UpstreamFailed where the issuer's keys are not known
 */
export async function login(parts: LoginParts, call: LoginCall): Promise<EngineResponse<never>> {
  const setup = await parts.configs.required();
  const roleName = call.role === '' ? setup.config.default_role : call.role;
  if (roleName === '') throw new BadRequest('missing role');
  if (call.jwt === '') throw new BadRequest('missing token');
  const role = await rolesOf(parts.storage).get(roleName);
  const { claims } = await verifySigned(setup, call.jwt, call.signal);
  if (role?.role_type !== 'jwt') {
    parts.log.info('a login named a role that does not exist, or is not of the type jwt', { role: roleName });
    throw notVerified(setup);
  }
  try {
    requireAddress(role, call.remoteAddress);
    return { auth: granted(parts, call, setup, { roleName, role, claims }) };
  } catch (error) {
    if (!setup.config.hide_refusal_reasons || !(error instanceof EngineError)) throw error;
    parts.log.info('a role did not accept a token', { role: roleName, error });
    throw notVerified(setup);
  }
}

function granted(
  { clock, replays, template }: LoginParts,
  { remoteAddress }: LoginCall,
  { config, issuer }: Setup,
  { roleName, role, claims }: Pick<ClaimedLogin, 'roleName' | 'role' | 'claims'>,
): IssuedAuth {
  const { auth, expires } = acceptToken({
    roleName,
    role,
    claims,
    issuer,
    now: clock.millis() / 1_000,
    remoteAddress,
    groupSeparator: groupSeparator(config.provider_config),
    template,
  });
  if (!role.reject_replays) return auth;
  const identifier = identifierOf(claims);
  return { ...auth, consume: async (tx) => replays.remember(tx, identifier, expires) };
}

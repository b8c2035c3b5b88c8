import { requireAddress } from '@strongroom/auth-sdk';
import { BadRequest, type IssuedAuth } from '@strongroom/engine-sdk';
import { claimedAuth } from '../claims/claimed-auth.ts';
import { groupSeparator } from '../config/provider.ts';
import type { Setup } from '../config/setup.ts';
import { rolesOf, type Role } from '../roles/role.ts';
import { providerOf } from './begin-login.ts';
import type { Flow, ProvenLogin } from './flow.ts';
import type { OidcParts } from './oidc-parts.ts';
import { loginFailed, noSuchFlow } from './refusals.ts';

/** What a flow needs to go on, as it is now. */
export interface LoginInProgress {
  readonly setup: Setup;
  readonly role: Role;
  readonly flow: Flow;
}

/** @throws BadRequest where the configuration or the role are others than when the login began */
export async function resume(parts: OidcParts, flow: Flow): Promise<LoginInProgress> {
  const setup = await parts.configs.required();
  if (flow.provider !== providerOf(setup)) throw noSuchFlow();
  const role = await rolesOf(parts.storage).get(flow.role);
  if (role?.role_type !== 'oidc' || role.callback_mode !== flow.mode) throw loginFailed('Role could not be found.');
  return { setup, role, flow };
}

/**
 * The token that a proven login gets.
 * @throws BadRequest where the role does not accept the claims, TokenRefused for the address
 */
export function grantLogin(
  parts: OidcParts,
  { setup, role, flow }: LoginInProgress,
  proven: ProvenLogin,
  remoteAddress: string,
): IssuedAuth {
  requireAddress(role, remoteAddress);
  const { template, log } = parts;
  const { claims } = proven;
  if (role.verbose_oidc_logging) log.debug('the claims of a login', { role: flow.role, claims });
  try {
    const separator = groupSeparator(setup.config.provider_config);
    const auth = claimedAuth({ roleName: flow.role, role, claims, remoteAddress, groupSeparator: separator, template });
    return { ...auth, metadata: { ...auth.metadata, ...proven.metadata } };
  } catch (error) {
    throw error instanceof BadRequest ? loginFailed(error.message) : error;
  }
}

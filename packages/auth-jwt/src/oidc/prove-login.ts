import { BadRequest, own, UpstreamFailed } from '@strongroom/engine-sdk';
import type { Setup } from '../config/setup.ts';
import type { JsonObject } from '../json/json-pointer.ts';
import { isNumber } from '../json/json-value.ts';
import type { Role } from '../roles/role.ts';
import { checkAudience, checkSubject } from '../token/token-claims.ts';
import { verifyIdToken } from '../token/verify-token.ts';
import type { Flow, ProvenLogin } from './flow.ts';
import type { OidcParts } from './oidc-parts.ts';
import type { Provider, ProviderTokens } from './provider.ts';
import { verificationFailed } from './refusals.ts';

export interface LoginToProve {
  readonly setup: Setup;
  readonly provider: Provider;
  readonly role: Role;
  readonly flow: Flow;
  readonly signal: AbortSignal;
}

/** Claims by which an ID token says what it is. Userinfo, which nobody has signed, does not replace them. */
const OF_THE_TOKEN = new Set([
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'nonce',
  'azp',
  'auth_time',
  'acr',
  'amr',
  'at_hash',
  'c_hash',
]);

/** Seconds by which the clocks of the provider and of this server may differ, where the role does not say. */
const USUAL_SKEW = 60;

/** Verifies the tokens of the token endpoint, and asks for userinfo. @throws BadRequest, UpstreamFailed */
export async function proveTokens(parts: OidcParts, login: LoginToProve, tokens: ProviderTokens): Promise<ProvenLogin> {
  const claims = await proveIdToken(parts, login, tokens.idToken);
  const more = await userinfo(parts, login, tokens.accessToken, claims);
  const known = { access_token: tokens.accessToken, id_token: tokens.idToken, refresh_token: tokens.refreshToken };
  return { claims: { ...claims, ...more }, metadata: wantedTokens(login.role, known) };
}

/** Verifies an ID token that came with the browser. @throws BadRequest, UpstreamFailed */
export async function proveAnswer(parts: OidcParts, login: LoginToProve, idToken: string): Promise<ProvenLogin> {
  return { claims: await proveIdToken(parts, login, idToken), metadata: wantedTokens(login.role, { id_token: idToken }) };
}

/** Every flow verifies its ID token in this one way. */
async function proveIdToken(parts: OidcParts, { setup, role, flow, signal }: LoginToProve, idToken: string): Promise<JsonObject> {
  const now = parts.clock.millis() / 1_000;
  const { oidc_client_id: audience } = setup.config;
  const nonce = flow.mode === 'device' ? {} : { nonce: flow.nonce };
  try {
    const { claims } = await verifyIdToken(setup, idToken, { audience, ...nonce, leeways: role, now, signal });
    checkParty(claims, audience);
    checkSubject(claims, role.bound_subject);
    if (role.bound_audiences.length > 0) checkAudience(claims, role.bound_audiences);
    if (role.max_age > 0) checkAge(claims, role, now);
    return claims;
  } catch (error) {
    throw error instanceof BadRequest ? verificationFailed(error.message) : error;
  }
}

/** OpenID Connect Core 3.1.3.7: an ID token for several audiences says which of them asked for it. */
function checkParty(claims: JsonObject, client: string): void {
  const party = own(claims, 'azp');
  if (party !== undefined && party !== client) throw new BadRequest('invalid authorized party (azp) claim');
  if (typeof own(claims, 'sub') !== 'string' || own(claims, 'sub') === '') throw new BadRequest('missing subject (sub) claim');
}

function checkAge(claims: JsonObject, { max_age: maxAge, clock_skew_leeway: leeway }: Role, now: number): void {
  const time = own(claims, 'auth_time');
  if (!isNumber(time)) throw new BadRequest('missing authentication time (auth_time) claim, and the role has a max_age');
  const skew = leeway === 0 ? USUAL_SKEW : Math.max(0, leeway);
  if (Number(time) + maxAge + skew < now) throw new BadRequest('the login at the provider is older than the max_age of the role');
}

/** A failure is logged, and leaves the claims of the ID token. */
async function userinfo(
  parts: OidcParts,
  { provider, signal }: LoginToProve,
  accessToken: string,
  claims: JsonObject,
): Promise<JsonObject> {
  try {
    const found = await provider.userinfo(accessToken, String(own(claims, 'sub')));
    return Object.fromEntries(Object.entries(found).filter(([name]) => !OF_THE_TOKEN.has(name)));
  } catch (error) {
    signal.throwIfAborted();
    const outage = error instanceof UpstreamFailed;
    parts.log.warn('the userinfo response could not be used; only the claims of the ID token are used', { error, outage });
    return {};
  }
}

function wantedTokens({ oauth2_metadata: wanted }: Role, tokens: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    wanted.flatMap((name) => {
      const token = own(tokens, name);
      return token === undefined ? [] : [[`oauth2_${name}`, token]];
    }),
  );
}

import { BadRequest } from '@strongroom/engine-sdk';
import { createHash } from 'node:crypto';
import type { Setup } from '../config/setup.ts';
import { rolesOf, type Role } from '../roles/role.ts';
import type { BegunFlow } from './flows.ts';
import type { Flow } from './flow.ts';
import type { OidcParts } from './oidc-parts.ts';
import { Provider } from './provider.ts';
import { isAllowedRedirect, takeNamespace } from './redirect-uri.ts';

export interface BeginCall {
  /** In lower case; '' for the default role. */
  readonly role: string;
  readonly redirectUri: string;
  readonly clientNonce: string;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
}

/** What the program that begins a login gets. */
export interface BegunLogin {
  /** The page to open; '' where the role does not exist or does not allow the redirect. */
  readonly auth_url: string;
  /** What a poll names the login by. */
  readonly state?: string;
  /** Seconds. */
  readonly poll_interval?: string;
  readonly user_code?: string;
}

const SECONDS_BETWEEN_POLLS = 5;
/** Characters. Both are stored for everybody who asks. */
const LONGEST = { redirect_uri: 2_048, client_nonce: 512 };

/** @throws BadRequest naming what is missing, TooManyRequests, and what asking the provider throws */
export async function beginLogin(parts: OidcParts, call: BeginCall): Promise<BegunLogin> {
  const setup = await parts.configs.required();
  requireShort('redirect_uri', call.redirectUri);
  requireShort('client_nonce', call.clientNonce);
  if (setup.config.oidc_client_id === '') throw new BadRequest('OIDC login is not configured for this mount');
  const name = call.role === '' ? setup.config.default_role : call.role;
  if (name === '') throw new BadRequest('missing role');
  const found = await rolesOf(parts.storage).get(name);
  const role = found?.role_type === 'oidc' ? found : undefined;
  if (role?.callback_mode !== 'device' && call.redirectUri === '') throw new BadRequest('missing redirect_uri');
  if (role && role.callback_mode !== 'client' && call.clientNonce === '') throw new BadRequest('missing client_nonce');
  const provider = await Provider.open({ ...parts, setup, signal: call.signal });
  const flow = {
    mode: role?.callback_mode ?? ('client' as const),
    role: name,
    provider: providerOf(setup),
    redirect_uri: call.redirectUri,
    nonce: parts.flows.newNonce(),
    code_verifier: '',
    client_nonce: call.clientNonce,
    begun_from: call.remoteAddress,
  };
  if (role?.callback_mode === 'device') return beginDevice(parts, provider, role, flow);
  const { uri, namespace } = takeNamespace(call.redirectUri);
  if (!role || !isAllowedRedirect(uri, role.allowed_redirect_uris)) {
    // One answer for both: it does not tell which roles there are.
    parts.log.info('a login at the provider was not begun: no such role, or redirect_uri is none of its allowed_redirect_uris', {
      role: name,
      redirect_uri: uri,
    });
    return { auth_url: '' };
  }
  return beginWithBrowser(parts, provider, { setup, role, namespace, flow: { ...flow, redirect_uri: uri } });
}

function requireShort(field: keyof typeof LONGEST, text: string): void {
  if (text.length > LONGEST[field]) throw new BadRequest(`${field} is longer than ${LONGEST[field]} characters`);
}

/** The provider and the client of a configuration, in one text. */
export function providerOf({ config }: Setup): string {
  return createHash('sha256')
    .update(JSON.stringify([config.oidc_discovery_url, config.oidc_client_id]))
    .digest('base64url');
}

interface BrowserLogin {
  readonly setup: Setup;
  readonly role: Role;
  readonly namespace: string;
  readonly flow: Omit<Flow, 'begun' | 'expires'>;
}

async function beginWithBrowser(parts: OidcParts, provider: Provider, { setup, role, namespace, flow }: BrowserLogin): Promise<BegunLogin> {
  const { config } = setup;
  parts.flows.admit(flow.begun_from);
  const withIdToken = config.oidc_response_types.includes('id_token');
  const verifier = withIdToken ? '' : Buffer.from(parts.randomBytes(32)).toString('base64url');
  const state = parts.flows.newState();
  const url = provider.authorizationUrl({
    redirect_uri: flow.redirect_uri,
    response_type: withIdToken ? 'id_token' : 'code',
    scope: scopeOf(role),
    state: namespace !== '' && config.namespace_in_state ? `${state},ns=${namespace}` : state,
    nonce: flow.nonce,
    ...(config.oidc_response_mode === 'form_post' ? { response_mode: 'form_post' } : {}),
    ...(verifier === '' ? {} : { code_challenge: await provider.challengeOf(verifier), code_challenge_method: 'S256' }),
    ...(role.max_age > 0 ? { max_age: String(role.max_age) } : {}),
  });
  await parts.flows.begin({ ...flow, code_verifier: verifier }, state);
  return { auth_url: url, ...(flow.mode === 'client' ? {} : polled(role, { state })) };
}

async function beginDevice(parts: OidcParts, provider: Provider, role: Role, flow: Omit<Flow, 'begun' | 'expires'>): Promise<BegunLogin> {
  // The provider is asked only for logins that may begin: anybody can begin one.
  parts.flows.admit(flow.begun_from);
  const device = await provider.beginDevice(scopeOf(role));
  const begun = await parts.flows.begin({ ...flow, device_code: device.deviceCode });
  return { auth_url: device.page, user_code: device.userCode, ...polled(role, begun, device.interval) };
}

function polled(
  role: Role,
  { state }: Pick<BegunFlow, 'state'>,
  interval = SECONDS_BETWEEN_POLLS,
): Pick<BegunLogin, 'state' | 'poll_interval'> {
  return { state, poll_interval: String(role.poll_interval > 0 ? role.poll_interval : interval) };
}

function scopeOf(role: Role): string {
  return [...new Set(['openid', ...role.oidc_scopes])].join(' ');
}

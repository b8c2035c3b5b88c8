import { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import { send } from '../../api/send.ts';
import { answerOf, type LoginAnswer } from './send-login.ts';
import type { LoginMethod } from './login-method.ts';

/** A login that was begun at an identity provider. */
export interface BegunLogin {
  /** Of the auth mount, without `auth/`: `oidc/`. */
  readonly mount: string;
  readonly state: string;
  /** Proves that whoever completes the login is who began it. Never leaves this browser but to our server. */
  readonly nonce: string;
  readonly url: string;
  /** For logins that are confirmed elsewhere: the code to compare, and seconds between two polls. */
  readonly userCode: string | undefined;
  readonly pollSeconds: number | undefined;
}

/** What comes back from the provider, in the address of the callback page. */
export interface ProviderAnswer {
  readonly state: string;
  readonly code: string;
  readonly iss: string;
  readonly error: string;
  readonly error_description: string;
}

/** A login that leaves the page, kept in the tab until it comes back: nothing in it is a token. */
interface Kept {
  readonly mount: string;
  readonly nonce: string;
  readonly to: string;
  readonly popup: boolean;
  readonly begun: number;
}

const PLACE = 'strongroom-oidc-';
/** How long the server keeps a login that was begun. Milliseconds. */
const LIFETIME = 600_000;

/** Begins a login. The address to come back to is ours, or the one that users of other consoles have registered. @throws ApiError */
export async function beginOidc(method: LoginMethod, role: string): Promise<BegunLogin> {
  const path = apiPath('auth', method.path.replace(/\/$/, ''), 'oidc', 'auth_url');
  const nonce = randomText();
  for (const redirect of redirectsOf(method)) {
    const body = { role, redirect_uri: redirect, client_nonce: nonce };
    const { data } = await send<{ auth_url: string; state?: string; user_code?: string; poll_interval?: string }>('POST', path, {
      body,
      token: null,
    });
    if (data.auth_url === '') continue;
    const url = webAddress(data.auth_url);
    if (url === undefined) throw refusal(path, 'The identity provider has no address that a browser may open.');
    const state = data.state ?? url.searchParams.get('state') ?? '';
    return {
      mount: method.path,
      state,
      nonce,
      url: url.href,
      userCode: data.user_code,
      pollSeconds: data.poll_interval === undefined ? undefined : Math.max(1, Number(data.poll_interval) || 5),
    };
  }
  throw refusal(
    path,
    `The server does not begin this login: the role does not exist, or its allowed_redirect_uris lack ${redirectsOf(method)[0]!}`,
  );
}

/** Keeps what the callback page needs. */
export function keepOidc({ state, mount, nonce }: BegunLogin, { to, popup }: { readonly to: string; readonly popup: boolean }): void {
  const kept: Kept = { mount, nonce, to, popup, begun: Date.now() };
  sessionStorage.setItem(PLACE + state, JSON.stringify(kept));
}

/** Takes it out: a login completes once. Undefined for a login that this tab has not begun, or that is too old. */
export function takeOidc(state: string): Kept | undefined {
  const text = sessionStorage.getItem(PLACE + state);
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(PLACE) && (key === PLACE + state || isOld(sessionStorage.getItem(key)!))) sessionStorage.removeItem(key);
  }
  return text === null || isOld(text) ? undefined : (JSON.parse(text) as Kept);
}

function isOld(text: string): boolean {
  return Date.now() - (JSON.parse(text) as Kept).begun > LIFETIME;
}

/** Exchanges the provider's answer for a token. @throws ApiError */
export async function completeOidc({ mount, nonce }: Pick<Kept, 'mount' | 'nonce'>, answer: ProviderAnswer): Promise<LoginAnswer> {
  const path = apiPath('auth', mount.replace(/\/$/, ''), 'oidc', 'callback');
  if (answer.error !== '') {
    throw refusal(path, `The identity provider refused the login: ${answer.error_description || answer.error}`);
  }
  const { state, code, iss } = answer;
  const query = { state, code, client_nonce: nonce, ...(iss === '' ? {} : { iss }) };
  return answerOf(path, (await send('GET', path, { query, token: null })).auth);
}

/** Asks once whether a login that is confirmed elsewhere is complete; undefined while it is not. @throws ApiError */
export async function pollOidc({ mount, state, nonce }: BegunLogin): Promise<LoginAnswer | 'waiting' | 'slower'> {
  const path = apiPath('auth', mount.replace(/\/$/, ''), 'oidc', 'poll');
  try {
    return answerOf(path, (await send('POST', path, { body: { state, client_nonce: nonce }, token: null })).auth);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const text = error.errors.join(' ');
    if (text.includes('slow_down')) return 'slower';
    if (text.includes('authorization_pending') || error.status === 0 || error.status === 503) return 'waiting';
    throw error;
  }
}

/** A channel of one login between its two windows. */
export function channelOf(state: string): BroadcastChannel {
  return new BroadcastChannel(PLACE + state);
}

function redirectsOf({ path }: LoginMethod): string[] {
  return [`${location.origin}/ui/login/callback`, `${location.origin}/ui/vault/auth/${path}oidc/callback`];
}

/** Addresses come from the server's configuration, so only those of the web are opened. */
function webAddress(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

function refusal(path: string, sentence: string): ApiError {
  return new ApiError({ status: 400, errors: [sentence], method: 'POST', path });
}

function randomText(): string {
  return [...crypto.getRandomValues(new Uint8Array(20))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

import { randomBytes } from 'node:crypto';
import { EXIT, Failure } from '../../failure.ts';
import type { JsonRecord } from '../../json.ts';
import type { Secret } from '../../secret.ts';
import type { LoginCall, LoginMethod } from '../login-method.ts';
import { CallbackListener, type Callback } from './callback-listener.ts';
import { readSettings, type OidcSettings } from './oidc-settings.ts';
import { pollLogin } from './poll-login.ts';
import { showAddress } from './show-address.ts';
import { untilInterrupted } from './until-interrupted.ts';

/** Milliseconds for which the listener waits for the provider. */
const LONGEST_WAIT = 120_000;

const HELP = `Usage: strongroom login -method=oidc [CONFIG K=V...]

  Logs in at an OpenID provider with a browser. The command listens on a port of this machine for the provider's answer.
  With callbackmode=direct or device nothing listens here: the command asks the server until the login is complete.

      $ strongroom login -method=oidc role=web

Configuration:

  role=<string>
      Role to log in with. Default: the method's default role.

  mount=<string>
      Where the method is mounted. Default: -path, or oidc.

  listenaddress=<string>, port=<int>
      Where to listen. Default: localhost and 8250; port=0 takes a free one.

  callbackhost=<string>, callbackport=<int>, callbackmethod=<http|https>
      The address to which the provider sends the browser, where it differs: behind a forwarded port, or a proxy.
      Default: http, localhost and the port. With callbackmode=direct: those of the server's address.

  callbackmode=<client|direct|device>
      Who takes the provider's answer: this command, the server, or nobody, for a code that is typed on another device.
      It must match the role. Default: client.

  skip_browser=<bool>
      Do not open a browser; the address is printed in any case. Default: false.

  show_qr=<bool>
      Print the address as a QR code too. Default: false.

  abort_on_error=<bool>
      Fail when no browser can be opened, instead of waiting for you to open the address. Default: false.`;

/** Logs in at an OpenID provider. */
export const oidcMethod: LoginMethod = {
  help: HELP,
  async login(call) {
    const settings = readSettings(call);
    if (settings.mode !== 'client') return begin(call, settings, undefined);
    const listener = await CallbackListener.open(settings.listenAddress, settings.port);
    try {
      return await begin(call, settings, listener);
    } finally {
      listener.close();
    }
  },
};

async function begin(call: LoginCall, settings: OidcSettings, listener: CallbackListener | undefined): Promise<Secret | undefined> {
  const clientNonce = randomBytes(16).toString('base64url');
  const redirectUri = settings.redirectUri(listener?.port ?? settings.port);
  const body = { role: settings.role, redirect_uri: redirectUri, client_nonce: clientNonce };
  const answer = await call.client.secret('PUT', `auth/${settings.mount}/oidc/auth_url`, { body, unwrapped: true });
  const data: JsonRecord = answer?.data ?? {};
  const address = pageAddress(data['auth_url'], settings.role, redirectUri);
  const { state } = data;
  if (typeof state === 'string') {
    await showAddress(call.io, settings, address, data['user_code']);
    return pollLogin(call, { ...settings, state, clientNonce, seconds: Number(data['poll_interval'] ?? 5) });
  }
  if (!listener) throw new Failure(`The role does not use callbackmode=${settings.mode}: leave it out`, EXIT.local);
  const callback = listener.receive(address.searchParams.get('state') ?? '', (received) =>
    complete(call, settings.mount, clientNonce, received),
  );
  // The user may be faster than the browser that this command opens.
  callback.catch(() => undefined);
  return untilInterrupted(call.io, async (signal) => {
    await showAddress(call.io, settings, address, undefined);
    return Promise.race([callback, tooLate(call, signal)]);
  });
}

/** The address to open. What a server answers is not opened as a file, or as anything else that is no web page. */
function pageAddress(value: unknown, role: string, redirectUri: string): URL {
  if (typeof value !== 'string' || value === '') {
    throw new Failure(
      `Unable to authorize role ${JSON.stringify(role)} with redirect_uri ${JSON.stringify(redirectUri)}: ` +
        'there is no such role, or redirect_uri is none of its allowed_redirect_uris. The log of the server says more.',
      EXIT.remote,
    );
  }
  const address = URL.canParse(value) ? new URL(value) : undefined;
  if (address?.protocol !== 'https:' && address?.protocol !== 'http:') {
    throw new Failure('The server answered with an address that is no web page', EXIT.remote);
  }
  return address;
}

/** Passes the provider's answer on to the server, which completes the login. */
async function complete(call: LoginCall, mount: string, clientNonce: string, { fields, posted }: Callback): Promise<Secret | undefined> {
  const path = `auth/${mount}/oidc/callback`;
  const text = (name: string): string | undefined => fields.get(name) ?? undefined;
  // The server names a state without the namespace that it put behind it.
  const state = text('state')?.split(',ns=')[0];
  if (posted)
    await call.client.call('POST', path, {
      body: { state, code: text('code'), id_token: text('id_token'), iss: text('iss') },
      unwrapped: true,
    });
  const query = {
    state,
    code: text('code') ?? (posted ? 'no_code' : undefined),
    client_nonce: clientNonce,
    iss: text('iss'),
    error: text('error'),
    error_description: text('error_description'),
  };
  return call.client.read(path, query);
}

async function tooLate({ sleep }: LoginCall, signal: AbortSignal): Promise<never> {
  await sleep(LONGEST_WAIT, signal);
  throw new Failure('Timed out waiting for response from provider', EXIT.remote);
}

import { AnyAnswer, type AnyPath, f, IssuedToken, path, rawAnswer, Refusal } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { beginLogin } from './begin-login.ts';
import { callback, receiveForm, type CallbackCall } from './callback.ts';
import type { OidcParts } from './oidc-parts.ts';
import { poll } from './poll.ts';

const BegunLogin = Type.Object({
  auth_url: Type.String(),
  state: Type.Optional(Type.String()),
  poll_interval: Type.Optional(Type.String()),
  user_code: Type.Optional(Type.String()),
});

const Page = rawAnswer('text/html; charset=utf-8');
/** A browser reads how the login went, whatever the status. */
const pages = { 200: Page, 400: Page, 403: Page, 404: Page, 429: Page, 500: Page, 502: Page, 503: Page };

const answerFields = {
  state: f.secret('The state parameter of the login.', { default: '' }),
  code: f.secret('The authorization code from the provider.', { default: '' }),
  id_token: f.secret('The ID token, if the provider posts one.', { default: '' }),
  client_nonce: f.secret('The client_nonce that was sent to oidc/auth_url.', { default: '' }),
  iss: f.string('The issuer parameter from the provider (RFC 9207). If present, it must be the configured issuer.', { default: '' }),
  browser_key: f.secret('With callback_mode=direct and form_post: the key of the browser that posted the response.', { default: '' }),
  error: f.string('The error code from the provider.', { default: '' }),
  error_description: f.string('The error description from the provider. Ignored.', { default: '' }),
  confirmation: f.string('Any value, after the user has confirmed a login with callback_mode=direct.', { default: '' }),
  nonce: f.secret('Ignored. Some clients send it.', { default: '' }),
} as const;

/** Logins of people at the OpenID provider of the configuration. */
export function oidcPaths(parts: OidcParts): AnyPath[] {
  return [
    path('oidc/auth_url', {
      synopsis: 'Start a login at the OpenID provider.',
      description:
        'Returns the page of the provider to open in a browser. auth_url is empty if the role does not exist or does not allow the redirect_uri. ' +
        'With callback_mode=direct or device, the response also contains a state for oidc/poll.',
      access: 'unauthenticated',
      fields: {
        role: f.lowercase('Name of the role. Default: default_role of the configuration.', { default: '' }),
        redirect_uri: f.string('The address to which the provider redirects the browser: one of allowed_redirect_uris of the role.', {
          default: '',
        }),
        client_nonce: f.secret('A random string that the client keeps secret. The client must send it again to complete the login.', {
          default: '',
        }),
      },
    }).update({
      summary: 'Start a login.',
      response: BegunLogin,
      handle: async (req) => {
        const { role, redirect_uri: redirectUri, client_nonce: clientNonce } = req.data;
        const { remoteAddress } = req.caller;
        return { data: await beginLogin(parts, { role, redirectUri, clientNonce, remoteAddress, signal: req.signal }) };
      },
    }),
    path('oidc/callback', {
      synopsis: 'Complete a login at the OpenID provider.',
      description:
        'Receives the response of the provider and returns a token. With callback_mode=direct, it returns a page for the browser, and oidc/poll returns the token.',
      login: 'uncounted',
      // Providers add parameters of their own.
      arbitraryData: true,
      fields: answerFields,
    })
      .read({ summary: 'Complete a login.', response: AnyAnswer, answers: pages, handle: async (req) => callback(parts, callOf(req)) })
      .update({
        summary: 'Receive the form_post response of the provider.',
        response: AnyAnswer,
        answers: { ...pages, 405: Refusal },
        handle: async (req) => receiveForm(parts, callOf(req)),
      }),
    path('oidc/poll', {
      synopsis: 'Poll for the token of a login.',
      description:
        'For roles with callback_mode=direct or device. Returns a token when the login is complete. Until then, it returns 400 with authorization_pending, or with ' +
        'slow_down if the provider asks for fewer polls.',
      login: 'uncounted',
      fields: {
        state: f.secret('The state that oidc/auth_url returned.', { default: '' }),
        client_nonce: f.secret('The client_nonce that was sent to oidc/auth_url.', { default: '' }),
      },
    }).update({
      summary: 'Poll for the token.',
      response: IssuedToken,
      handle: async (req) => {
        const { state, client_nonce: clientNonce } = req.data;
        return poll(parts, { state, clientNonce, remoteAddress: req.caller.remoteAddress, signal: req.signal });
      },
    }),
  ];
}

interface CallbackRequest {
  readonly data: { readonly [Name in keyof typeof answerFields]: string };
  readonly caller: { readonly remoteAddress: string };
  readonly signal: AbortSignal;
}

function callOf(req: CallbackRequest): CallbackCall {
  const { state, code, id_token: idToken, client_nonce: clientNonce, iss: issuer, browser_key: browserKey, error, confirmation } = req.data;
  const { remoteAddress } = req.caller;
  const confirmed = confirmation !== '';
  return { state, code, idToken, clientNonce, issuer, browserKey, error, confirmed, remoteAddress, signal: req.signal };
}

import { f, path, type AnyPath } from '@strongroom/engine-sdk';
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

const answerFields = {
  state: f.secret('The state of the login, as the provider sends it back.', { default: '' }),
  code: f.secret('The code that the provider hands out.', { default: '' }),
  id_token: f.secret('The ID token, where the provider posts one.', { default: '' }),
  client_nonce: f.secret('The client_nonce with which the login was begun.', { default: '' }),
  iss: f.string('The issuer that the provider answers as (RFC 9207). Must be that of the configuration, where it is sent.', {
    default: '',
  }),
  browser_key: f.secret('In the mode direct with form_post: what the browser was given that posted the answer.', { default: '' }),
  error: f.string('Why the provider refuses the login.', { default: '' }),
  error_description: f.string('The same in words. Ignored.', { default: '' }),
  confirmation: f.string('Any text, once the person has confirmed a login in the mode direct.', { default: '' }),
  nonce: f.secret('Ignored. Some clients send it.', { default: '' }),
} as const;

/** Logins of people at the OpenID provider of the configuration. */
export function oidcPaths(parts: OidcParts): AnyPath[] {
  return [
    path('oidc/auth_url', {
      synopsis: 'Begin a login at the OpenID provider.',
      description:
        'Answers with the page of the provider to open in a browser. The answer is empty for a role that does not exist, and for a redirect_uri that the ' +
        'role does not allow. With a role of callback_mode direct or device, the answer has a state to poll oidc/poll with.',
      access: 'unauthenticated',
      fields: {
        role: f.lowercase('Name of the role. Default: default_role of the configuration.', { default: '' }),
        redirect_uri: f.string('Where the provider sends the browser back to: one of allowed_redirect_uris of the role.', { default: '' }),
        client_nonce: f.secret('A random text that only the program knows that begins the login. It must be shown to complete it.', {
          default: '',
        }),
      },
    }).update({
      summary: 'Begin a login.',
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
        'Takes what the provider sends back with the browser. Answers with a token of this server; in the mode direct with a page, and oidc/poll gets the token.',
      login: 'uncounted',
      // Providers add parameters of their own.
      arbitraryData: true,
      fields: answerFields,
    })
      .read({ summary: 'Complete a login.', handle: async (req) => callback(parts, callOf(req)) })
      .update({
        summary: 'Take what the provider posts (form_post), before the callback by GET.',
        handle: async (req) => receiveForm(parts, callOf(req)),
      }),
    path('oidc/poll', {
      synopsis: 'Ask whether a login is complete.',
      description:
        'For roles of callback_mode direct and device. Answers with a token of this server; until then 400 with authorization_pending, or slow_down if the ' +
        'provider wants fewer polls.',
      login: 'uncounted',
      fields: {
        state: f.secret('The state in the answer of oidc/auth_url.', { default: '' }),
        client_nonce: f.secret('The client_nonce with which the login was begun.', { default: '' }),
      },
    }).update({
      summary: 'Ask for the login.',
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

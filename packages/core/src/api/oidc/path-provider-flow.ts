import { type AnyPath, type EngineRequest, type EngineResponse, f, path, rawAnswer, Seconds } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { internalOf } from '../../services/caller/internal-request.ts';
import type { TokenRecord } from '../../services/tokens/token-record.ts';
import { OAuthRefusal, type OAuthCode } from '../../services/oidc/oauth-refusal.ts';
import type { ProviderFlow } from '../../services/oidc/provider-flow.ts';
import { rawJson } from './raw-json.ts';

const nameField = f.name('Name of the provider.');
const text = (description: string) => f.string(description, { default: '' });

const authorizationFields = {
  name: nameField,
  client_id: text('Id of the client that asks.'),
  redirect_uri: text('Where the code will be sent: one of those of the client.'),
  response_type: text('code.'),
  scope: text('Names of scopes, separated by spaces, with openid among them.'),
  state: text('Returned as it is.'),
  nonce: text('Returned in the identity token.'),
  max_age: text('Seconds since the login after which the person must log in again.'),
  code_challenge: text('PKCE: made of the verifier that the client will show. Public clients must send it.'),
  code_challenge_method: text('S256, or plain, which is the default.'),
  request: text('Not supported.'),
  request_uri: text('Not supported.'),
};

const CodeAnswer = rawAnswer('application/json', Type.Object({ code: Type.String({ secret: true }), state: Type.Optional(Type.String()) }));
const TokenAnswer = rawAnswer(
  'application/json',
  Type.Object({
    token_type: Type.String(),
    access_token: Type.String({ secret: true }),
    id_token: Type.String({ secret: true }),
    expires_in: Seconds,
  }),
);
const ClaimsAnswer = rawAnswer('application/json', Type.Record(Type.String(), Type.Unknown()));

/** A refusal, as OAuth writes it. */
const Refused = rawAnswer(
  'application/json',
  Type.Object({ error: Type.String(), error_description: Type.String(), state: Type.Optional(Type.String()) }),
);

/** Statuses of refusals, where they are not 400. */
const TOKEN_STATUS: Partial<Record<OAuthCode, number>> = { invalid_client: 401 };
const USERINFO_STATUS: Partial<Record<OAuthCode, number>> = { invalid_token: 401, access_denied: 403 };

/** `identity/oidc/provider/<name>/authorize`, `…/token` and `…/userinfo`. Their answers are those of OAuth and OpenID Connect. */
export function providerFlowPaths({ flow }: { readonly flow: ProviderFlow }): AnyPath[] {
  const authorize = {
    response: CodeAnswer,
    answers: { 400: Refused },
    handle: async (req: EngineRequest<typeof authorizationFields>): Promise<EngineResponse<never>> => {
      const { name, state, ...request } = req.data;
      const { token } = internalOf(req);
      const shown = state === '' ? {} : { state };
      return refusable(
        async () => {
          const person = { entityId: req.caller.entityId, loggedIn: loginTimeOf(token?.record) };
          return rawJson({ code: await flow.authorize(name, request, person), ...shown });
        },
        {},
        () => ({ body: shown }),
      );
    },
  };
  const userInfo = {
    response: ClaimsAnswer,
    answers: { 400: Refused, 401: Refused, 403: Refused },
    handle: async (req: EngineRequest<{ name: typeof nameField }>): Promise<EngineResponse<never>> =>
      refusable(
        async () => rawJson(await flow.userInfo(req.data.name, bearerOf(req.headers['authorization']))),
        USERINFO_STATUS,
        ({ code, message }) =>
          code === 'access_denied' ? {} : { headers: { 'WWW-Authenticate': `Bearer error="${code}",error_description="${message}"` } },
      ),
  };

  return [
    path('oidc/provider/{name}/authorize', {
      synopsis: 'Authorize a client to log the caller in.',
      description: 'The authorization endpoint. Returns a code, which the client can exchange for tokens once, within five minutes.',
      fields: authorizationFields,
    })
      .read({ summary: 'Get a code for a client', ...authorize })
      .update({ summary: 'Get a code for a client, with the parameters in the body', ...authorize }),

    path('oidc/provider/{name}/token', {
      synopsis: 'Exchange a code for tokens.',
      description:
        'The token endpoint. A confidential client sends its secret with Basic authentication or in the body; a public client sends its PKCE verifier.',
      access: 'unauthenticated',
      fields: {
        name: nameField,
        grant_type: text('authorization_code.'),
        code: text('The code.'),
        redirect_uri: text('The redirect_uri that was sent to the authorization endpoint.'),
        client_id: text('Id of the client, unless it is in the header.'),
        client_secret: text('Secret of the client, unless it is in the header.'),
        code_verifier: text('The PKCE code verifier.'),
      },
    }).update({
      summary: 'Exchange a code for an access token and an identity token',
      response: TokenAnswer,
      answers: { 400: Refused, 401: Refused },
      handle: async ({ data: { name, ...request }, headers }) =>
        refusable(
          async () => {
            const credentials = basicCredentials(headers['authorization']);
            return rawJson(await flow.exchange(name, { ...request, ...credentials }), { headers: { Pragma: 'no-cache' } });
          },
          TOKEN_STATUS,
          ({ code }) => ({ headers: { Pragma: 'no-cache', ...(code === 'invalid_client' ? { 'WWW-Authenticate': 'Basic' } : {}) } }),
        ),
    }),

    path('oidc/provider/{name}/userinfo', {
      synopsis: 'Read the claims of the person who logged in.',
      description: 'The userinfo endpoint. Send the access token as a Bearer token.',
      access: 'unauthenticated',
      fields: { name: nameField },
    })
      .read({ summary: 'Read the claims', ...userInfo })
      .update({ summary: 'Read the claims by POST', ...userInfo }),
  ];
}

/** When the person logged in. A token that was made by another one does not say, and may be made at any time after. */
function loginTimeOf(record: Pick<TokenRecord, 'path' | 'created'> | undefined): number {
  return !record || record.path.startsWith('auth/token/') ? 0 : record.created;
}

/** Answers a refusal as OAuth does. `more`: what else the body and the headers say. */
async function refusable(
  work: () => Promise<EngineResponse<never>>,
  statuses: Partial<Record<OAuthCode, number>>,
  more: (refusal: OAuthRefusal) => { readonly body?: object; readonly headers?: Readonly<Record<string, string>> },
): Promise<EngineResponse<never>> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OAuthRefusal)) throw error;
    const { body, headers } = more(error);
    return rawJson(
      { error: error.code, error_description: error.message, ...body },
      { status: statuses[error.code] ?? 400, ...(headers ? { headers } : {}) },
    );
  }
}

type Header = string | readonly string[] | undefined;

/** @throws OAuthRefusal */
function bearerOf(header: Header): string {
  const found = typeof header === 'string' ? /^bearer +(\S+) *$/i.exec(header) : undefined;
  if (!found) throw new OAuthRefusal('invalid_token', 'access token must be sent as a Bearer token');
  return found[1]!;
}

/** Undefined where there is no such header. @throws OAuthRefusal for one that does not hold an id and a secret */
function basicCredentials(header: Header): { client_id: string; client_secret: string } | undefined {
  const found = typeof header === 'string' ? /^basic +(\S+) *$/i.exec(header) : undefined;
  if (!found) return undefined;
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(found[1]!, 'base64').toString()) ?? [];
  if (!id || secret === undefined) throw new OAuthRefusal('invalid_client', 'client failed to authenticate');
  return { client_id: formDecoded(id), client_secret: formDecoded(secret) };
}

/** OAuth wants both encoded like fields of a form before Basic encodes them. @throws OAuthRefusal */
function formDecoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    throw new OAuthRefusal('invalid_client', 'client failed to authenticate');
  }
}

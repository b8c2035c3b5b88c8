import { claimsOf, type Grants } from './grants.ts';
import { oauthError, type Person, type ProviderAnswer, type ProviderParts } from './provider-parts.ts';

/** The authorization endpoint: checks the request, asks the person, and sends the browser back. */
export async function authorize(parts: ProviderParts, grants: Grants, person: Person, query: URLSearchParams): Promise<ProviderAnswer> {
  const get = (name: string): string | undefined => query.get(name) ?? undefined;
  const redirectUri = get('redirect_uri');
  if (get('client_id') !== parts.client.id) return oauthError('unauthorized_client');
  if (redirectUri === undefined || !isRegistered(parts, redirectUri))
    return oauthError('invalid_request', 'redirect_uri is not registered');
  const type = get('response_type');
  const state = get('state');
  const mode = get('response_mode') ?? (type === 'id_token' ? 'fragment' : 'query');
  const back = (fields: Record<string, string>): ProviderAnswer =>
    sendBack(redirectUri, mode, { ...fields, ...(state === undefined ? {} : { state }) });
  const problem = problemOf(query, type, mode);
  if (problem !== undefined) return back({ error: problem[0], error_description: problem[1] });
  if (!person.consents || get('login_hint') === 'deny') return back({ error: 'access_denied' });
  const grant = {
    claims: claimsOf(person),
    nonce: get('nonce'),
    authTime: get('max_age') === undefined ? undefined : parts.now(),
  };
  if (type === 'id_token') return back({ id_token: await grants.idToken(grant) });
  return back({ code: grants.code({ ...grant, redirectUri, challenge: get('code_challenge') }) });
}

function problemOf(query: URLSearchParams, type: string | undefined, mode: string): [error: string, description: string] | undefined {
  if (type !== 'code' && type !== 'id_token') return ['unsupported_response_type', String(type)];
  if (!(query.get('scope') ?? '').split(' ').includes('openid')) return ['invalid_scope', 'openid is missing'];
  if (mode !== 'query' && mode !== 'form_post') return ['invalid_request', `response_mode ${mode}`];
  if (type === 'id_token' && mode === 'query') return ['invalid_request', 'an ID token does not go into a query'];
  if (type === 'id_token' && !query.get('nonce')) return ['invalid_request', 'nonce is missing'];
  const challenge = query.get('code_challenge');
  if (challenge === null) return undefined;
  if (query.get('code_challenge_method') !== 'S256') return ['invalid_request', 'code_challenge_method is not S256'];
  if (!/^[\w-]{43}$/.test(challenge)) return ['invalid_request', 'code_challenge is not a digest'];
  return undefined;
}

function isRegistered({ client }: ProviderParts, uri: string): boolean {
  return client.redirectUris.length === 0 || client.redirectUris.map(withoutPort).includes(withoutPort(uri));
}

/** RFC 8252: the port of a loopback address is chosen by the application when it starts. */
function withoutPort(uri: string): string {
  return uri.replace(/^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d+/, '$1');
}

function sendBack(redirectUri: string, mode: string, fields: Record<string, string>): ProviderAnswer {
  const target = new URL(redirectUri);
  if (mode !== 'form_post') {
    for (const [name, value] of Object.entries(fields)) target.searchParams.set(name, value);
    return { status: 302, headers: { Location: target.href } };
  }
  const safe = (text: string): string => text.replace(/[&"<>]/g, (letter) => `&#${letter.charCodeAt(0)};`);
  const inputs = Object.entries(fields).map(([name, value]) => `<input type="hidden" name="${safe(name)}" value="${safe(value)}">`);
  return {
    status: 200,
    body: `<body onload="document.forms[0].submit()"><form method="post" action="${safe(target.href)}">${inputs.join('')}</form>`,
  };
}

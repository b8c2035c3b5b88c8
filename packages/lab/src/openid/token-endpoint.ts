import { claimsOf, DEVICE_INTERVAL, type Grants } from './grants.ts';
import { oauthError, type Person, type ProviderAnswer, type ProviderParts } from './provider-parts.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** A request to an endpoint that only the client may use. */
export interface ClientRequest {
  readonly authorization: string | undefined;
  readonly form: URLSearchParams;
}

/** The token endpoint: redeems codes and device codes of the authenticated client. `refusals` are answered to polls of a device before all else. */
export async function redeem(
  parts: ProviderParts,
  grants: Grants,
  person: Person,
  request: ClientRequest,
  refusals: string[],
): Promise<ProviderAnswer> {
  if (!isClient(parts, request)) return refusedClient();
  const { form } = request;
  switch (form.get('grant_type')) {
    case 'authorization_code': {
      const grant = grants.redeem(form.get('code') ?? '', form.get('redirect_uri') ?? '', form.get('code_verifier') ?? undefined);
      if (typeof grant === 'string') return oauthError('invalid_grant', grant);
      return { status: 200, body: await grants.tokens(grant) };
    }
    case DEVICE_GRANT:
      return redeemDevice(parts, grants, person, form.get('device_code') ?? '', refusals);
    default:
      return oauthError('unsupported_grant_type');
  }
}

async function redeemDevice(
  parts: ProviderParts,
  grants: Grants,
  person: Person,
  deviceCode: string,
  refusals: string[],
): Promise<ProviderAnswer> {
  const grant = grants.devices.get(deviceCode);
  if (!grant) return oauthError('invalid_grant');
  const now = parts.now();
  if (grant.expires <= now) return oauthError('expired_token');
  const refusal = refusals.shift();
  if (refusal !== undefined) return oauthError(refusal);
  const early = grant.lastPoll !== undefined && now - grant.lastPoll < grant.interval;
  grant.lastPoll = now;
  if (early) {
    grant.interval += DEVICE_INTERVAL;
    return oauthError('slow_down');
  }
  if (grant.state === 'pending') return oauthError('authorization_pending');
  grants.devices.delete(deviceCode);
  if (grant.state === 'denied') return oauthError('access_denied');
  return { status: 200, body: await grants.tokens({ claims: claimsOf(person) }) };
}

/** The device authorization endpoint (RFC 8628). */
export function beginDevice(parts: ProviderParts, grants: Grants, request: ClientRequest, completeUri: boolean): ProviderAnswer {
  if (!isClient(parts, request)) return refusedClient();
  if (!(request.form.get('scope') ?? '').split(' ').includes('openid')) return oauthError('invalid_scope', 'openid is missing');
  const [deviceCode, { userCode, expires, interval }] = grants.device();
  const page = `${parts.issuer}/activate`;
  return {
    status: 200,
    body: {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      ...(completeUri ? { verification_uri_complete: `${page}?user_code=${userCode}` } : {}),
      expires_in: expires - parts.now(),
      interval,
    },
  };
}

function refusedClient(): ProviderAnswer {
  return { ...oauthError('invalid_client', undefined, 401), headers: { 'WWW-Authenticate': 'Basic realm="provider"' } };
}

/** `client_secret_basic` or `client_secret_post`, not both. */
function isClient({ client }: ProviderParts, { authorization, form }: ClientRequest): boolean {
  const posted = form.get('client_secret');
  if (authorization === undefined) return form.get('client_id') === client.id && posted === client.secret;
  if (posted !== null || !authorization.startsWith('Basic ')) return false;
  const [id = '', secret = ''] = Buffer.from(authorization.slice('Basic '.length), 'base64').toString('utf8').split(':');
  const plain = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));
  return plain(id) === client.id && plain(secret) === client.secret;
}

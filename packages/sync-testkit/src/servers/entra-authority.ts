import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { matchPath, type ProviderAnswer, ProviderRefusal, type ProviderRequest } from './http-server.ts';
import { signJwt, verifyJwt } from './json-web-token.ts';

/** An app registration as the authority knows it. */
export interface AzureClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

const RESOURCE = 'https://vault.azure.net';
const TOKEN_LIFETIME = 3599;

/** Microsoft Entra ID, as far as the client-credentials flow needs it: discovery, tokens signed with RS256, and its error texts. */
export class EntraAuthority {
  readonly tenantId: string;
  readonly #key: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  readonly #clients: Map<string, AzureClient>;
  readonly #now: () => number;

  constructor(tenantId: string, clients: readonly AzureClient[], now: () => number) {
    this.tenantId = tenantId;
    this.#clients = new Map(clients.map((client) => [client.clientId, client]));
    this.#now = now;
  }

  /** The answer to a request that is the authority's; undefined for any other. `base` is the authority's own URL. */
  handle(request: ProviderRequest, base: string): ProviderAnswer | undefined {
    const discovery = matchPath('/{tenant}/v2.0/.well-known/openid-configuration', request.path);
    if (discovery !== undefined && request.method === 'GET') return this.#discover(discovery['tenant']!, base);
    const token = matchPath('/{tenant}/oauth2/v2.0/token', request.path);
    if (token !== undefined && request.method === 'POST') return this.#issue(token['tenant']!, request);
    return undefined;
  }

  /** The client id of a request's bearer token, if this authority signed it for the vault and it is still valid. */
  authenticate(authorization: string | undefined): string | undefined {
    const token = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1];
    const read = token === undefined ? undefined : verifyJwt(token, this.#key.publicKey, Math.floor(this.#now() / 1000));
    if (read === undefined || 'fault' in read) return undefined;
    const { aud, tid, appid } = read.claims;
    return aud === RESOURCE && tid === this.tenantId && typeof appid === 'string' ? appid : undefined;
  }

  /** What a vault sends with a 401. */
  challenge(base: string): string {
    return `Bearer authorization="${base}/${this.tenantId}", resource="${RESOURCE}"`;
  }

  #discover(tenant: string, base: string): ProviderAnswer {
    this.#requireTenant(tenant);
    return {
      status: 200,
      body: {
        issuer: `${base}/${tenant}/v2.0`,
        authorization_endpoint: `${base}/${tenant}/oauth2/v2.0/authorize`,
        token_endpoint: `${base}/${tenant}/oauth2/v2.0/token`,
        jwks_uri: `${base}/${tenant}/discovery/v2.0/keys`,
        token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'],
        response_types_supported: ['code', 'id_token'],
        subject_types_supported: ['pairwise'],
        id_token_signing_alg_values_supported: ['RS256'],
        scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
        tenant_region_scope: null,
        cloud_instance_name: 'microsoftonline.com',
      },
    };
  }

  #issue(tenant: string, request: ProviderRequest): ProviderAnswer {
    this.#requireTenant(tenant);
    const form = new URLSearchParams(request.text);
    const clientId = form.get('client_id') ?? '';
    if (form.get('grant_type') !== 'client_credentials') {
      throw entraRefusal(400, 'unsupported_grant_type', 70003, 'The app requested an unsupported grant type.');
    }
    const client = this.#clients.get(clientId);
    if (client === undefined) {
      throw entraRefusal(400, 'unauthorized_client', 700016, `Application with identifier '${clientId}' was not found in the directory.`);
    }
    if (form.get('client_secret') !== client.clientSecret) {
      const advice = 'Ensure the secret being sent in the request is the client secret value, not the client secret ID';
      throw entraRefusal(
        401,
        'invalid_client',
        7000215,
        `Invalid client secret provided. ${advice}, for a secret added to app '${clientId}'.`,
      );
    }
    if (!(form.get('scope') ?? '').split(' ').includes(`${RESOURCE}/.default`)) {
      throw entraRefusal(400, 'invalid_scope', 70011, 'The provided request must include a scope of the vault.');
    }
    const now = Math.floor(this.#now() / 1000);
    const claims = {
      aud: RESOURCE,
      iss: `https://sts.windows.net/${tenant}/`,
      iat: now,
      nbf: now - 300,
      exp: now + TOKEN_LIFETIME,
      appid: clientId,
      oid: randomUUID(),
      tid: tenant,
      ver: '1.0',
    };
    return {
      status: 200,
      headers: { 'cache-control': 'no-store, no-cache', pragma: 'no-cache' },
      body: {
        token_type: 'Bearer',
        expires_in: TOKEN_LIFETIME,
        ext_expires_in: TOKEN_LIFETIME,
        access_token: signJwt(this.#key.privateKey, claims, { kid: 'test-key' }),
      },
    };
  }

  #requireTenant(tenant: string): void {
    if (tenant === this.tenantId) return;
    throw entraRefusal(400, 'invalid_request', 90002, `Tenant '${tenant}' not found. Check to make sure you have the correct tenant ID.`);
  }
}

/** Marks a refusal as the authority's, so that it is rendered in its shape. */
export const ENTRA_CODES = 'entra_codes';

function entraRefusal(status: number, code: string, aadsts: number, message: string): ProviderRefusal {
  return new ProviderRefusal(status, code, message, { details: { [ENTRA_CODES]: aadsts } });
}

/** The shape of the authority's errors. */
export function renderEntraRefusal(refusal: ProviderRefusal, nowMs: number): ProviderAnswer {
  const [traceId, correlationId] = [randomUUID(), randomUUID()];
  const timestamp = new Date(nowMs).toISOString().replace('T', ' ').replace(/\.\d+/, '');
  const aadsts = Number(refusal.details[ENTRA_CODES]);
  return {
    status: refusal.status,
    body: {
      error: refusal.code,
      error_description: `AADSTS${aadsts}: ${refusal.message} Trace ID: ${traceId} Correlation ID: ${correlationId} Timestamp: ${timestamp}`,
      error_codes: [aadsts],
      timestamp,
      trace_id: traceId,
      correlation_id: correlationId,
      error_uri: `https://login.microsoftonline.com/error?code=${aadsts}`,
    },
  };
}

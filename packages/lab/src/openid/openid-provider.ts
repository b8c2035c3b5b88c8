import type { IncomingMessage, ServerResponse } from 'node:http';
import { authorize } from './authorize.ts';
import { Grants, type Forgery } from './grants.ts';
import { oauthError, type Person, type ProviderAnswer, type ProviderParts } from './provider-parts.ts';
import { beginDevice, redeem, type ClientRequest } from './token-endpoint.ts';

/** An endpoint of the provider. */
export type ProviderEndpoint = (typeof PROVIDER_ENDPOINTS)[number];
export const PROVIDER_ENDPOINTS = ['authorize', 'token', 'userinfo', 'device'] as const;

/** How an endpoint misbehaves: with a status, by never answering, or with a body of its own. */
export type ProviderFault = Pick<ProviderAnswer, 'status' | 'body'> | 'silent';

/**
 * The endpoints of an emulated OpenID provider beside discovery and keys: authorization, token, userinfo and device authorization. They check what a real
 * provider checks: the client and its secret, the redirect address, PKCE, codes that are used once, the pace of polls.
 */
export class OpenidProvider {
  /** Who logs in next. */
  readonly person: Person = {
    claims: { sub: 'alice', email: 'alice@example.org', groups: ['eng', 'ops'], name: 'Alice' },
    consents: true,
  };
  /** Claims that only userinfo has; they replace those of the person. */
  userinfoClaims: Readonly<Record<string, unknown>> = {};
  /** Errors that the next polls of devices get, whatever the state of the device. */
  readonly deviceRefusals: string[] = [];
  /** Whether the answer to a device has the address with its code in it. */
  deviceCompleteUri = false;
  readonly faults = new Map<ProviderEndpoint, ProviderFault>();
  /** The endpoints called so far, in order. */
  readonly calls: ProviderEndpoint[] = [];
  readonly #parts: ProviderParts;
  readonly #grants: Grants;

  constructor(parts: ProviderParts) {
    this.#parts = parts;
    this.#grants = new Grants(parts);
  }

  /** What the discovery document says of these endpoints. */
  get metadata(): Readonly<Record<string, unknown>> {
    const { issuer } = this.#parts;
    return {
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      device_authorization_endpoint: `${issuer}/device`,
      response_types_supported: ['code', 'id_token'],
      response_modes_supported: ['query', 'form_post'],
      subject_types_supported: ['public'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    };
  }

  /** Changes the ID tokens that are handed out from now on; undefined for honest ones. */
  set forgery(forgery: Forgery | undefined) {
    this.#grants.forgery = forgery;
  }

  /** A person types the code that a device shows, and agrees or does not. */
  decide(userCode: string, agrees: boolean): void {
    for (const grant of this.#grants.devices.values()) {
      if (grant.userCode === userCode && grant.state === 'pending') grant.state = agrees ? 'approved' : 'denied';
    }
  }

  /** Everybody who waits with a device agrees. */
  approveDevices(): void {
    for (const { userCode } of this.#grants.devices.values()) this.decide(userCode, true);
  }

  /** Answers a request to one of the endpoints; false for any other path. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const url = new URL(request.url ?? '/', this.#parts.issuer);
    const endpoint = url.pathname.slice(new URL(this.#parts.issuer).pathname.replace(/\/$/, '').length + 1);
    if (!isEndpoint(endpoint)) return false;
    this.calls.push(endpoint);
    const fault = this.faults.get(endpoint);
    if (fault === 'silent') return true;
    const answer = fault ? Promise.resolve({ body: 'out of order', ...fault }) : this.#answer(endpoint, request, url);
    void answer.catch(() => oauthError('server_error', undefined, 500)).then((found) => send(response, found));
    return true;
  }

  async #answer(endpoint: ProviderEndpoint, request: IncomingMessage, url: URL): Promise<ProviderAnswer> {
    const { authorization } = request.headers;
    if (endpoint === 'authorize') {
      if (request.method !== 'GET') return oauthError('invalid_request', 'GET only', 405);
      return authorize(this.#parts, this.#grants, this.person, url.searchParams);
    }
    if (endpoint === 'userinfo') return this.#userinfo(authorization);
    if (request.method !== 'POST') return oauthError('invalid_request', 'POST only', 405);
    if (request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') !== true)
      return oauthError('invalid_request', 'not a form');
    const call: ClientRequest = { authorization, form: await formOf(request) };
    if (endpoint === 'device') return beginDevice(this.#parts, this.#grants, call, this.deviceCompleteUri);
    return redeem(this.#parts, this.#grants, this.person, call, this.deviceRefusals);
  }

  #userinfo(authorization: string | undefined): ProviderAnswer {
    const claims = this.#grants.ofAccessToken(authorization?.replace(/^Bearer /, '') ?? '');
    if (claims) return { status: 200, body: { ...claims, ...this.userinfoClaims } };
    return { ...oauthError('invalid_token', undefined, 401), headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } };
  }
}

function isEndpoint(name: string): name is ProviderEndpoint {
  return (PROVIDER_ENDPOINTS as readonly string[]).includes(name);
}

function send(response: ServerResponse, { status, body = '', headers }: ProviderAnswer): void {
  const type = typeof body === 'string' ? 'text/html; charset=utf-8' : 'application/json';
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

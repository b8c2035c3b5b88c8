import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@strongroom/engine-sdk';
import type { IdentityStore } from '../identity/identity-store.ts';
import type { TemplateContext } from '../identity/identity-cache.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { Assignments } from './assignments.ts';
import type { Clients } from './clients.ts';
import type { Grants } from './grants.ts';
import { allowsClient } from './identity-tokens.ts';
import type { NamedKeys } from './named-keys.ts';
import { OAuthRefusal } from './oauth-refusal.ts';
import type { Client, Grant, NamedKey } from './oidc-records.ts';
import type { KnownProvider, Providers } from './providers.ts';
import { isRedirectOf } from './redirect-uri.ts';
import { OPENID, type Scopes } from './scopes.ts';
import { hashClaim } from './signing-algorithm.ts';
import { requireAddress } from './token-issuer.ts';

/** The parameters of the authorization endpoint; '' is "not sent". */
export interface AuthorizationRequest {
  readonly client_id: string;
  readonly redirect_uri: string;
  readonly response_type: string;
  readonly scope: string;
  readonly nonce: string;
  readonly max_age: string;
  readonly code_challenge: string;
  readonly code_challenge_method: string;
  readonly request: string;
  readonly request_uri: string;
}

/** Who logs in. */
export interface Person {
  readonly entityId: string;
  /** Milliseconds since the epoch: when they logged in; 0 where that is unknown. */
  readonly loggedIn: number;
}

/** The parameters of the token endpoint, with the credentials of the client; '' is "not sent". */
export interface ExchangeRequest {
  readonly client_id: string;
  readonly client_secret: string;
  readonly grant_type: string;
  readonly code: string;
  readonly redirect_uri: string;
  readonly code_verifier: string;
}

export interface TokenAnswer {
  readonly token_type: 'Bearer';
  readonly access_token: string;
  readonly id_token: string;
  /** Seconds that the access token is good for. */
  readonly expires_in: number;
}

interface FlowParts {
  readonly providers: Providers;
  readonly clients: Clients;
  readonly assignments: Assignments;
  readonly scopes: Scopes;
  readonly keys: NamedKeys;
  readonly grants: Grants;
  readonly accessTokens: AccessTokens;
  readonly identity: IdentityStore;
  readonly clock: Clock;
}

/** The code flow of OpenID Connect: a person authorizes a client, which exchanges the code for tokens and may ask who it was. */
export class ProviderFlow {
  readonly #parts: FlowParts;

  constructor(parts: FlowParts) {
    this.#parts = parts;
  }

  /** Resolves with a code for the client. @throws OAuthRefusal */
  async authorize(providerName: string, request: AuthorizationRequest, person: Person): Promise<string> {
    const { providers, clients, grants } = this.#parts;
    if (request.client_id === '') throw new OAuthRefusal('invalid_client_id', 'client_id parameter is required');
    const client = await clients.byId(request.client_id);
    if (!client) throw new OAuthRefusal('invalid_client_id', 'client with client_id not found');
    if (request.redirect_uri === '') throw new OAuthRefusal('invalid_request', 'redirect_uri parameter is required');
    if (!isRedirectOf(client.redirect_uris, request.redirect_uri))
      throw new OAuthRefusal('invalid_redirect_uri', 'redirect_uri is not allowed for the client');
    const provider = await providers.get(providerName);
    if (!provider) throw new OAuthRefusal('invalid_request', 'provider not found');
    if (!allowsClient(provider.allowed_client_ids, client.client_id))
      throw new OAuthRefusal('unauthorized_client', 'client is not authorized to use the provider');
    if (request.request !== '') throw new OAuthRefusal('request_not_supported', 'request parameter is not supported');
    if (request.request_uri !== '') throw new OAuthRefusal('request_uri_not_supported', 'request_uri parameter is not supported');
    requireAddress(provider.issuer, `identity/oidc/provider/${providerName}`);
    const scopes = scopesOf(request.scope, provider);
    if (request.response_type === '') throw new OAuthRefusal('invalid_request', 'response_type parameter is required');
    if (request.response_type !== 'code') throw new OAuthRefusal('unsupported_response_type', 'unsupported response_type value');
    const identity = await this.#person(person.entityId, client, 'access_denied');
    const challenge = challengeOf(request, client);
    const authTime = this.#authTime(request.max_age, person);
    return grants.issue({
      provider: providerName,
      client_id: client.client_id,
      entity_id: identity.entity.id,
      redirect_uri: request.redirect_uri,
      scopes,
      nonce: request.nonce,
      ...(challenge ? { challenge } : {}),
      ...(authTime === undefined ? {} : { auth_time: authTime }),
    });
  }

  /** A code for an access token and an identity token. @throws OAuthRefusal */
  async exchange(providerName: string, request: ExchangeRequest): Promise<TokenAnswer> {
    const { providers, clients, keys, grants } = this.#parts;
    const provider = await providers.get(providerName);
    if (!provider) throw new OAuthRefusal('invalid_request', 'provider not found');
    if (request.client_id === '') throw new OAuthRefusal('invalid_request', 'client_id parameter is required');
    const client = await clients.authenticated(request.client_id, request.client_secret);
    if (!client) throw new OAuthRefusal('invalid_client', 'client failed to authenticate');
    if (!allowsClient(provider.allowed_client_ids, client.client_id))
      throw new OAuthRefusal('invalid_client', 'client is not authorized to use the provider');
    const key = (await keys.get(client.key))!;
    if (!allowsClient(key.allowed_client_ids, client.client_id))
      throw new OAuthRefusal('invalid_client', 'client is not authorized to use the key');
    if (request.grant_type !== 'authorization_code')
      throw new OAuthRefusal('unsupported_grant_type', 'unsupported grant_type or parameter is empty value');
    if (request.code === '') throw new OAuthRefusal('invalid_request', 'code parameter is required');
    const grant = await grants.take(request.code, ({ client_id, provider: issuedBy }) => {
      if (client_id !== client.client_id) throw new OAuthRefusal('invalid_grant', 'authorization code was not issued to the client');
      if (issuedBy !== providerName) throw new OAuthRefusal('invalid_grant', 'authorization code was not issued by the provider');
    });
    if (!grant) throw new OAuthRefusal('invalid_grant', 'authorization grant is invalid or expired');
    if (request.redirect_uri === '') throw new OAuthRefusal('invalid_request', 'redirect_uri parameter is required');
    if (request.redirect_uri !== grant.redirect_uri)
      throw new OAuthRefusal('invalid_grant', 'redirect_uri does not match the redirect_uri used in the authorization request');
    const identity = await this.#person(grant.entity_id, client, 'invalid_request');
    requireVerifier(request.code_verifier, grant, client);
    return this.#tokens({ provider, client, key, grant, identity, code: request.code });
  }

  /** Who the access token is about, and the claims of its scopes. @throws OAuthRefusal */
  async userInfo(providerName: string, accessToken: string): Promise<Record<string, unknown>> {
    const { providers, clients, accessTokens } = this.#parts;
    const provider = await providers.get(providerName);
    if (!provider) throw new OAuthRefusal('invalid_request', 'provider not found');
    const access = accessTokens.open(accessToken);
    if (access?.provider !== providerName) throw new OAuthRefusal('invalid_token', 'permission denied');
    const client = await clients.byId(access.client_id);
    if (!client) throw new OAuthRefusal('access_denied', 'client not found');
    const identity = await this.#person(access.entity_id, client, 'access_denied');
    if (!allowsClient(provider.allowed_client_ids, client.client_id))
      throw new OAuthRefusal('access_denied', 'client is not authorized to use the provider');
    const offered = access.scopes.filter((scope) => provider.scopes_supported.includes(scope));
    return { ...(await this.#claims(offered, identity)), sub: identity.entity.id };
  }

  async #tokens(order: {
    provider: KnownProvider;
    client: Client;
    key: NamedKey;
    grant: Grant;
    identity: TemplateContext;
    code: string;
  }): Promise<TokenAnswer> {
    const { provider, client, key, grant, identity } = order;
    const { keys, accessTokens, clock } = this.#parts;
    const claims = await this.#claims(grant.scopes, identity);
    const now = this.#seconds();
    const signer = key.current!.algorithm;
    const access_token = accessTokens.issue({
      provider: provider.name,
      client_id: client.client_id,
      entity_id: identity.entity.id,
      scopes: grant.scopes,
      expires: clock.millis() + client.access_token_ttl * 1_000,
    });
    const id_token = await keys.sign(key, {
      ...claims,
      iss: provider.issuer,
      sub: identity.entity.id,
      aud: client.client_id,
      iat: now,
      exp: now + Math.min(client.id_token_ttl, key.verification_ttl),
      namespace: 'root',
      ...(grant.nonce === '' ? {} : { nonce: grant.nonce }),
      ...(grant.auth_time === undefined ? {} : { auth_time: grant.auth_time }),
      at_hash: hashClaim(signer, access_token),
      c_hash: hashClaim(signer, order.code),
    });
    return { token_type: 'Bearer', access_token, id_token, expires_in: client.access_token_ttl };
  }

  async #claims(scopes: readonly string[], identity: TemplateContext): Promise<Record<string, unknown>> {
    const found = await this.#parts.scopes.claims(scopes, { identity, now: this.#seconds() });
    if ('conflict' in found) throw new OAuthRefusal('invalid_request', found.conflict);
    return found.claims;
  }

  /** The person, whom an assignment of the client must name. @throws OAuthRefusal */
  async #person(entityId: string, client: Client, code: 'access_denied' | 'invalid_request'): Promise<TemplateContext> {
    const { identity, assignments } = this.#parts;
    if (entityId === '') throw new OAuthRefusal(code, 'identity entity must be associated with the request');
    const [context, policies] = await Promise.all([identity.templateContext(entityId), identity.policiesOf(entityId)]);
    if (!context) throw new OAuthRefusal(code, 'identity entity associated with the request not found');
    if (policies?.disabled === true || !(await assignments.cover(client.assignments, context)))
      throw new OAuthRefusal(code, 'identity entity not authorized by client assignment');
    return context;
  }

  /** Seconds since the epoch, where the client asked how long ago the person logged in. @throws OAuthRefusal where that is too long */
  #authTime(maxAge: string, { loggedIn }: Person): number | undefined {
    if (maxAge === '') return undefined;
    if (!/^[1-9]\d{0,9}$/.test(maxAge)) throw new OAuthRefusal('invalid_request', 'max_age must be greater than zero');
    const authTime = Math.floor(loggedIn / 1_000);
    if (this.#seconds() - authTime > Number(maxAge))
      throw new OAuthRefusal('max_age_violation', 'active re-authentication is required by max_age');
    return authTime;
  }

  #seconds(): number {
    return Math.floor(this.#parts.clock.millis() / 1_000);
  }
}

/** Those that the provider offers; others are ignored. @throws OAuthRefusal without `openid` */
function scopesOf(scope: string, { scopes_supported }: KnownProvider): string[] {
  const asked = new Set(scope.split(' '));
  if (!asked.has(OPENID)) throw new OAuthRefusal('invalid_request', 'scope parameter must contain the "openid" value');
  return scopes_supported.filter((one) => asked.has(one) && one !== OPENID);
}

/** @throws OAuthRefusal */
function challengeOf(request: AuthorizationRequest, client: Client): Grant['challenge'] {
  const { code_challenge: value, code_challenge_method: asked } = request;
  if (value === '') {
    if (client.client_type === 'public') throw new OAuthRefusal('invalid_request', 'PKCE is required for public clients');
    return undefined;
  }
  const method = asked === '' ? 'plain' : asked;
  if (method !== 'plain' && method !== 'S256') throw new OAuthRefusal('invalid_request', 'invalid code_challenge_method');
  if (value.length < 43 || value.length > 128) throw new OAuthRefusal('invalid_request', 'invalid code_challenge');
  return { method, value };
}

/** @throws OAuthRefusal */
function requireVerifier(verifier: string, { challenge }: Grant, client: Client): void {
  if (!challenge) {
    if (client.client_type === 'public') throw new OAuthRefusal('invalid_request', 'PKCE is required for public clients');
    if (verifier !== '') throw new OAuthRefusal('invalid_request', 'unexpected code_verifier for token exchange');
    return;
  }
  if (verifier === '') throw new OAuthRefusal('invalid_request', 'expected code_verifier for token exchange');
  const made = challenge.method === 'plain' ? verifier : digest(verifier).toString('base64url');
  if (!timingSafeEqual(digest(made), digest(challenge.value)))
    throw new OAuthRefusal('invalid_grant', 'invalid code_verifier for token exchange');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

import { BadRequest, type Clock } from '@strongroom/engine-sdk';
import type { IdentityStore } from '../identity/identity-store.ts';
import { claimsTemplate, RESERVED_CLAIMS } from './claims-template.ts';
import { isSignedBy, parsedToken, type ParsedToken } from './key-pair.ts';
import { DEFAULT_KEY } from './key-stages.ts';
import type { NamedKeys } from './named-keys.ts';
import type { NamedKey } from './oidc-records.ts';
import { requireAddress, type TokenIssuer } from './token-issuer.ts';
import type { IdentityTokenRoles } from './token-roles.ts';

/** A token to be signed. */
export interface TokenOrder {
  /** The named key that signs; `default` if absent. */
  readonly key?: string;
  /** Who is to accept it. */
  readonly audience: string;
  readonly subject: string;
  /** Further claims, none of which is reserved. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Seconds; at most the `verification_ttl` of the key. */
  readonly ttl: number;
}

/** `ttl`: seconds. */
export interface SignedToken {
  readonly token: string;
  readonly ttl: number;
}

/** Signs and verifies the tokens by which others know who somebody is here. Verifiers need `identity/oidc/.well-known`, and `identity/oidc/plugins/.well-known`, alone. */
export class IdentityTokens {
  readonly #keys: NamedKeys;
  readonly #roles: IdentityTokenRoles;
  readonly #issuer: TokenIssuer;
  readonly #identity: IdentityStore;
  readonly #clock: Clock;

  constructor(parts: { keys: NamedKeys; roles: IdentityTokenRoles; issuer: TokenIssuer; identity: IdentityStore; clock: Clock }) {
    this.#keys = parts.keys;
    this.#roles = parts.roles;
    this.#issuer = parts.issuer;
    this.#identity = parts.identity;
    this.#clock = parts.clock;
  }

  /** A token about a mount: for clouds that trust the issuer of mounts. @throws BadRequest */
  async sign(order: TokenOrder): Promise<SignedToken> {
    const reserved = Object.keys(order.claims ?? {}).find((name) => (RESERVED_CLAIMS as readonly string[]).includes(name));
    if (reserved !== undefined) throw new BadRequest(`the claim ${JSON.stringify(reserved)} is set by the server`);
    return this.#signed(await this.#keys.forServer(order.key ?? DEFAULT_KEY), { ...order, issuer: await this.#issuer.ofMounts() });
  }

  /** A token about an entity. @throws BadRequest */
  async ofRole(name: string, entityId: string): Promise<SignedToken & { readonly clientId: string }> {
    const quoted = JSON.stringify(name);
    const role = await this.#roles.get(name);
    if (!role) throw new BadRequest(`role ${quoted} not found`);
    const key = await this.#keys.get(role.key);
    if (!key) throw new BadRequest(`key ${JSON.stringify(role.key)} not found`);
    if (!allowsClient(key.allowed_client_ids, role.client_id))
      throw new BadRequest(`the key ${JSON.stringify(role.key)} does not list the client ID of the role ${quoted} as an allowed client ID`);
    const identity = entityId === '' ? undefined : await this.#identity.templateContext(entityId);
    if (!identity) throw new BadRequest("no entity associated with the request's token");
    const claims = claimsTemplate(role.template).claims({ identity, now: this.#seconds() });
    const issuer = await this.#issuer.ofTokens();
    const signed = await this.#signed(key, { issuer, audience: role.client_id, subject: identity.entity.id, claims, ttl: role.ttl });
    return { ...signed, clientId: role.client_id };
  }

  /** Undefined for a token that is good now; else what is wrong with it. `audience`: who it must be for. */
  async problemOf(token: string, audience?: string): Promise<string | undefined> {
    let parsed: ParsedToken;
    try {
      parsed = parsedToken(token);
    } catch (error) {
      return `error parsing token: ${(error as Error).message}`;
    }
    const { header, claims } = parsed;
    const key = typeof header['kid'] === 'string' ? await this.#keys.published(header['kid']) : undefined;
    if (!key || !isSignedBy(key, parsed)) return 'unable to validate the token signature';
    const problem = this.#claimsProblem(claims, await this.#issuer.ofTokens(), audience);
    if (problem !== undefined) return `error validating claims: ${problem}`;
    const entity = await this.#identity.policiesOf(String(claims['sub']));
    if (!entity) return 'entity was not found';
    return entity.disabled ? 'entity is disabled' : undefined;
  }

  #claimsProblem({ iss, aud, exp }: ParsedToken['claims'], issuer: string, audience: string | undefined): string | undefined {
    if (audience !== undefined && aud !== audience) return 'validation failed, invalid audience claim (aud)';
    if (iss !== issuer) return 'validation failed, invalid issuer claim (iss)';
    if (typeof exp !== 'number' || exp <= this.#seconds()) return 'validation failed, token is expired (exp)';
    return undefined;
  }

  async #signed(key: NamedKey, { issuer, audience, subject, claims, ttl }: TokenOrder & { readonly issuer: string }): Promise<SignedToken> {
    requireAddress(issuer, 'identity/oidc/config');
    const now = this.#seconds();
    const span = Math.min(ttl, key.verification_ttl);
    const token = await this.#keys.sign(key, {
      ...claims,
      ...{ iss: issuer, sub: subject, aud: audience, iat: now, exp: now + span, namespace: 'root' },
    });
    return { token, ttl: span };
  }

  #seconds(): number {
    return Math.floor(this.#clock.millis() / 1_000);
  }
}

/** `*` allows every client. */
export function allowsClient(allowed: readonly string[], clientId: string): boolean {
  return allowed.includes('*') || allowed.includes(clientId);
}

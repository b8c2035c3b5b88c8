import { PermissionDenied, withinCidrs } from '@strongroom/engine-sdk';
import type { CoreRequest } from '../../kernel/call/core-request.ts';
import type { IdentityStore } from '../identity/identity-store.ts';
import { Acl } from '../policies/acl.ts';
import type { AclQuery } from '../policies/acl-query.ts';
import { BoundedAcl } from '../policies/bounded-acl.ts';
import type { PolicyStore } from '../policies/policy-store.ts';
import type { FoundToken, TokenStore } from '../tokens/token-store.ts';
import type { CallerIdentity } from './caller-identity.ts';

const NONE: readonly string[] = [];
const NO_METADATA: Readonly<Record<string, string>> = {};
const NOTHING = Acl.compile([]);

/** Whom a token stands for, and what they may do. */
export class TokenAccess {
  readonly #tokens: TokenStore;
  readonly #policies: PolicyStore;
  readonly #identity: IdentityStore;

  constructor(parts: { tokens: TokenStore; policies: PolicyStore; identity: IdentityStore }) {
    this.#tokens = parts.tokens;
    this.#policies = parts.policies;
    this.#identity = parts.identity;
  }

  /**
   * Whether the token is one that its holder can call with now, at this address. Takes no use of it. A wrapping token stands for one answer and not for
   * a caller, so it does not count.
   */
  async recognizes(token: string, remoteAddress: string): Promise<boolean> {
    const found = await this.#tokens.find(token);
    if (!found || found.record.wrap || (found.record.num_uses ?? 0) < 0) return false;
    if (!withinCidrs(found.record.bound_cidrs, remoteAddress)) return false;
    if (!found.record.entity_id) return true;
    const entity = await this.#identity.policiesOf(found.record.entity_id);
    return entity !== undefined && !entity.disabled;
  }

  /** What the caller may do, within what the makers of the token had. */
  async aclOf(who: CallerIdentity): Promise<Acl> {
    const names = who.identityPolicies.length === 0 ? who.tokenPolicies : [...who.tokenPolicies, ...who.identityPolicies];
    const own = await this.#aclFor(names, who.entityId);
    if (!who.within || who.within.length === 0) return own;
    return new BoundedAcl(own, await Promise.all(who.within.map(async (bound) => this.#aclFor(bound.policies, bound.entity_id ?? ''))));
  }

  async #aclFor(names: readonly string[], entityId: string): Promise<Acl> {
    if (entityId === '') return this.#policies.aclFor(names);
    return this.#policies.aclFor(names, { key: entityId, load: async () => this.#identity.templateContext(entityId) });
  }

  /** Undefined for what is no token, or none any more; with an address, also for a token that is not good there. */
  async aclOfToken(token: string, remoteAddress?: string): Promise<Acl | undefined> {
    const found = await this.#tokens.find(token);
    if (!found || (remoteAddress !== undefined && !withinCidrs(found.record.bound_cidrs, remoteAddress))) return undefined;
    return this.#answeringAcl(found);
  }

  async aclOfAccessor(accessor: string): Promise<Acl | undefined> {
    const found = await this.#tokens.byAccessor(accessor);
    return found && this.#answeringAcl(found);
  }

  /**
   * For paths that are open to all and do more for some: whether this is a token, good at the address, whose policies allow the operation. Takes
   * one use of a token that has few.
   */
  async permits(caller: Pick<CoreRequest, 'token' | 'remoteAddress'>, query: Pick<AclQuery, 'operation' | 'path'>): Promise<boolean> {
    const { token = '', remoteAddress = '' } = caller;
    const found = token === '' ? undefined : await this.#tokens.find(token);
    if (!found || !withinCidrs(found.record.bound_cidrs, remoteAddress)) return false;
    if (found.record.num_uses && !(await this.#tokens.use(found.digest))) return false;
    return (await this.#answeringAcl(found)).check(query).allowed;
  }

  /** For questions about a token: nothing is allowed to one whose entity is disabled or gone. */
  async #answeringAcl(found: FoundToken): Promise<Acl> {
    try {
      return await this.aclOf(await this.identityOf('', found));
    } catch (error) {
      if (error instanceof PermissionDenied) return NOTHING;
      throw error;
    }
  }

  /** Who calls with the token. @throws PermissionDenied where the entity is disabled or gone */
  async identityOf(token: string, found: FoundToken): Promise<CallerIdentity> {
    const { record } = found;
    let identityPolicies = NONE;
    if (record.entity_id) {
      const entity = await this.#identity.policiesOf(record.entity_id);
      if (!entity || entity.disabled) throw new PermissionDenied();
      identityPolicies = entity.policies;
    }
    return {
      token,
      accessor: record.accessor,
      displayName: record.display_name,
      type: found.type,
      tokenPolicies: record.policies,
      identityPolicies,
      noDefaultPolicy: record.no_default_policy === true,
      entityId: record.entity_id ?? '',
      metadata: record.meta ?? NO_METADATA,
      ...(record.within ? { within: record.within } : {}),
      numUses: Math.max(0, record.num_uses ?? 0),
      remainingUses: Math.max(0, record.num_uses ?? 0),
      ttl: record.creation_ttl,
      issuedAt: record.created,
    };
  }
}

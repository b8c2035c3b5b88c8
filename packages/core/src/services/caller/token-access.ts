import { PermissionDenied, withinCidrs } from '@strongroom/engine-sdk';
import type { CoreRequest } from '../../kernel/call/core-request.ts';
import type { IdentityStore } from '../identity/identity-store.ts';
import { Acl } from '../policies/acl.ts';
import type { AclQuery } from '../policies/acl-query.ts';
import { BoundedAcl } from '../policies/bounded-acl.ts';
import type { Policy } from '../policies/policy.ts';
import type { PolicyStore } from '../policies/policy-store.ts';
import type { FoundToken, TokenStore } from '../tokens/token-store.ts';
import type { CallerIdentity } from './caller-identity.ts';
import type { StandingRights } from './standing-rights.ts';

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
    const finding = this.#tokens.find(token);
    const found = finding instanceof Promise ? await finding : finding;
    if (!found || found.record.wrap || (found.record.num_uses ?? 0) < 0) return false;
    if (!withinCidrs(found.record.bound_cidrs, remoteAddress)) return false;
    if (!found.record.entity_id) return true;
    const entity = await this.#identity.policiesOf(found.record.entity_id);
    return entity !== undefined && !entity.disabled;
  }

  /** What the caller may do, within what the makers of the token had. With a draft: what they could do if it were saved. */
  aclOf(who: CallerIdentity, draft?: Policy): Acl | Promise<Acl> {
    const policies = policiesOf(who);
    const bounded = who.within !== undefined && who.within.length > 0;
    const kept = draft || bounded ? undefined : this.#policies.keptAclFor(policies);
    if (kept) return kept;
    const own = this.#aclFor(policies, who.entityId, draft);
    return bounded ? this.#bounded(own, who.within, draft) : own;
  }

  async #bounded(acl: Promise<Acl>, within: NonNullable<CallerIdentity['within']>, draft: Policy | undefined): Promise<Acl> {
    const own = await acl;
    const bounds = within.map(async (bound) => this.#aclFor(bound.policies, bound.entity_id ?? '', draft));
    return new BoundedAcl(own, await Promise.all(bounds));
  }

  #aclFor(names: readonly string[], entityId: string, draft?: Policy): Promise<Acl> {
    const identity = entityId === '' ? undefined : { key: entityId, load: async () => this.#identity.templateContext(entityId) };
    return draft ? this.#policies.aclWithDraft(names, draft, identity) : this.#policies.aclFor(names, identity);
  }

  /** What a caller of earlier may do now; nothing once their entity is disabled or gone. */
  async aclOfRights({ policies, entity_id = '', within = [] }: StandingRights): Promise<Acl> {
    const entity = entity_id === '' ? undefined : await this.#identity.policiesOf(entity_id);
    if (entity_id !== '' && (!entity || entity.disabled)) return NOTHING;
    const own = this.#aclFor([...policies, ...(entity?.policies ?? [])], entity_id);
    return within.length > 0 ? this.#bounded(own, within, undefined) : own;
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
   * What a token, or that of an accessor, could do if the draft were saved under its name, and whether the token has a policy of that name. Undefined for what is no token.
   */
  async aclWithDraft(
    by: { readonly token: string } | { readonly accessor: string },
    draft: Policy,
  ): Promise<{ readonly acl: Acl; readonly counts: boolean } | undefined> {
    const found = 'token' in by ? await this.#tokens.find(by.token) : await this.#tokens.byAccessor(by.accessor);
    if (!found) return undefined;
    const holder = await this.#holderOf(found);
    if (!holder) return { acl: NOTHING, counts: false };
    return { acl: await this.aclOf(holder, draft), counts: policiesOf(holder).includes(draft.name) };
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
    const holder = await this.#holderOf(found);
    return holder ? this.aclOf(holder) : NOTHING;
  }

  /** Undefined: the entity is disabled or gone. */
  async #holderOf(found: FoundToken): Promise<CallerIdentity | undefined> {
    try {
      return await this.identityOf('', found);
    } catch (error) {
      if (error instanceof PermissionDenied) return undefined;
      throw error;
    }
  }

  /** Who calls with the token. @throws PermissionDenied where the entity is disabled or gone */
  identityOf(token: string, found: FoundToken): CallerIdentity | Promise<CallerIdentity> {
    const { entity_id } = found.record;
    return entity_id ? this.#identityOfEntity(token, found, entity_id) : identityWith(NONE, token, found);
  }

  async #identityOfEntity(token: string, found: FoundToken, id: string): Promise<CallerIdentity> {
    const entity = await this.#identity.policiesOf(id);
    if (!entity || entity.disabled) throw new PermissionDenied();
    return identityWith(entity.policies, token, found);
  }
}

function identityWith(identityPolicies: readonly string[], token: string, { type, record }: FoundToken): CallerIdentity {
  return {
    token,
    accessor: record.accessor,
    displayName: record.display_name,
    type,
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

/** The policies of the token, and those of its entity and groups. */
export function policiesOf({ tokenPolicies, identityPolicies }: CallerIdentity): readonly string[] {
  return identityPolicies.length === 0 ? tokenPolicies : [...tokenPolicies, ...identityPolicies];
}

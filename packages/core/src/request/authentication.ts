import { PermissionDenied, TokenRefused } from '@strongroom/engine-sdk';
import type { IdentityStore } from '../identity/identity-store.ts';
import type { PolicyStore } from '../policies/policy-store.ts';
import { withinCidrs } from '../tokens/cidr.ts';
import type { TokenRevoker } from '../tokens/token-revoker.ts';
import type { FoundToken, TokenStore } from '../tokens/token-store.ts';
import type { Acl } from '../policies/acl.ts';
import type { Call } from './call.ts';
import type { CallerIdentity } from './caller-identity.ts';

const NONE: readonly string[] = [];
const NO_METADATA: Readonly<Record<string, string>> = {};

/** Turns a token into who is calling and what they may do. */
export class Authentication {
  readonly #tokens: TokenStore;
  readonly #policies: PolicyStore;
  readonly #identity: IdentityStore;
  readonly #revoker: TokenRevoker;

  constructor(parts: { tokens: TokenStore; policies: PolicyStore; identity: IdentityStore; revoker: TokenRevoker }) {
    this.#tokens = parts.tokens;
    this.#policies = parts.policies;
    this.#identity = parts.identity;
    this.#revoker = parts.revoker;
  }

  /** Fills in token, identity and ACL, and takes one use of a token that has few. @throws TokenRefused */
  async identify(call: Call): Promise<void> {
    if (call.bearer === undefined) throw new TokenRefused();
    const found = await this.#tokens.find(call.bearer);
    if (!found) throw new TokenRefused();
    if (!withinCidrs(found.record.bound_cidrs, call.remoteAddress)) throw new TokenRefused();
    let used = found;
    if (found.record.num_uses) {
      const record = await this.#tokens.use(found.digest);
      if (!record) throw new TokenRefused();
      call.lastUse = record.num_uses === -1;
      used = { ...found, record };
    }
    call.token = used;
    call.identity = await this.#identityOf(call.bearer, used);
    call.acl = await this.aclOf(used, call.identity);
  }

  /** The ACL of any token: for capability questions. */
  async aclOf(found: FoundToken, identity?: CallerIdentity): Promise<Acl> {
    const who = identity ?? (await this.#identityOf('', found));
    const names = who.identityPolicies.length === 0 ? who.tokenPolicies : [...who.tokenPolicies, ...who.identityPolicies];
    const { entityId } = who;
    if (entityId === '') return this.#policies.aclFor(names);
    return this.#policies.aclFor(names, { key: entityId, load: async () => this.#identity.templateContext(entityId) });
  }

  /** Undefined for what is no token, or none any more. */
  async aclOfToken(token: string): Promise<Acl | undefined> {
    const found = await this.#tokens.find(token);
    return found && this.aclOf(found);
  }

  async aclOfAccessor(accessor: string): Promise<Acl | undefined> {
    const found = await this.#tokens.byAccessor(accessor);
    return found && this.aclOf(found);
  }

  async finish(call: Call): Promise<void> {
    if (call.lastUse && call.token) await this.#revoker.revoke(call.token.digest, new AbortController().signal);
  }

  async #identityOf(token: string, found: FoundToken): Promise<CallerIdentity> {
    const { record } = found;
    let identityPolicies = NONE;
    if (record.entity_id) {
      const entity = await this.#identity.policiesOf(record.entity_id);
      if (entity?.disabled) throw new PermissionDenied();
      if (entity) identityPolicies = entity.policies;
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
      numUses: Math.max(0, record.num_uses ?? 0),
      remainingUses: Math.max(0, record.num_uses ?? 0),
      ttl: record.creation_ttl,
      issuedAt: record.created,
    };
  }
}

import { BadRequest, PermissionDenied, type Clock } from '@strongroom/engine-sdk';
import { globMatches } from '@strongroom/go-template';
import type { IdentityStore } from '../identity/identity-store.ts';
import { limitTerms, type MountLimits } from '../../kernel/mounts/lease-terms.ts';
import type { PolicyStore } from '../policies/policy-store.ts';
import type { AuthReply } from '../../kernel/call/core-response.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { ownPolicies, rolePolicies } from './child-policies.ts';
import { boundCidrs, hardEnd, longestEnd } from './token-limits.ts';
import { isAlive, isOrphan, type TokenRecord } from './token-record.ts';
import type { TokenRole } from './token-role.ts';
import type { TokenRevoker } from './token-revoker.ts';
import type { FoundToken, TokenStore } from './token-store.ts';
import { policyBounds } from './policy-bounds.ts';
import { NEVER } from '../../kernel/work/never.ts';

/** What a caller asks for; undefined is "not sent". */
export interface TokenOrder {
  readonly id?: string | undefined;
  readonly policies?: readonly string[] | undefined;
  readonly meta?: Readonly<Record<string, string>> | undefined;
  readonly no_parent?: boolean | undefined;
  readonly no_default_policy?: boolean | undefined;
  readonly ttl?: number | undefined;
  readonly renewable?: boolean | undefined;
  readonly type?: string | undefined;
  readonly explicit_max_ttl?: number | undefined;
  readonly period?: number | undefined;
  readonly display_name?: string | undefined;
  readonly num_uses?: number | undefined;
  readonly entity_alias?: string | undefined;
  readonly bound_cidrs?: readonly string[] | undefined;
}

/** Whose token makes another. */
export interface TokenMaker {
  readonly token: FoundToken;
  /** Policies that the maker has by its entity. */
  readonly identityPolicies: readonly string[];
  readonly remoteAddress: string;
}

/** How tokens are asked for. */
export interface CreationRequest {
  readonly path: string;
  readonly orphan: boolean;
  /** The caller has sudo on the path. */
  readonly sudo: boolean;
  readonly role?: TokenRole;
}

/**
 * Makes child and orphan tokens by Vault's and OpenBao's rules, and one more: no token has what its maker lacks, unless a role names it. Sudo on the path
 * lets a caller name other policies, a period, an id and orphanhood; the addresses that it is bound to and its explicit maximum pass on to
 * whatever it makes.
 */
export class TokenCreation {
  readonly #store: Store;
  readonly #tokens: TokenStore;
  readonly #revoker: TokenRevoker;
  readonly #policies: PolicyStore;
  readonly #identity: IdentityStore;
  readonly #clock: Clock;

  constructor(parts: {
    store: Store;
    tokens: TokenStore;
    revoker: TokenRevoker;
    policies: PolicyStore;
    identity: IdentityStore;
    clock: Clock;
  }) {
    this.#store = parts.store;
    this.#tokens = parts.tokens;
    this.#revoker = parts.revoker;
    this.#policies = parts.policies;
    this.#identity = parts.identity;
    this.#clock = parts.clock;
  }

  /** @throws BadRequest | PermissionDenied with Vault's and OpenBao's texts */
  async create(
    order: TokenOrder,
    maker: TokenMaker,
    mount: MountLimits & { accessor: string },
    request: CreationRequest,
  ): Promise<{ auth: AuthReply; warnings: string[] }> {
    const parent = maker.token;
    const { role, sudo } = request;
    const warnings: string[] = [];
    if (parent.type === 'batch') throw new BadRequest('batch tokens cannot create more tokens');
    if (parent.record.num_uses) throw new BadRequest('restricted use token cannot generate child tokens');
    const type = typeOf(order, role);
    const period = role ? role.token_period || role.period : (order.period ?? 0);
    const explicitMax = smallest(order.explicit_max_ttl ?? 0, role ? role.token_explicit_max_ttl || role.explicit_max_ttl : 0);
    const numUses = smallest(order.num_uses ?? 0, role?.token_num_uses ?? 0);
    if ((order.num_uses ?? 0) < 0) throw new BadRequest("'num_uses' cannot be negative");
    if (!role && period > 0 && !sudo) throw new BadRequest('root or sudo privileges required to create periodic token');
    if (order.id !== undefined && order.id !== '') {
      if (!sudo) throw new BadRequest('root or sudo privileges required to specify token id');
      if (/^(?:[sbr]|hv[sbr])\./.test(order.id) || order.id.includes('.'))
        throw new BadRequest("custom token ID cannot have the 's.' prefix or contain a '.'");
      if (type === 'batch') throw new BadRequest('batch tokens cannot have a custom token ID');
      warnings.push(
        'Supplying a custom ID for the token uses the weaker SHA1 hashing instead of the more secure SHA2-256 HMAC for token obfuscation. SHA1 hashed tokens on the wire leads to less secure lookups.',
      );
    }
    if (type === 'batch') {
      if (period > 0) throw new BadRequest('batch tokens cannot have "period" set');
      if (numUses > 0) throw new BadRequest('batch tokens cannot have "num_uses" set');
      if (explicitMax > 0) throw new BadRequest('batch tokens cannot have "explicit_max_ttl" set');
    }
    const orphan = request.orphan || role?.orphan === true || order.no_parent === true;
    if (order.no_parent === true && !request.orphan && !role?.orphan && !sudo) {
      throw new BadRequest('root or sudo privileges required to create orphan token');
    }
    const noDefault = order.no_default_policy === true || role?.token_no_default_policy === true;
    const asked = { asked: order.policies, own: parent.record.policies, sudo, noDefault };
    const policies = role ? rolePolicies(asked, role) : ownPolicies(asked);
    const isRoot = policies.includes('root');
    if (isRoot) {
      if (!parent.record.policies.includes('root')) throw new BadRequest('root tokens may not be created without parent token being root');
      if (type === 'batch') throw new BadRequest('batch tokens cannot be root tokens');
    }
    for (const name of policies) {
      if (name === 'response-wrapping' || name === 'control-group') throw new BadRequest(`cannot assign policy ${JSON.stringify(name)}`);
      if (name !== 'root' && !(await this.#policies.policyExists(name))) warnings.push(`Policy ${JSON.stringify(name)} does not exist`);
    }
    const cidrs = boundCidrs(parent.record.bound_cidrs, role, order.bound_cidrs, maker.remoteAddress);
    const now = this.#clock.millis();
    // A child ends with its maker, or keeps these limits when it is made an orphan later. To outlive its maker otherwise takes sudo or a role.
    const outlives = role?.orphan === true || (sudo && !isRoot);
    const latest = orphan && !outlives ? longestEnd(parent.record, mount) : hardEnd(parent.record);
    const span = this.#span(order, { period, explicitMax, isRoot, left: (latest - now) / 1_000 }, mount);
    if (isRoot && span.ttl === 0 && parent.record.expires !== 0)
      throw new BadRequest('expiring root tokens cannot create non-expiring root tokens');
    const entityId = await this.#entity(order, role, parent, orphan, mount.accessor);
    const named = role !== undefined && (role.allowed_policies.length > 0 || role.allowed_policies_glob.length > 0);
    const within = policyBounds({
      maker: parent.record,
      identityPolicies: maker.identityPolicies,
      policies,
      entityId,
      decided: named ? 'by role' : sudo ? 'by sudo' : undefined,
    });
    const meta = order.meta && Object.keys(order.meta).length > 0 ? { ...order.meta } : undefined;
    const path = role ? `auth/token/create/${role.name}${role.path_suffix ? `/${role.path_suffix}` : ''}` : request.path;
    const shared = {
      path,
      policies,
      ...(meta ? { meta } : {}),
      display_name: displayName(order.display_name),
      ...(entityId === '' ? {} : { entity_id: entityId }),
      created: now,
      expires: span.ttl === 0 ? 0 : Math.min(now + span.ttl * 1_000, latest),
      creation_ttl: span.ttl,
      ...(orphan ? {} : { parent: parent.digest }),
      ...(cidrs.length > 0 ? { bound_cidrs: cidrs } : {}),
      ...(within.length > 0 ? { within } : {}),
      ...(noDefault ? { no_default_policy: true } : {}),
      ...(role ? { role: role.name } : {}),
    };
    const renewable =
      type === 'service' && span.ttl > 0 && (role ? role.renewable && order.renewable !== false : order.renewable !== false);
    let token: string;
    let accessor = '';
    if (type === 'batch') {
      await this.#store.transaction(async (tx) => requireLivingMaker(tx, parent));
      token = this.#tokens.makeBatch(shared);
    } else {
      const record: Omit<TokenRecord, 'accessor'> = {
        ...shared,
        renewable,
        ...(explicitMax > 0 ? { explicit_max_ttl: explicitMax } : {}),
        ...(period > 0 ? { period } : {}),
        ...(numUses > 0 ? { num_uses: numUses } : {}),
        ...(latest < Infinity ? { latest } : {}),
      };
      // Whoever had this id before leaves nothing behind.
      const chosen = order.id ? this.#tokens.digestOfChosen(order.id) : undefined;
      if (chosen !== undefined) await this.#revoker.takeRemains(chosen, NEVER);
      const made = await this.#store.transaction(async (tx) => {
        await requireLivingMaker(tx, parent);
        if (chosen !== undefined && (await this.#tokens.byDigest(chosen)))
          throw new BadRequest('cannot create a token with a duplicate ID');
        return this.#tokens.create(tx, record, order.id || undefined);
      });
      ({ token } = made);
      accessor = made.record.accessor;
    }
    const auth: AuthReply = {
      client_token: token,
      accessor,
      policies,
      token_policies: policies,
      metadata: meta ?? null,
      lease_duration: span.ttl,
      renewable,
      entity_id: entityId,
      token_type: type,
      orphan: type === 'service' && isOrphan(shared as TokenRecord),
      mfa_requirement: null,
      num_uses: numUses,
    };
    return { auth, warnings: [...warnings, ...span.warnings] };
  }

  #span(
    order: TokenOrder,
    limits: { period: number; explicitMax: number; isRoot: boolean; left: number },
    mount: MountLimits,
  ): { ttl: number; warnings: string[] } {
    const asked = order.ttl ?? 0;
    if (limits.isRoot && asked === 0 && limits.period === 0 && limits.explicitMax === 0) return { ttl: 0, warnings: [] };
    if (limits.left <= 0)
      throw new BadRequest('ttl: the calling token is at the end of its life, and no token that it makes can outlive it');
    const most = limits.left < Infinity ? smallest(limits.explicitMax, Math.ceil(limits.left)) : limits.explicitMax;
    if (limits.period > 0) {
      const limited = limitTerms({ ...mount, maxLeaseTtl: Number.MAX_SAFE_INTEGER }, { ttl: limits.period, maxTtl: most });
      return { ttl: limited.ttl, warnings: limited.warnings };
    }
    // The explicit maximum is the caller's or the role's word, so what it cuts is worth a warning, the default ttl too.
    const ttl = asked === 0 && limits.explicitMax > 0 ? mount.defaultLeaseTtl : asked;
    return limitTerms(mount, { ttl, maxTtl: most });
  }

  async #entity(
    order: TokenOrder,
    role: TokenRole | undefined,
    parent: FoundToken,
    orphan: boolean,
    mountAccessor: string,
  ): Promise<string> {
    if (order.entity_alias !== undefined && order.entity_alias !== '') {
      if (!role) throw new BadRequest("'entity_alias' is only allowed in combination with token role");
      const alias = order.entity_alias.toLowerCase();
      if (!role.allowed_entity_aliases?.some((allowed) => globMatches(allowed.toLowerCase(), alias)))
        throw new BadRequest("invalid 'entity_alias' value");
      return (await this.#identity.resolveLogin({ mountAccessor, alias: { name: order.entity_alias } })).entityId;
    }
    return orphan ? '' : (parent.record.entity_id ?? '');
  }
}

function typeOf(order: TokenOrder, role: TokenRole | undefined): 'service' | 'batch' {
  const fixed = role?.token_type;
  if (fixed === 'service' || fixed === 'batch') return fixed;
  switch (order.type ?? '') {
    case '':
      return fixed === 'default-batch' ? 'batch' : 'service';
    case 'service':
      return 'service';
    case 'batch':
      return 'batch';
    default:
      throw new BadRequest(`invalid 'type' value ${JSON.stringify(order.type)}; must be "service" or "batch"`);
  }
}

/** Nothing is made by a token that ended meanwhile. */
async function requireLivingMaker(tx: StoreTransaction, maker: FoundToken): Promise<void> {
  if (!(await isAlive(tx, maker.digest))) throw new PermissionDenied();
}

function smallest(a: number, b: number): number {
  return a > 0 && b > 0 ? Math.min(a, b) : Math.max(a, b);
}

function displayName(asked: string | undefined): string {
  return asked ? `token-${asked.replace(/[^a-zA-Z0-9-]/g, '-').replace(/-+$/, '')}` : 'token';
}

import { BadRequest, TokenRefused, withinCidrs, type Clock, type IssuedAuth } from '@strongroom/engine-sdk';
import type { IdentityStore } from '../identity/identity-store.ts';
import { limitTerms } from '../../kernel/mounts/lease-terms.ts';
import { requireIssuing } from '../../kernel/mounts/mount-record.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { AuthReply } from '../../kernel/call/core-response.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { policySet } from './policy-set.ts';
import type { TokenRecord } from './token-record.ts';
import type { TokenStore } from './token-store.ts';

/** Makes tokens of logins. */
export class LoginTokens {
  readonly #store: Store;
  readonly #tokens: TokenStore;
  readonly #identity: IdentityStore;
  readonly #clock: Clock;

  constructor(parts: { store: Store; tokens: TokenStore; identity: IdentityStore; clock: Clock }) {
    this.#store = parts.store;
    this.#tokens = parts.tokens;
    this.#identity = parts.identity;
    this.#clock = parts.clock;
  }

  async issue(
    mount: Mount,
    issued: IssuedAuth,
    request: { path: string; remoteAddress: string },
  ): Promise<{ auth: AuthReply; warnings: readonly string[] }> {
    const { terms } = issued;
    if (!withinCidrs(terms.boundCidrs, request.remoteAddress)) throw new TokenRefused();
    const policies = policySet(issued.policies, terms.noDefaultPolicy);
    if (policies.includes('root')) throw new BadRequest('auth methods cannot create root tokens');
    const entityId = issued.alias ? await this.#resolve(mount, issued, issued.alias) : '';
    const now = this.#clock.millis();
    const limited = limitTerms(mount, { ttl: terms.period > 0 ? terms.period : terms.ttl, maxTtl: terms.period > 0 ? 0 : terms.maxTtl });
    const warnings = [...limited.warnings];
    let { ttl } = limited;
    if (terms.explicitMaxTtl > 0) ttl = Math.min(ttl, terms.explicitMaxTtl);
    const type = this.#type(mount, terms.type);
    if (type === 'batch' && terms.numUses > 0) {
      throw new BadRequest('batch tokens cannot have "num_uses" set: set token_num_uses to 0, or token_type to service');
    }
    const meta = Object.keys(issued.metadata).length > 0 ? { ...issued.metadata } : undefined;
    const mountName = mount.path.slice('auth/'.length, -1).replaceAll('/', '-');
    const displayName = issued.displayName === '' ? mountName : `${mountName}-${issued.displayName}`;
    const prepare = async (tx: StoreTransaction): Promise<void> => {
      await requireIssuing(tx, mount.uuid);
      await mount.run(async () => issued.consume?.(mount.storage.within(tx)));
    };
    const shared = {
      path: request.path,
      policies,
      ...(meta ? { meta } : {}),
      display_name: displayName,
      ...(entityId === '' ? {} : { entity_id: entityId }),
      created: now,
      expires: now + ttl * 1_000,
      creation_ttl: ttl,
      ...(terms.boundCidrs.length > 0 ? { bound_cidrs: [...terms.boundCidrs] } : {}),
      ...(terms.noDefaultPolicy ? { no_default_policy: true } : {}),
    };
    let token: string;
    let accessor = '';
    if (type === 'batch') {
      await this.#store.transaction(prepare);
      token = this.#tokens.makeBatch(shared);
    } else {
      const record: Omit<TokenRecord, 'accessor'> = {
        ...shared,
        renewable: terms.renewable,
        max_ttl: limited.maxTtl,
        ...(terms.explicitMaxTtl > 0 ? { explicit_max_ttl: terms.explicitMaxTtl } : {}),
        ...(terms.period > 0 ? { period: terms.period } : {}),
        ...(terms.numUses > 0 ? { num_uses: terms.numUses } : {}),
        mount: mount.uuid,
        ...(issued.internal ? { internal: { ...issued.internal } } : {}),
      };
      const made = await this.#store.transaction(async (tx) => {
        await prepare(tx);
        return this.#tokens.create(tx, record);
      });
      ({ token } = made);
      accessor = made.record.accessor;
    }
    const identity = entityId === '' ? [] : ((await this.#identity.policiesOf(entityId))?.policies ?? []);
    const identityPolicies = identity.filter((name) => !policies.includes(name));
    const auth: AuthReply = {
      client_token: token,
      accessor,
      policies: [...new Set([...policies, ...identityPolicies])].sort(),
      token_policies: policies,
      ...(identityPolicies.length > 0 ? { identity_policies: [...identityPolicies] } : {}),
      metadata: meta ?? null,
      lease_duration: ttl,
      renewable: type === 'service' && terms.renewable,
      entity_id: entityId,
      token_type: type,
      orphan: true,
      mfa_requirement: null,
      num_uses: terms.numUses,
    };
    return { auth, warnings };
  }

  async #resolve(mount: Mount, issued: IssuedAuth, alias: NonNullable<IssuedAuth['alias']>): Promise<string> {
    const { entityId } = await this.#identity.resolveLogin({
      mountAccessor: mount.accessor,
      alias,
      ...(issued.groupAliases ? { groupAliases: issued.groupAliases } : {}),
    });
    const entity = await this.#identity.policiesOf(entityId);
    if (entity?.disabled) throw new TokenRefused();
    return entityId;
  }

  #type(mount: Mount, asked: IssuedAuth['terms']['type']): 'service' | 'batch' {
    const tuned = mount.record.config.token_type ?? 'default-service';
    if (tuned === 'batch' || tuned === 'service') return tuned;
    if (asked === 'batch' || asked === 'default-batch') return 'batch';
    if (asked === 'service' || asked === 'default-service') return 'service';
    return tuned === 'default-batch' ? 'batch' : 'service';
  }
}

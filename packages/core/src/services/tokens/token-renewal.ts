import { BadRequest, EngineError, InternalError, type Clock } from '@strongroom/engine-sdk';
import type { IdentityStore } from '../identity/identity-store.ts';
import { cappedWarning, limitTerms } from '../../kernel/mounts/lease-terms.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { AuthReply } from '../../kernel/call/core-response.ts';
import { isOrphan, type TokenRecord } from './token-record.ts';
import type { FoundToken, TokenStore } from './token-store.ts';

/** Who asks for a renewal. */
export interface RenewalCaller {
  readonly remoteAddress: string;
  readonly certificates?: readonly Uint8Array[];
}

/** Extends tokens: those of `auth/token/create` by their own record, those of a login after asking its method. */
export class TokenRenewal {
  readonly #tokens: TokenStore;
  readonly #identity: IdentityStore;
  readonly #clock: Clock;
  readonly #mount: (uuid: string) => Mount | undefined;
  readonly #tokenMount: () => Mount;

  constructor(parts: {
    tokens: TokenStore;
    identity: IdentityStore;
    clock: Clock;
    mount: (uuid: string) => Mount | undefined;
    tokenMount: () => Mount;
  }) {
    this.#tokens = parts.tokens;
    this.#identity = parts.identity;
    this.#clock = parts.clock;
    this.#mount = parts.mount;
    this.#tokenMount = parts.tokenMount;
  }

  async renew(
    found: FoundToken,
    token: string,
    increment: number,
    { caller, signal }: { caller: RenewalCaller; signal: AbortSignal },
  ): Promise<{ auth: AuthReply; warnings: string[] }> {
    if (found.type === 'batch') throw new BadRequest('batch tokens cannot be renewed');
    const { record } = found;
    if (!record.renewable || record.expires === 0) throw new BadRequest('lease is not renewable');
    const terms =
      record.mount === undefined ? { ttl: 0, maxTtl: 0, period: record.period ?? 0 } : await this.#askMethod(record, caller, signal);
    const mount = (record.mount === undefined ? undefined : this.#mount(record.mount)) ?? this.#tokenMount();
    const now = this.#clock.millis();
    const warnings: string[] = [];
    // A period starts again at each renewal and has no end but the explicit maximum.
    const wanted =
      terms.period > 0
        ? terms.period
        : increment > 0
          ? increment
          : terms.ttl > 0
            ? terms.ttl
            : record.creation_ttl || mount.defaultLeaseTtl;
    let most = Infinity;
    if (terms.period === 0) most = limitTerms(mount, { ttl: 0, maxTtl: terms.maxTtl }).maxTtl;
    if (record.explicit_max_ttl) most = Math.min(most, record.explicit_max_ttl);
    const last = Math.min(record.created + most * 1_000, record.latest ?? Infinity);
    if (last <= now) throw new BadRequest('past the max TTL, cannot renew');
    let expires = now + wanted * 1_000;
    if (expires > last) {
      // Nobody asked for the default of the mount.
      const asked = terms.period > 0 || increment > 0 || terms.ttl > 0;
      if (asked) warnings.push(cappedWarning(wanted, Math.floor((last - now) / 1_000)));
      expires = last;
    }
    const renewed = await this.#tokens.update(found.digest, (current) =>
      current.revoking
        ? undefined
        : { ...current, expires, due: expires, last_renewal: now, ...(terms.period > 0 ? { period: terms.period } : {}) },
    );
    if (!renewed || renewed.revoking) throw new BadRequest('token not found');
    const identity = record.entity_id ? ((await this.#identity.policiesOf(record.entity_id))?.policies ?? []) : [];
    const more = identity.filter((name) => !record.policies.includes(name));
    const auth: AuthReply = {
      client_token: token,
      accessor: record.accessor,
      policies: [...new Set([...record.policies, ...more])].sort(),
      token_policies: record.policies,
      ...(more.length > 0 ? { identity_policies: [...more] } : {}),
      metadata: record.meta ?? null,
      lease_duration: Math.round((expires - now) / 1_000),
      renewable: true,
      entity_id: record.entity_id ?? '',
      token_type: 'service',
      orphan: isOrphan(record),
      mfa_requirement: null,
      num_uses: Math.max(0, record.num_uses ?? 0),
    };
    return { auth, warnings };
  }

  /** What the login method still grants. @throws what it says, in Vault's and OpenBao's form. */
  async #askMethod(
    record: TokenRecord,
    caller: RenewalCaller,
    signal: AbortSignal,
  ): Promise<{ ttl: number; maxTtl: number; period: number }> {
    const mount = this.#mount(record.mount!);
    if (!mount?.engine?.renewAuth) throw new BadRequest('lease is not renewable');
    try {
      const renewed = await mount.engine.renewAuth({
        internal: record.internal ?? {},
        policies: record.policies,
        metadata: record.meta ?? {},
        displayName: record.display_name,
        remoteAddress: caller.remoteAddress,
        certificates: caller.certificates ?? [],
        storage: mount.storage,
        signal,
      });
      if (record.entity_id && renewed.groupAliases) {
        await this.#identity.refreshGroups({
          entityId: record.entity_id,
          mountAccessor: mount.accessor,
          groupAliases: renewed.groupAliases,
        });
      }
      return renewed;
    } catch (error) {
      if (error instanceof EngineError) throw error;
      throw new InternalError(`failed to renew entry: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
}

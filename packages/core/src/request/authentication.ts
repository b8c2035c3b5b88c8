import { TokenRefused, withinCidrs, type Log } from '@strongroom/engine-sdk';
import type { CallerIdentity } from '../services/caller/caller-identity.ts';
import type { TokenAccess } from '../services/caller/token-access.ts';
import type { TokenRevoker } from '../services/tokens/token-revoker.ts';
import type { FoundToken, TokenStore } from '../services/tokens/token-store.ts';
import type { Call } from './call.ts';
import type { MaybePromise } from '../kernel/storage/maybe-promise.ts';
import { NEVER } from '../kernel/work/never.ts';

/** Turns the token of a call into who is calling and what they may do. */
export class Authentication {
  readonly #tokens: TokenStore;
  readonly #access: TokenAccess;
  readonly #revoker: TokenRevoker;
  readonly #log: Log;

  constructor(parts: { tokens: TokenStore; access: TokenAccess; revoker: TokenRevoker; log: Log }) {
    this.#tokens = parts.tokens;
    this.#access = parts.access;
    this.#revoker = parts.revoker;
    this.#log = parts.log;
  }

  /** Fills in token, identity and ACL, and takes one use of a token that has few. All of it may be known at once. @throws TokenRefused */
  identify(call: Call): MaybePromise<void> {
    if (call.bearer === undefined) throw new TokenRefused();
    const found = this.#tokens.find(call.bearer);
    return found instanceof Promise ? found.then((later) => this.#take(call, later)) : this.#take(call, found);
  }

  #take(call: Call, found: FoundToken | undefined): MaybePromise<void> {
    if (!found) throw new TokenRefused();
    if (!withinCidrs(found.record.bound_cidrs, call.remoteAddress)) throw new TokenRefused();
    if (found.record.num_uses) return this.#use(call, found);
    call.token = found;
    return this.#enter(call, this.#access.identityOf(call.bearer!, found));
  }

  async #use(call: Call, found: FoundToken): Promise<void> {
    const record = await this.#tokens.use(found.digest);
    if (!record) throw new TokenRefused();
    call.lastUse = record.num_uses === -1;
    call.token = { ...found, record };
    await this.#enter(call, this.#access.identityOf(call.bearer!, call.token));
  }

  #enter(call: Call, identity: MaybePromise<CallerIdentity>): MaybePromise<void> {
    if (identity instanceof Promise) return identity.then((known) => this.#enter(call, known));
    call.identity = identity;
    const acl = this.#access.aclOf(identity);
    if (acl instanceof Promise) return acl.then((compiled) => void (call.acl = compiled));
    call.acl = acl;
  }

  /** After a call with the last use of a token. The answer stands even if the token's children or leases cannot be ended now. */
  async finish(call: Call): Promise<void> {
    try {
      await this.#revoker.revoke(call.token!.digest, NEVER);
    } catch (error) {
      this.#log.error('a token could not be revoked after its last use', { request_id: call.id, error: String(error) });
    }
  }
}

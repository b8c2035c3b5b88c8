import { TokenRefused, withinCidrs, type Log } from '@strongroom/engine-sdk';
import type { TokenAccess } from '../services/caller/token-access.ts';
import type { TokenRevoker } from '../services/tokens/token-revoker.ts';
import type { TokenStore } from '../services/tokens/token-store.ts';
import type { Call } from './call.ts';
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
    const identity = this.#access.identityOf(call.bearer, used);
    call.identity = identity instanceof Promise ? await identity : identity;
    const acl = this.#access.aclOf(call.identity);
    call.acl = acl instanceof Promise ? await acl : acl;
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

import type { Log } from '@strongroom/engine-sdk';
import type { LeaseStore } from '../leases/lease-store.ts';
import type { DueEntry } from '../schedule/schedule-index.ts';
import type { Clock } from '@strongroom/engine-sdk';
import type { Store } from '../storage/store.ts';
import type { TokenStore } from './token-store.ts';

const CUBBYHOLE = 'cubbyhole/';

/** Ends tokens with all that hangs on them: children first, then leases, then the cubbyhole, the record last. */
export class TokenRevoker {
  readonly #tokens: TokenStore;
  readonly #leases: LeaseStore;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor(options: { tokens: TokenStore; leases: LeaseStore; store: Store; clock: Clock; log: Log }) {
    this.#tokens = options.tokens;
    this.#leases = options.leases;
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /**
   * The token is dead when this begins, and everything below it when it ends. A credential that cannot be taken back yet goes
   * on as a lease of its own, tried again until it is. Repeating it is harmless.
   */
  async revoke(digest: string, signal: AbortSignal, options: { orphanChildren?: boolean } = {}): Promise<void> {
    // Iterative, since families can be deep: a token is removed when its children are.
    const stack = [digest];
    while (stack.length > 0) {
      const current = stack[stack.length - 1]!;
      await this.#kill(current);
      if (options.orphanChildren && current === digest) {
        await this.#detachChildren(current);
      } else {
        const children = await this.#tokens.children(current, 200);
        const open = children.filter((child) => !stack.includes(child));
        if (open.length > 0) {
          stack.push(...open);
          continue;
        }
      }
      stack.pop();
      await this.#takeLeases(current, signal);
      await this.#emptyCubbyhole(current);
      await this.#tokens.remove(current);
    }
  }

  /** Works off a token's end in the schedule. */
  async run(due: DueEntry, signal: AbortSignal): Promise<void> {
    const found = await this.#tokens.byDigest(due.id);
    if (!found || found.record.due !== due.at) {
      await this.#store.transaction(async (tx) => tx.delete(due.key));
      return;
    }
    await this.revoke(due.id, signal);
  }

  async #kill(digest: string): Promise<void> {
    const now = this.#clock.millis();
    await this.#tokens.update(digest, (record) => (record.revoking ? undefined : { ...record, revoking: true, due: now }));
  }

  async #detachChildren(digest: string): Promise<void> {
    for (;;) {
      const children = await this.#tokens.children(digest, 200);
      if (children.length === 0) return;
      await Promise.all(children.map(async (child) => this.#tokens.detach(digest, child)));
    }
  }

  async #takeLeases(digest: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const ids = await this.#leases.ofToken(digest, 100);
      if (ids.length === 0) return;
      await Promise.all(
        ids.map(async (id) => {
          try {
            await this.#leases.revoke(id, { signal });
          } catch (error) {
            this.#log.warn('a lease outlives its token because it cannot be revoked yet', { lease: id, error: String(error) });
          }
          await this.#leases.detach(digest, id);
        }),
      );
    }
  }

  async #emptyCubbyhole(digest: string): Promise<void> {
    for (;;) {
      const keys = await this.#store.keys({ prefix: `${CUBBYHOLE}${digest}/`, limit: 200 });
      if (keys.length === 0) return;
      await this.#store.transaction(async (tx) => {
        for (const key of keys) tx.delete(key);
      });
    }
  }
}

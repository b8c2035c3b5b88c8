import type { Log } from '@strongroom/engine-sdk';
import { CorruptRecord } from '../barrier/key-ring.ts';
import type { LeaseStore } from '../leases/lease-store.ts';
import type { DueEntry } from '../schedule/schedule-index.ts';
import type { Store } from '../storage/store.ts';
import { Slots } from './slots.ts';
import type { TokenStore } from './token-store.ts';

const CUBBYHOLE = 'cubbyhole/';
/** Steps of one family's revocation that run at a time. */
const AT_A_TIME = 64;

/** Ends tokens with all that hangs on them: children first, then leases, then the cubbyhole, the record last. */
export class TokenRevoker {
  readonly #tokens: TokenStore;
  readonly #leases: LeaseStore;
  readonly #store: Store;
  readonly #log: Log;

  constructor(options: { tokens: TokenStore; leases: LeaseStore; store: Store; log: Log }) {
    this.#tokens = options.tokens;
    this.#leases = options.leases;
    this.#store = options.store;
    this.#log = options.log;
  }

  /**
   * The token is dead when this begins, and everything below it when it ends. A credential that cannot be taken back yet goes
   * on as a lease of its own, tried again until it is. Repeating it is harmless.
   */
  async revoke(digest: string, signal: AbortSignal, options: { orphanChildren?: boolean } = {}): Promise<void> {
    await this.#end(digest, { signal, slots: new Slots(AT_A_TIME), orphanChildren: options.orphanChildren === true });
  }

  /** Works off a token's end in the schedule. A damaged record ends too: the index says that its time has come. */
  async run(due: DueEntry, signal: AbortSignal): Promise<void> {
    try {
      if (!(await this.#tokens.beginRevocation(due.id, due))) return;
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error;
      await this.revoke(due.id, signal);
      await this.#store.transaction(async (tx) => tx.delete(due.key));
      return;
    }
    await this.revoke(due.id, signal);
  }

  async #end(digest: string, how: { signal: AbortSignal; slots: Slots; orphanChildren: boolean }, parent?: string): Promise<void> {
    const { signal, slots } = how;
    await slots.run(async () => this.#kill(digest));
    for (;;) {
      const children = await this.#tokens.children(digest, 200);
      if (children.length === 0) break;
      await Promise.all(
        children.map(async (child) =>
          how.orphanChildren
            ? slots.run(async () => this.#tokens.detach(digest, child))
            : this.#end(child, { signal, slots, orphanChildren: false }, digest),
        ),
      );
    }
    await slots.run(async () => {
      await this.#takeLeases(digest, signal);
      await this.#emptyCubbyhole(digest);
      await this.#tokens.remove(digest, parent);
    });
  }

  async #kill(digest: string): Promise<void> {
    try {
      await this.#tokens.beginRevocation(digest);
    } catch (error) {
      // Nobody can use a token whose record cannot be read.
      if (!(error instanceof CorruptRecord)) throw error;
    }
  }

  async #takeLeases(digest: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const ids = await this.#leases.ofToken(digest, 100);
      if (ids.length === 0) return;
      await Promise.all(
        ids.map(async (id) => {
          try {
            if (await this.#leases.revoke(id, { signal })) return;
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

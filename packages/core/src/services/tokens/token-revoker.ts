import type { Log } from '@strongroom/engine-sdk';
import type { LeaseStore } from '../leases/lease-store.ts';
import { Bulkhead } from '../../kernel/work/bulkhead.ts';
import type { DueEntry } from '../../kernel/work/schedule-index.ts';
import type { Store } from '../../kernel/storage/store.ts';
import { CUBBYHOLE, type Begun, type TokenStore } from './token-store.ts';

/** Steps of one family's revocation that run at a time. */
const AT_A_TIME = 64;
/** Tokens whose end is committed together, and how many such commits are under way. */
const BATCH = 128;
const BATCHES = 5;

interface Waiting {
  readonly digest: string;
  /** Where its end stands in the schedule, if that is why it ends. */
  readonly entry?: DueEntry;
  readonly signal: AbortSignal;
  done(): void;
  failed(reason: unknown): void;
}

interface Gone {
  readonly tombstone: string;
  done(): void;
}

/** Ends tokens with all that hangs on them: children first, then leases, then the cubbyhole, the record last. */
export class TokenRevoker {
  readonly #tokens: TokenStore;
  readonly #leases: LeaseStore;
  readonly #store: Store;
  readonly #log: Log;
  readonly #waiting: Waiting[] = [];
  #batches = 0;
  /** Tokens that are gone, and whose tombstones go with the next commit. */
  #gone: Gone[] = [];

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
    await this.#end(digest, { signal, bulkhead: new Bulkhead({ concurrent: AT_A_TIME }), orphanChildren: options.orphanChildren === true });
  }

  /** The same for many; most tokens have nothing hanging on them, and go in a few commits together. */
  async revokeAll(digests: readonly string[], signal: AbortSignal): Promise<void> {
    await Promise.all(digests.map(async (digest) => this.#join({ digest, signal })));
  }

  /** The tokens are dead when this resolves; the schedule takes back what hangs on them. */
  async revokeSoon(digests: readonly string[]): Promise<void> {
    await this.#tokens.beginRevocation(digests.map((digest) => ({ digest })));
  }

  /** Processes a token's end in the schedule. A damaged record ends too: the index says that its time has come. */
  async run(due: DueEntry, signal: AbortSignal): Promise<void> {
    await this.#join({ digest: due.id, entry: due, signal });
  }

  /** Processes a tombstone in the schedule. */
  async runTombstone(due: DueEntry, signal: AbortSignal): Promise<void> {
    const tombstone = await this.#tokens.tombstones.claim(due);
    if (tombstone !== undefined) await this.#finish(due.id, tombstone, signal);
  }

  /** Looks at once where processes that have ended did not get to it. */
  async handOn(): Promise<number> {
    return this.#tokens.tombstones.hasten();
  }

  /**
   * Takes back what is still there of a token whose record is gone: what was hung on it while it ended. What hangs on a token that was made again
   * with the same id is that one's, because none is made before this is done.
   */
  async takeRemains(digest: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const [children, leases, kept] = await Promise.all([
        this.#tokens.children(digest, 200),
        this.#leases.ofToken(digest, 100),
        this.#store.keys({ prefix: `${CUBBYHOLE}${digest}/`, limit: 200 }),
      ]);
      if (children.length + leases.length + kept.length === 0 || (await this.#tokens.exists(digest))) return;
      const bulkhead = new Bulkhead({ concurrent: AT_A_TIME });
      await Promise.all(children.map(async (child) => this.#end(child, { signal, bulkhead, orphanChildren: false }, digest)));
      await this.#takeLeases(digest, leases, signal);
      await this.#deleteAll(kept);
    }
  }

  /** Waits for the batch that the token goes with. */
  #join(item: Omit<Waiting, 'done' | 'failed'>): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ ...item, done, failed });
      this.#nextBatch();
    });
  }

  /** Requests get their turn between two batches. */
  #nextBatch(): void {
    if (this.#batches >= BATCHES || (this.#waiting.length === 0 && (this.#batches > 0 || this.#gone.length === 0))) return;
    this.#batches += 1;
    setImmediate(() => {
      const batch = this.#waiting.splice(0, BATCH);
      void this.#together(batch)
        .catch(async () => this.#apart(batch))
        .finally(() => {
          this.#batches -= 1;
          this.#nextBatch();
        });
    });
  }

  async #together(batch: readonly Waiting[]): Promise<void> {
    const laden = await this.#tokens.laden(batch.map(({ digest }) => digest));
    const bare = batch.filter(({ digest }) => !laden.has(digest));
    const rest = batch.filter(({ digest }) => laden.has(digest));
    // Whatever takes long does not hold up the others.
    if (rest.length > 0) this.#endEach(rest, await this.#tokens.beginRevocation(rest));
    const gone = this.#gone.splice(0, BATCH);
    if (bare.length === 0 && gone.length === 0) return;
    const removed = await this.#removed(bare, gone);
    // What was hung on one of them between the look and its removal.
    const late = await this.#tokens.laden(removed.map(({ digest }) => digest));
    const caught = bare.filter(({ digest }) => late.has(digest));
    if (caught.length > 0) this.#endEach(caught, removed);
    const ours = byDigest(removed);
    for (const { digest, done } of bare) {
      if (late.has(digest)) continue;
      const tombstone = ours.get(digest)?.tombstone;
      if (tombstone === undefined) done();
      else this.#gone.push({ tombstone, done });
    }
  }

  /** Removes tokens, and the tombstones of those that went before them. */
  async #removed(bare: readonly Waiting[], gone: readonly Gone[]): Promise<readonly Begun[]> {
    try {
      return await this.#tokens.removeBare(
        bare,
        gone.map(({ tombstone }) => tombstone),
      );
    } finally {
      // Where that failed, the schedule comes across the tombstones.
      for (const { done } of gone) done();
    }
  }

  /** Each with what hangs on it; those that are not ours to end are done. */
  #endEach(items: readonly Waiting[], ours: readonly Begun[]): void {
    const begun = byDigest(ours);
    for (const item of items) {
      const mine = begun.get(item.digest);
      if (!mine) item.done();
      else void this.#endOne(mine, item.signal).then(item.done, item.failed);
    }
  }

  async #endOne({ digest, tombstone }: Begun, signal: AbortSignal): Promise<void> {
    if (tombstone === undefined) await this.revoke(digest, signal);
    else await this.#finish(digest, tombstone, signal);
  }

  async #finish(digest: string, tombstone: string, signal: AbortSignal): Promise<void> {
    await this.takeRemains(digest, signal);
    await this.#tokens.forget(digest, tombstone);
  }

  /** One of a batch failed: each for itself, so that it is the only one. What was done is done again, harmlessly. */
  async #apart(batch: readonly Waiting[]): Promise<void> {
    for (const item of batch) await this.#together([item]).catch(item.failed);
  }

  async #end(digest: string, how: { signal: AbortSignal; bulkhead: Bulkhead; orphanChildren: boolean }, parent?: string): Promise<void> {
    const { signal, bulkhead } = how;
    const [begun] = await bulkhead.run(async () => this.#tokens.beginRevocation([{ digest }]));
    for (;;) {
      const children = await this.#tokens.children(digest, 200);
      if (children.length === 0) break;
      await Promise.all(
        children.map(async (child) =>
          how.orphanChildren
            ? bulkhead.run(async () => this.#tokens.detach(digest, child))
            : this.#end(child, { signal, bulkhead, orphanChildren: false }, digest),
        ),
      );
    }
    await bulkhead.run(async () => {
      await this.#takeAllLeases(digest, signal);
      await this.#emptyCubbyhole(digest);
      await this.#tokens.remove(digest, { parent, tombstone: begun?.tombstone });
    });
  }

  async #takeAllLeases(digest: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const ids = await this.#leases.ofToken(digest, 100);
      if (ids.length === 0) return;
      await this.#takeLeases(digest, ids, signal);
    }
  }

  async #takeLeases(digest: string, ids: readonly string[], signal: AbortSignal): Promise<void> {
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

  async #emptyCubbyhole(digest: string): Promise<void> {
    for (;;) {
      const keys = await this.#store.keys({ prefix: `${CUBBYHOLE}${digest}/`, limit: 200 });
      if (keys.length === 0) return;
      await this.#deleteAll(keys);
    }
  }

  async #deleteAll(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await this.#store.transaction(async (tx) => {
      for (const key of keys) tx.delete(key);
    });
  }
}

/** Of a token that was named twice, the one with its tombstone. */
function byDigest(begun: readonly Begun[]): Map<string, Begun> {
  const found = new Map<string, Begun>();
  for (const one of begun) if (one.tombstone !== undefined || !found.has(one.digest)) found.set(one.digest, one);
  return found;
}

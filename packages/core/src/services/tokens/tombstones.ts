import type { Clock } from '@strongroom/engine-sdk';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { CLAIM } from '../../kernel/work/due-work.ts';
import { dueBetween, dueKey, type DueEntry } from '../../kernel/work/schedule-index.ts';

/**
 * Entries of the schedule for tokens whose records are gone. What was hung on such a token while it was removed is still there: whoever comes across the
 * tombstone looks for it, and takes the tombstone away afterwards. It is due when a claim would end.
 */
export class Tombstones {
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(options: { store: Store; clock: Clock }) {
    this.#store = options.store;
    this.#clock = options.clock;
  }

  /** Resolves to the key of the tombstone. */
  put(tx: StoreTransaction, digest: string): string {
    const key = dueKey(this.#clock.millis() + CLAIM, 'tombstone', digest);
    tx.mark(key);
    return key;
  }

  /** Resolves with the key of the tombstone that replaces this one while the caller is at work; undefined where another process was faster. */
  async claim({ key, id }: DueEntry): Promise<string | undefined> {
    return this.#store.transaction(async (tx) => {
      if (!(await tx.isMark(key))) return undefined;
      tx.delete(key);
      return this.put(tx, id);
    });
  }

  /**
   * Makes those due that processes which have ended left: nobody waits for what hangs on a token without a record. Those of others
   * come along, which does no harm. Resolves with their number.
   */
  async hasten(): Promise<number> {
    const now = this.#clock.millis();
    let count = 0;
    for await (const page of dueBetween(this.#store, 'tombstone', now, now + CLAIM)) {
      if (page.length === 0) continue;
      count += await this.#store.transaction(async (tx) => {
        let moved = 0;
        for (const { key, id } of page) {
          if (!(await tx.isMark(key))) continue;
          tx.delete(key);
          tx.mark(dueKey(now, 'tombstone', id));
          moved += 1;
        }
        return moved;
      });
    }
    return count;
  }
}

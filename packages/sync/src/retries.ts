import type { EngineHost, Schedule, Transaction } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { pages, placeOf, reconciliationTarget, recordsIn, syncTarget, type AssociationRecord, type DestinationRecord } from './records.ts';
import type { SyncQueue } from './sync-queue.ts';

const RetryEntry = Type.Object({ destination: Type.String(), place: Type.String() });

/** A destination was written, or an account that it uses: what failed is tried again at once, since that may have been the cause. */
export class Retries {
  readonly #host: EngineHost;
  readonly #queue: SyncQueue;

  /** Asks nobody outside, so no pause and no circuit breaker of the destination holds it up. */
  readonly job: Schedule<typeof RetryEntry> = {
    kind: 'retry',
    entry: RetryEntry,
    run: async (entry, _storage, signal) => this.#run(entry, signal),
  };

  constructor(host: EngineHost, queue: SyncQueue) {
    this.#host = host;
    this.#queue = queue;
  }

  /** Part of the commit that writes the destination or the account. */
  async plan(tx: Transaction, destination: DestinationRecord): Promise<void> {
    const { id } = destination;
    await tx.schedule(this.job, id, this.#host.clock.now(), { destination: id, place: placeOf(destination) });
  }

  /** After that commit: what failed with the old settings says nothing of the new ones. */
  written(destination: DestinationRecord): void {
    const place = placeOf(destination);
    for (const target of [syncTarget(place), reconciliationTarget(place)]) this.#host.circuit(target).reset();
  }

  async #run({ destination, place }: Static<typeof RetryEntry>, signal: AbortSignal): Promise<undefined> {
    const { associations, destinations } = recordsIn(this.#host.storage);
    const current = await destinations.get(place);
    if (current?.id !== destination) return undefined;
    const purging = current.purge !== undefined;
    for await (const page of pages(associations, `${destination}/`)) {
      signal.throwIfAborted();
      const failed = page.filter(([, association]) => purging || hasFailed(association)).map(([id]) => id);
      if (failed.length === 0) continue;
      await this.#host.storage.transaction(async (tx) => {
        const records = recordsIn(tx);
        for (const id of failed) {
          const association = await records.associations.get(id);
          if (association && (purging || hasFailed(association)))
            await this.#queue.add(tx, association, purging ? { wanted: 'removed' } : {});
        }
      });
    }
    return undefined;
  }
}

const hasFailed = ({ next_attempt_at }: AssociationRecord): boolean => next_attempt_at !== undefined;

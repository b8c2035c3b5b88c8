import type { EngineHost, Schedule, StorageView, Transaction } from '@strongroom/engine-sdk';
import { formatMark, type OwnershipMark, type RemoteSecret } from '@strongroom/sync-sdk';
import { Type } from 'typebox';
import type { Drift } from './drift.ts';
import { nameOwnerIn, placeOf, reconciliationTarget, recordsIn, settingsIn, type DestinationRecord } from './records.ts';
import { nameId } from './remote-names.ts';
import type { SyncQueue } from './sync-queue.ts';
import type { Sessions } from './sessions.ts';

const KIND = 'reconcile';
const ReconcileEntry = Type.Object({ place: Type.String() });

/** Associations that are queued in one commit: few enough that the runs going on seldom get in its way. */
const TOGETHER = 50;

export interface Repair {
  /** Associations put into the queue. */
  readonly queued: number;
  /** Secrets of ours that no association has, taken away. */
  readonly removed: number;
}

/** Ids that are remembered of one name: more deletions than providers keep deleted secrets for. */
const MOST_FORMER = 50;

/**
 * The record of a destination goes, and with it what was to be done for it later. Its associations are gone already. Its id is kept: it is in the
 * marks of the secrets that the provider still keeps as deleted.
 */
export async function forgetDestination(tx: Transaction, place: string): Promise<void> {
  const { destinations, formerDestinations } = recordsIn(tx);
  const id = (await destinations.get(place))?.id;
  if (id !== undefined) {
    const ids = (await formerDestinations.get(place))?.ids ?? [];
    await formerDestinations.put(place, { ids: [...ids, id].slice(-MOST_FORMER) });
  }
  await destinations.delete(place);
  await recordsIn(tx).drift.delete(place);
  await tx.unschedule({ kind: KIND }, place);
}

/** Repairs what the plan finds: each association that differs is put into the queue, to be looked at outside. */
export class Reconciliation {
  readonly #host: EngineHost;
  readonly #sessions: Sessions;
  readonly #queue: SyncQueue;
  readonly #drift: Drift;
  readonly #lookAgain: (destination: DestinationRecord) => Promise<void>;

  /** Again and again, as long as the destination asks for it. */
  readonly job: Schedule<typeof ReconcileEntry> = {
    kind: KIND,
    entry: ReconcileEntry,
    target: ({ place }) => reconciliationTarget(place),
    about: async ({ place }) => ({
      noun: 'reconciliation',
      name: place,
      path: `destinations/${place}`,
      retry: `destinations/${place}/reconcile`,
    }),
    run: async ({ place }, storage, signal) => this.#periodic(place, storage, signal),
  };

  constructor(
    host: EngineHost,
    sessions: Sessions,
    queue: SyncQueue,
    drift: Drift,
    lookAgain: (destination: DestinationRecord) => Promise<void>,
  ) {
    this.#host = host;
    this.#sessions = sessions;
    this.#queue = queue;
    this.#drift = drift;
    this.#lookAgain = lookAgain;
  }

  /** After every write of the destination: soon, since what was written may be what was missing, and from then on in its interval. */
  async plan(tx: Transaction, destination: DestinationRecord): Promise<void> {
    const place = placeOf(destination);
    const associations = await recordsIn(tx).associations.list({ prefix: `${destination.id}/`, limit: 1 });
    if (associations.length > 0) await tx.schedule(this.job, place, this.#host.clock.now(), { place });
    else if (destination.reconcile_interval > 0) await tx.schedule(this.job, place, this.#next(destination), { place });
    else await tx.unschedule(this.job, place);
  }

  async repair(destination: DestinationRecord, signal: AbortSignal, options: { readonly removeOrphans: boolean }): Promise<Repair> {
    await this.#lookAgain(destination);
    const orphans: RemoteSecret[] = [];
    const queued = new Set<string>();
    await this.#drift.compare(destination, signal, {
      differs: async (association) => {
        if (!queued.has(association)) queued.add(association);
      },
      orphan: async (secret) => {
        if (options.removeOrphans) orphans.push(secret);
      },
    });
    const ids = [...queued];
    for (let from = 0; from < ids.length; from += TOGETHER) await this.#enqueue(ids.slice(from, from + TOGETHER));
    const removed = orphans.length === 0 ? 0 : await this.#removeOrphans(destination, orphans, signal);
    return { queued: queued.size, removed };
  }

  /** Resolves with how many went. What an association claimed since they were listed stays. */
  async #removeOrphans(destination: DestinationRecord, orphans: readonly RemoteSecret[], signal: AbortSignal): Promise<number> {
    const records = recordsIn(this.#host.storage);
    let removed = 0;
    await this.#sessions.use(destination, async ({ session, limits }) => {
      for (const { name, mark } of orphans) {
        const claim = nameId(destination.id, name, limits.name);
        const current = await session.read({ name, signal });
        if (!current || current.softDeleted || !mark || !sameMark(mark, current.mark)) continue;
        if ((await nameOwnerIn(records, claim)) !== undefined) continue;
        await session.remove({ name, current, signal });
        // Whoever claimed the name meanwhile may have written it before it went.
        const owner = await nameOwnerIn(records, claim);
        if (owner === undefined) removed += 1;
        else await this.#enqueue([owner]);
      }
    });
    return removed;
  }

  async #enqueue(ids: readonly string[]): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const { associations } = recordsIn(tx);
      for (const id of ids) {
        const association = await associations.get(id);
        if (association) await this.#queue.add(tx, association, { verify: true });
      }
    });
  }

  async #periodic(place: string, storage: StorageView, signal: AbortSignal): Promise<Date | undefined> {
    const records = recordsIn(storage);
    const destination = await records.destinations.get(place);
    if (!destination) return undefined;
    const { disabled } = await settingsIn(records);
    if (!disabled && !destination.purge) {
      const repaired = await this.repair(destination, signal, { removeOrphans: false });
      if (repaired.queued > 0)
        this.#host.log.info('a destination differs from its expected state', { place, associations: repaired.queued });
    }
    return destination.reconcile_interval > 0 ? this.#next(destination) : undefined;
  }

  #next({ reconcile_interval }: DestinationRecord): Date {
    return new Date(this.#host.clock.millis() + reconcile_interval * 1_000);
  }
}

const sameMark = (a: OwnershipMark, b: OwnershipMark | undefined): boolean => formatMark(a) === (b && formatMark(b));

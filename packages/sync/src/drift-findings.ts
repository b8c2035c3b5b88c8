import type { Clock, FailingThing, StorageView } from '@strongroom/engine-sdk';
import type { Finding } from './drift.ts';
import { idOf, placeOf, recordsIn, syncTarget, type DestinationRecord } from './records.ts';

/** Associations of one destination that are looked at again whenever somebody asks what needs a person. */
const LOOKED_AT = 20;

/** Counts what a person should know of a comparison: copies that somebody changed or removed outside. */
export class DriftTally {
  edited = 0;
  missing = 0;
  readonly associations = new Set<string>();

  add({ difference, association, remoteName }: Finding): void {
    const isEdited = difference === 'foreign_edit';
    // It stood outside, and nothing waits to write it again.
    const isMissing = difference === 'add' && association.remotes.some(({ name, status }) => name === remoteName && status === 'SYNCED');
    if (isEdited) this.edited += 1;
    if (isMissing) this.missing += 1;
    if ((isEdited || isMissing) && this.associations.size < LOOKED_AT) this.associations.add(idOf(association));
  }
}

/** What the last plan of each destination found to differ outside, until it is repaired. */
export class DriftFindings {
  readonly #storage: StorageView;
  readonly #clock: Clock;

  constructor(host: { readonly storage: StorageView; readonly clock: Clock }) {
    this.#storage = host.storage;
    this.#clock = host.clock;
  }

  /** Replaces what was known of the destination. */
  async found(destination: DestinationRecord, { edited, missing, associations }: DriftTally): Promise<void> {
    const place = placeOf(destination);
    await this.#storage.transaction(async (tx) => {
      const { drift, destinations } = recordsIn(tx);
      if ((await destinations.get(place))?.id !== destination.id) return;
      if (associations.size > 0) {
        await drift.put(place, { at: this.#clock.millis(), edited, missing, associations: [...associations] });
      } else if (await drift.has(place)) await drift.delete(place);
    });
  }

  /** Destinations with copies that differ. A destination counts no longer once each association that was looked at was queued again. */
  async things(limit: number): Promise<FailingThing[]> {
    const { drift, associations } = recordsIn(this.#storage);
    const things: FailingThing[] = [];
    for (const [place, { at, edited, missing, associations: ids }] of await drift.entries({ limit })) {
      const left = await Promise.all(ids.map(async (id) => associations.get(id)));
      if (!left.some((association) => association && Date.parse(association.updated_at) <= at)) continue;
      const parts = [
        ...(edited === 0 ? [] : [edited === 1 ? '1 copy was edited outside' : `${edited} copies were edited outside`]),
        ...(missing === 0 ? [] : [missing === 1 ? '1 copy is missing outside' : `${missing} copies are missing outside`]),
      ];
      things.push({
        kind: 'drift',
        noun: 'destination',
        name: place,
        path: `destinations/${place}/plan`,
        message: `${parts.join(', and ')}; the plan lists them, and reconcile repairs them`,
        since: new Date(at),
        target: syncTarget(place),
      });
    }
    return things;
  }
}

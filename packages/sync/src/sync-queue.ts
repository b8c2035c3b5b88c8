import { TooManyRequests, type EngineHost, type JobTry, type Schedule, type Transaction } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { idOf, recordsIn, settingsIn, type AssociationRecord } from './records.ts';

export const SyncEntry = Type.Object({
  /** `<destination id>/<association id>` */
  association: Type.String(),
  /** For the circuit breaker and for operators. */
  place: Type.String(),
});
export type SyncJob = Schedule<typeof SyncEntry>;

/** Puts associations into the queue: the marker that one waits, and the job that takes it up. */
export class SyncQueue {
  readonly #host: EngineHost;
  readonly #job: () => SyncJob;

  constructor(host: EngineHost, job: () => SyncJob) {
    this.#host = host;
    this.#job = job;
  }

  /** Something is to be done for the association: a change inside, a removal, a look outside. Stores it. */
  async add(
    tx: Transaction,
    before: AssociationRecord,
    change: Partial<
      Pick<
        AssociationRecord,
        'wanted' | 'verify' | 'mount_path' | 'secret_name_template' | 'granularity' | 'claimed' | 'rules' | 'by_rule_alone'
      >
    > = {},
  ): Promise<AssociationRecord> {
    const { next_attempt_at: _soon, ...rest } = before;
    const removing = (change.wanted ?? before.wanted) === 'removed';
    const association: AssociationRecord = {
      ...rest,
      ...change,
      change: before.change + 1,
      attempts: 0,
      status: removing ? 'UNSYNCING' : 'PENDING',
      updated_at: this.#host.clock.now().toISOString(),
    };
    const records = recordsIn(tx);
    await records.associations.put(idOf(association), association);
    await records.pending.put(idOf(association), {});
    await this.schedule(tx, association, this.#host.clock.now());
    return association;
  }

  /** `tried`: what the run came to that has just ended. */
  async schedule(tx: Transaction, association: AssociationRecord, at: Date, tried?: JobTry): Promise<void> {
    const id = idOf(association);
    await tx.schedule(this.#job(), id, at, { association: id, place: association.place }, tried);
  }

  async unschedule(tx: Transaction, association: AssociationRecord): Promise<void> {
    await tx.unschedule(this.#job(), idOf(association));
  }

  /** @throws TooManyRequests when as many associations wait as may */
  async checkCapacity(): Promise<void> {
    const records = recordsIn(this.#host.storage);
    const { queue_capacity } = await settingsIn(records);
    const waiting = await records.pending.list({ limit: queue_capacity });
    if (waiting.length >= queue_capacity) {
      throw new TooManyRequests(`the sync queue is full: ${waiting.length} associations wait, and queue_capacity is ${queue_capacity}`);
    }
  }
}

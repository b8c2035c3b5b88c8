import type { Log } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { SingleRecord } from '../../kernel/storage/records.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { mountRecords, type MountRecord } from '../../kernel/mounts/mount-record.ts';

/** Counts the changes of the table: a process that has not seen the latest one looks again before it makes its own. */
const serialRecord = new SingleRecord('core/mount-serial', Type.Object({ serial: Type.Number() }));

/** The table of mounts as it is stored. */
export class MountRecords {
  readonly #store: Store;
  readonly #log: Log;
  /** The table's serial number as of the last look. */
  #serial = 0;

  constructor(options: { store: Store; log: Log }) {
    this.#store = options.store;
    this.#log = options.log;
  }

  /** The table; what is committed from now on is a change to what was read here. */
  async load(): Promise<MountRecord[]> {
    this.#serial = (await serialRecord.get(this.#store))?.serial ?? 0;
    const entries = await mountRecords.entries(this.#store, {}, (error) => this.#log.error(error.message));
    return entries.map(([, record]) => record);
  }

  /** Resolves with false, and has done nothing, when another process changed the table since this one loaded it. */
  async commit(change: (tx: StoreTransaction) => void | Promise<void>): Promise<boolean> {
    const serial = this.#serial;
    const done = await this.#store.transaction(async (tx) => {
      if (((await serialRecord.get(tx))?.serial ?? 0) !== serial) return false;
      await change(tx);
      serialRecord.put(tx, { serial: serial + 1 });
      tx.notify(mountRecords.prefix);
      return true;
    });
    if (done) this.#serial = serial + 1;
    return done;
  }

  /** As `commit`. */
  async save(...records: readonly MountRecord[]): Promise<boolean> {
    return this.commit((tx) => {
      for (const record of records) mountRecords.put(tx, record.uuid, record);
    });
  }

  /** As `commit`. */
  async remove(uuid: string): Promise<boolean> {
    return this.commit((tx) => mountRecords.delete(tx, uuid));
  }
}

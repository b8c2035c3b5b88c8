import type { Log } from '@strongroom/engine-sdk';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { MOUNTS, type MountRecord } from '../../kernel/mounts/mount-record.ts';

/** Counts the changes of the table: a process that has not seen the latest one looks again before it makes its own. */
const SERIAL = 'core/mount-serial';

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
    this.#serial = (await this.#store.get<{ serial: number }>(SERIAL))?.serial ?? 0;
    const entries = await this.#store.entries<MountRecord>({ prefix: MOUNTS }, (error) => this.#log.error(error.message));
    return entries.map(([, record]) => record);
  }

  /** Resolves with false, and has done nothing, when another process changed the table since this one loaded it. */
  async commit(change: (tx: StoreTransaction) => void | Promise<void>): Promise<boolean> {
    const serial = this.#serial;
    const done = await this.#store.transaction(async (tx) => {
      if (((await tx.get<{ serial: number }>(SERIAL))?.serial ?? 0) !== serial) return false;
      await change(tx);
      tx.put(SERIAL, { serial: serial + 1 });
      tx.notify(MOUNTS);
      return true;
    });
    if (done) this.#serial = serial + 1;
    return done;
  }

  /** As `commit`. */
  async save(...records: readonly MountRecord[]): Promise<boolean> {
    return this.commit((tx) => {
      for (const record of records) tx.put(MOUNTS + record.uuid, record);
    });
  }

  /** As `commit`. */
  async remove(uuid: string): Promise<boolean> {
    return this.commit((tx) => tx.delete(MOUNTS + uuid));
  }
}

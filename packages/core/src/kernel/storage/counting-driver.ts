import type { Capacity, ChangedKeys, Replacement, StorageDriver, StoreCopy } from '@strongroom/storage-sdk';

/** Counts the commits that went through, for clients that ask how far the store is. */
export class CountingDriver implements StorageDriver {
  readonly name: string;
  readonly shared: boolean;
  /** Absent where the driver cannot. */
  readonly copy?: () => Promise<StoreCopy>;
  /** Absent where the driver cannot. */
  readonly replace?: () => Promise<Replacement>;
  commits = 0;
  readonly #driver: StorageDriver;

  constructor(driver: StorageDriver) {
    this.#driver = driver;
    this.name = driver.name;
    this.shared = driver.shared;
    if (driver.copy) this.copy = async () => driver.copy!();
    if (driver.replace) this.replace = async () => driver.replace!();
  }
  get(key: string): ReturnType<StorageDriver['get']> {
    return this.#driver.get(key);
  }
  range(query: Parameters<StorageDriver['range']>[0]): ReturnType<StorageDriver['range']> {
    return this.#driver.range(query);
  }
  commit(change: Parameters<StorageDriver['commit']>[0]): Promise<void> {
    this.commits += 1;
    return this.#driver.commit(change);
  }
  changes(listener: (changed: ChangedKeys) => void): () => void {
    return this.#driver.changes(listener);
  }
  staleness(): ReturnType<StorageDriver['staleness']> {
    return this.#driver.staleness();
  }
  capacity(): Capacity | undefined {
    return this.#driver.capacity?.();
  }
  close(): Promise<void> {
    return this.#driver.close();
  }
}

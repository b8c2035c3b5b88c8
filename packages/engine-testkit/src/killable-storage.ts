import type { ChangedKeys, StorageDriver } from '@strongroom/storage-sdk';

/** A driver whose process dies: from then on nothing it is asked for ever happens or answers. What it stored before stays in the driver below. */
export class KillableStorage implements StorageDriver {
  readonly name = 'killable';
  readonly shared = true;
  readonly #driver: StorageDriver;
  #commitsLeft = Infinity;
  #dead = false;
  #noticed!: () => void;
  /** Resolves when something is asked of the dead. */
  readonly noticed = new Promise<void>((resolve) => (this.#noticed = resolve));

  constructor(driver: StorageDriver) {
    this.#driver = driver;
  }

  /** Dies when one more commit than these is asked for, before it is made. */
  dieAfter(commits: number): void {
    this.#commitsLeft = commits;
  }

  die(): void {
    this.#dead = true;
  }

  get dead(): boolean {
    return this.#dead;
  }

  get(key: string): ReturnType<StorageDriver['get']> {
    return this.#dead ? this.#silence() : this.#driver.get(key);
  }

  range(query: Parameters<StorageDriver['range']>[0]): ReturnType<StorageDriver['range']> {
    return this.#dead ? this.#silence() : this.#driver.range(query);
  }

  commit(change: Parameters<StorageDriver['commit']>[0]): ReturnType<StorageDriver['commit']> {
    if (this.#commitsLeft === 0) this.#dead = true;
    this.#commitsLeft -= 1;
    return this.#dead ? this.#silence() : this.#driver.commit(change);
  }

  changes(listener: (changed: ChangedKeys) => void): () => void {
    return this.#driver.changes(listener);
  }

  staleness(): ReturnType<StorageDriver['staleness']> {
    return this.#driver.staleness();
  }

  async close(): Promise<void> {}

  #silence(): Promise<never> {
    this.#noticed();
    return new Promise<never>(() => undefined);
  }
}

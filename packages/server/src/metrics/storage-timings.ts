import { Timing } from '@strongroom/core';
import { LATER, type Capacity, type Change, type StorageDriver } from '@strongroom/storage-sdk';

/** What a storage is asked to do. */
export const STORAGE_OPERATIONS = ['get', 'list', 'put', 'delete'] as const;
export type StorageOperation = (typeof STORAGE_OPERATIONS)[number];

/** How long the storage takes. A commit that only deletes is a delete, any other one a put. */
export class StorageTimings {
  readonly #timings = new Map<StorageOperation, Timing>(STORAGE_OPERATIONS.map((name) => [name, new Timing()]));
  /** Commits that did not happen: conflicts and failures. */
  failures = 0;
  name = '';
  #staleness: () => number = () => 0;
  #capacity: () => Capacity | undefined = () => undefined;

  of(operation: StorageOperation): Timing {
    return this.#timings.get(operation)!;
  }

  /** Seconds since the changes of other servers were last read. */
  get staleness(): number {
    return this.#staleness() / 1_000;
  }

  /** How full the store is, where it has a limit of its own. */
  get capacity(): Capacity | undefined {
    return this.#capacity();
  }

  /** The same storage, timed from now on. */
  over(driver: StorageDriver): StorageDriver {
    this.#staleness = () => driver.staleness().millis;
    this.#capacity = () => driver.capacity?.();
    this.name = driver.name;
    const [get, list] = [this.of('get'), this.of('list')];
    const commit = (change: Change): ReturnType<StorageDriver['commit']> => {
      const work = timed(this.of(change.put?.length ? 'put' : 'delete'), performance.now(), driver.commit(change));
      work.catch(() => (this.failures += 1));
      return work;
    };
    return {
      name: driver.name,
      ...(driver.code ? { code: driver.code } : {}),
      shared: driver.shared,
      get: (key) => timed(get, performance.now(), driver.get(key)),
      ...(driver.getSync ? { getSync: timedSync(get, driver) } : {}),
      range: (query) => timed(list, performance.now(), driver.range(query)),
      commit,
      changes: (listener) => driver.changes(listener),
      staleness: () => driver.staleness(),
      ...(driver.capacity ? { capacity: () => driver.capacity!() } : {}),
      ...(driver.copy ? { copy: async () => driver.copy!() } : {}),
      ...(driver.replace ? { replace: async () => driver.replace!() } : {}),
      close: async () => driver.close(),
    };
  }
}

/** As `timed`, for answers at once. What is to come later is timed when it is asked for. */
function timedSync(into: Timing, driver: StorageDriver): NonNullable<StorageDriver['getSync']> {
  return (key, known) => {
    const began = performance.now();
    let answer: ReturnType<NonNullable<StorageDriver['getSync']>>;
    try {
      answer = driver.getSync!(key, known);
      return answer;
    } finally {
      if (answer !== LATER) into.add(performance.now() - began);
    }
  };
}

/** Times work, also where it fails. */
function timed<T>(into: Timing, began: number, work: Promise<T>): Promise<T> {
  const ended = (): void => into.add(performance.now() - began);
  void work.then(ended, ended);
  return work;
}

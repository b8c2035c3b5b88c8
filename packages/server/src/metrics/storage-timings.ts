import { Timing } from '@strongroom/core';
import type { Capacity, Change, StorageDriver } from '@strongroom/storage-sdk';

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
    const commit = async (change: Change): Promise<void> => {
      const began = performance.now();
      try {
        await driver.commit(change);
      } catch (error) {
        this.failures += 1;
        throw error;
      } finally {
        this.of(change.put?.length ? 'put' : 'delete').add(performance.now() - began);
      }
    };
    const timed: Partial<StorageDriver> = {
      get: (key) => timing(get, () => driver.get(key)),
      range: (query) => timing(list, () => driver.range(query)),
      commit,
    };
    return new Proxy(driver, {
      get(target, name) {
        const own: unknown = Reflect.get(timed, name) ?? Reflect.get(target, name);
        return typeof own === 'function' && !Object.hasOwn(timed, name) ? (own.bind(target) as unknown) : own;
      },
    });
  }
}

/** Also of what answers at once, and of what fails. */
function timing<T>(into: Timing, work: () => T): T {
  const began = performance.now();
  const ended = (): void => into.add(performance.now() - began);
  const result = work();
  if (result instanceof Promise) void result.then(ended, ended);
  else ended();
  return result;
}

import { memoryStorage, StorageClosed, type StorageDriver, type Unsubscribe } from '@strongroom/storage-sdk';

/** A store in memory that outlives the cores over it: for tests of restarts, crashes, and several processes at once. */
export interface SharedMemory {
  /** One more driver over the same store, as another process would have it. */
  open(): CuttableStorage;
}

export interface CuttableStorage extends StorageDriver {
  /** From now on nothing gets through: for the process behind this driver, the machine has died. */
  cut(): void;
}

export function sharedMemory(): SharedMemory {
  const store = memoryStorage();
  const listeners = new Map<object, Set<(keys: readonly string[]) => void>>();
  return {
    open() {
      let dead = false;
      const own = new Set<(keys: readonly string[]) => void>();
      const alive = (): void => {
        if (dead) throw new StorageClosed(store.name);
      };
      const driver: CuttableStorage = {
        name: store.name,
        shared: true,
        async get(key) {
          alive();
          return store.get(key);
        },
        async range(query) {
          alive();
          return store.range(query);
        },
        async commit(change) {
          alive();
          await store.commit(change);
          if (!change.announce?.length) return;
          const keys = change.announce;
          for (const [other, theirs] of listeners)
            if (other !== driver) for (const listener of theirs) queueMicrotask(() => listener(keys));
        },
        changes(listener): Unsubscribe {
          alive();
          own.add(listener);
          return () => own.delete(listener);
        },
        async close() {
          driver.cut();
        },
        cut() {
          dead = true;
          listeners.delete(driver);
        },
      };
      listeners.set(driver, own);
      return driver;
    },
  };
}

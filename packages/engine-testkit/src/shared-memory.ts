import {
  EVERYTHING,
  memoryStorage,
  StorageClosed,
  type ChangedKeys,
  type Staleness,
  type StorageDriver,
  type Unsubscribe,
} from '@strongroom/storage-sdk';

/** A store in memory that outlives the cores over it: for tests of restarts, crashes, and several processes at once. */
export interface SharedMemory {
  /** One more driver over the same store, as another process would have it. */
  open(): CuttableStorage;
}

/** A storage driver whose connection to the others can be cut. */
export interface CuttableStorage extends StorageDriver {
  /** From now on nothing gets through: for the process behind this driver, the machine has died. */
  cut(): void;
  /** From now on this driver receives no notifications; those that it missed arrive with `hear`. */
  deafen(): void;
  /** It receives notifications again: those that it missed, or EVERYTHING if they are `lost`. */
  hear(lost?: boolean): void;
  /** What `staleness` says from now on. */
  stale(staleness: Staleness): void;
}

type Listener = (changed: ChangedKeys) => void;

/** A store in memory that several cores can open, as several servers share one. */
export function sharedMemory(): SharedMemory {
  const store = memoryStorage();
  const listeners = new Map<object, Set<Listener>>();
  return {
    open() {
      let dead = false;
      let missed: ChangedKeys[] | undefined;
      let staleness: Staleness = { millis: 0 };
      const own = new Set<Listener>();
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
          const version = await store.commit(change);
          const { notify: keys = [] } = change;
          for (const [other, theirs] of keys.length > 0 ? listeners : [])
            if (other !== driver) for (const listener of theirs) queueMicrotask(() => listener(keys));
          return version;
        },
        changes(listener): Unsubscribe {
          alive();
          const hearing: Listener = (changed) => {
            if (missed) missed.push(changed);
            else listener(changed);
          };
          own.add(hearing);
          return () => own.delete(hearing);
        },
        staleness: () => staleness,
        deafen() {
          missed = [];
        },
        hear(lost = false) {
          const pending: readonly ChangedKeys[] = lost ? [EVERYTHING] : (missed ?? []);
          missed = undefined;
          for (const changed of pending) for (const listener of own) listener(changed);
        },
        stale(next) {
          staleness = next;
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

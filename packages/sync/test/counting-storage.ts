import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';

export interface CountingStorage extends StorageDriver {
  /** The keys that are read one by one while `work` runs. */
  readsOf(work: () => Promise<unknown>): Promise<string[]>;
}

export function countingStorage(): CountingStorage {
  const memory = memoryStorage();
  let reads: string[] = [];
  return {
    name: memory.name,
    shared: memory.shared,
    get: async (key) => {
      reads.push(key);
      return memory.get(key);
    },
    range: async (query) => memory.range(query),
    commit: async (change) => memory.commit(change),
    changes: (listener) => memory.changes(listener),
    staleness: () => memory.staleness(),
    close: async () => memory.close(),
    readsOf: async (work) => {
      reads = [];
      await work();
      return [...new Set(reads)];
    },
  };
}

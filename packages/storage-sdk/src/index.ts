export { storageDriverContract } from './contract.ts';
export type { ContractRunner, ContractSkip, ContractStore, StorageContract } from './storage-contract.ts';
export { EVERYTHING, LATER, MAX_KEY_BYTES, UNCHANGED } from './driver.ts';
export type {
  Capacity,
  ChangedKeys,
  Change,
  Entry,
  Expectation,
  RangeQuery,
  Replacement,
  Staleness,
  StorageDriver,
  StorageLog,
  StoreCopy,
  Stored,
  StoredEntry,
  Unsubscribe,
} from './driver.ts';
export { Conflict, StorageClosed, StorageFailure } from './errors.ts';
export { decodeEntries, encodeEntries, entryBytes, DamagedEntries } from './entry-stream.ts';
export { checkKeys, keyProblem } from './key.ts';
export { Lifetime } from './lifetime.ts';
export { memoryStorage } from './memory-storage.ts';

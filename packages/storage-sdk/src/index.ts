export { storageDriverContract } from './contract.ts';
export type { ContractRunner, ContractSkip, ContractStore, StorageContract } from './contract.ts';
export { MAX_KEY_BYTES } from './driver.ts';
export type { Change, Entry, Expectation, RangeQuery, StorageDriver, Stored, StoredEntry, Unsubscribe } from './driver.ts';
export { Conflict, StorageClosed, StorageFailure } from './errors.ts';
export { checkKeys, keyProblem } from './key.ts';
export { memoryStorage } from './memory-storage.ts';

export { lmdbStorage } from './lmdb-storage.ts';
export type { LmdbOptions } from './lmdb-storage.ts';

import { etcdMissing } from '@strongroom/lab';
import type { CrashStore } from './crash-store.ts';
import { etcdCrashStore } from './etcd-crash-store.ts';
import { lmdbCrashStore } from './lmdb-crash-store.ts';
import { postgresCrashStore } from './postgres-crash-store.ts';
import type { CrashStoreName } from './torture-arguments.ts';

/** One kind of store, with the name that the command line has for it. */
export interface CrashStoreKind {
  readonly name: CrashStoreName;
  /** Why it cannot be started here; undefined where it can. */
  missing(): string | undefined;
  start(): Promise<CrashStore>;
}

const present = (): undefined => undefined;

export const CRASH_STORES: readonly CrashStoreKind[] = [
  { name: 'lmdb', missing: present, start: async () => lmdbCrashStore() },
  { name: 'postgresql', missing: present, start: async () => postgresCrashStore() },
  { name: 'etcd', missing: etcdMissing, start: async () => etcdCrashStore() },
  { name: 'workers', missing: present, start: async () => lmdbCrashStore(2) },
];

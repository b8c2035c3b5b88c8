import type { StorageDriver } from '@strongroom/storage-sdk';
import type { PageReport } from './lmdb-pages.ts';

/** Something that can happen to a store while a server is killed. */
export interface StoreFault {
  readonly name: string;
  /** Resolves, once it has happened, with what mends it: the server is started and checked before that. */
  strike(): Promise<() => Promise<void>>;
}

/** The store of a server that is killed, which may be struck by a fault at the same time. */
export interface CrashStore {
  readonly name: string;
  /** What follows `storage` in the server's configuration. */
  readonly stanza: string;
  /** Processes of the server. Where there are several, every second kill strikes one of them alone. */
  readonly workers: number;
  /** Without the server. */
  open(): Promise<StorageDriver>;
  /** In the order in which they happen, again and again. */
  readonly faults: readonly StoreFault[];
  /** Looks at the file page by page, where the store is one. Nothing may have it open. */
  pages?(): PageReport;
  stop(): Promise<void>;
}

/** For a fault that is over once it has happened. */
export const WELL = async (): Promise<void> => undefined;

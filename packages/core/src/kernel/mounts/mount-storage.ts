import type { StorageView, Transaction } from '@strongroom/engine-sdk';
import type { StoreTransaction } from '../storage/store.ts';

/** A mount's own part of the store, as the core handles it. */
export interface MountStorage extends StorageView {
  /** This mount's part of a transaction that another one began. */
  within(tx: StoreTransaction): Transaction;
  /** The same as a request sees it, whose id the events have that it brings about. */
  ofRequest(id: string): StorageView;
  /** From here on nothing is read or written through it, whoever still holds it: it throws the reason. The first one counts. */
  close(reason: Error): void;
}

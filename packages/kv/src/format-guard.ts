import type { StorageView } from '@strongroom/engine-sdk';

/** Lets requests pass that go with the version that the stored data has now. */
export interface FormatGuard {
  /** @throws BadRequest while the data is being upgraded to version 2 */
  requireVersioned(): Promise<void>;
  /** In a transaction the commit then depends on it. @throws BadRequest when an upgrade has begun, in whatever process */
  requirePlain(storage: Pick<StorageView, 'collection'>): Promise<void>;
}

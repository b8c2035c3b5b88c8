import type { Collection, StorageView } from '@strongroom/engine-sdk';
import { TotpParameters, TriedCodes } from '@strongroom/otp';
import { Type, type Static } from 'typebox';

/** A key and what was tried with it: one record, so that a code that is accepted is used within the same commit. */
export const KeyRecord = Type.Object({
  ...TotpParameters.properties,
  ...TriedCodes.properties,
  issuer: Type.String(),
  account_name: Type.String(),
  /** Steps on either side of the current one whose code is right, too. */
  skew: Type.Number(),
  /** Base64. */
  key: Type.String(),
});
export type KeyRecord = Static<typeof KeyRecord>;

export function keysIn(storage: Pick<StorageView, 'collection'>): Collection<KeyRecord> {
  return storage.collection('key/', KeyRecord);
}

import type { Collection, StorageView } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

const PlainSecret = Type.Record(Type.String(), Type.Unknown());
export type PlainSecret = Static<typeof PlainSecret>;

/** Secrets of version 1, by path. */
export function plainSecrets(storage: Pick<StorageView, 'collection'>): Collection<PlainSecret> {
  return storage.collection('v1/', PlainSecret);
}

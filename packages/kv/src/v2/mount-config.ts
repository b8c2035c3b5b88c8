import type { StorageView } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

/** Settings of a version 2 mount; they apply to every secret of it. */
export const MountConfig = Type.Object({
  max_versions: Type.Integer(),
  cas_required: Type.Boolean(),
  metadata_cas_required: Type.Boolean(),
  /** Seconds; 0 means never, -1 that the secrets' own settings are void too. */
  delete_version_after: Type.Number(),
});
export type MountConfig = Static<typeof MountConfig>;

export const defaultConfig: MountConfig = { max_versions: 0, cas_required: false, metadata_cas_required: false, delete_version_after: 0 };

const ID = 'config';
type Storage = Pick<StorageView, 'collection'>;
const configs = (storage: Storage) => storage.collection('setting/', MountConfig);

export async function readConfig(storage: Storage): Promise<MountConfig> {
  return (await configs(storage).get(ID)) ?? defaultConfig;
}

export async function writeConfig(storage: Storage, config: MountConfig): Promise<void> {
  await configs(storage).put(ID, config);
}

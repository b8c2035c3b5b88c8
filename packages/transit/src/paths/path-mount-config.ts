import { BadRequest, f, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { KeyStore } from '../keys/key-store.ts';
import { settingRecords, settingsOf } from '../stored/records.ts';

/** The least that a cache holds. */
const LEAST_CACHE = 10;

const KeysConfig = Type.Object({ disable_upsert: Type.Boolean() });
const CacheConfig = Type.Object({ size: Type.Integer() });

/** `config/keys` and `cache-config`: the settings of the mount. */
export function mountConfigPaths(keys: KeyStore): AnyPath[] {
  const keysConfig = path('config/keys', {
    synopsis: 'Settings for all keys of the mount.',
    description: 'Applies to encryptions from then on.',
    fields: {
      disable_upsert: f.bool('Whether encrypt fails for a key that does not exist, instead of creating it.', { default: false }),
    },
  })
    .read({
      summary: 'Reads the settings for all keys.',
      response: KeysConfig,
      handle: async ({ storage }) => ({ data: { disable_upsert: (await settingsOf(storage)).disable_upsert } }),
    })
    .update({
      summary: 'Changes the settings for all keys.',
      response: KeysConfig,
      handle: async ({ data, storage }) => {
        const { disable_upsert } = data;
        await storage.transaction(async (tx) => settingRecords(tx).put('mount', { ...(await settingsOf(tx)), disable_upsert }));
        return { data: { disable_upsert } };
      },
    });
  const cacheConfig = path('cache-config', {
    synopsis: 'How many versions of keys each server keeps decoded in memory.',
    description: 'Other servers follow when they open the mount again.',
    fields: { size: f.int('The number; 0 for the default, 10,000.', { default: 0 }) },
  })
    .read({
      summary: 'Reads the size of the cache.',
      response: CacheConfig,
      handle: async ({ storage }) => ({ data: { size: (await settingsOf(storage)).cache_size } }),
    })
    .update({
      summary: 'Changes the size of the cache.',
      response: CacheConfig,
      handle: async ({ data, storage }) => {
        const { size } = data;
        if (size !== 0 && size < LEAST_CACHE) throw new BadRequest(`size must be 0 or a value greater or equal to ${LEAST_CACHE}`);
        await storage.transaction(async (tx) => settingRecords(tx).put('mount', { ...(await settingsOf(tx)), cache_size: size }));
        keys.limit(size);
        return { data: { size } };
      },
    });
  return [keysConfig, cacheConfig];
}

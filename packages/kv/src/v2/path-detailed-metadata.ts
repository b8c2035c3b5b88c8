import { f, path, type AnyPath, type Collection, pageFields } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { folderOf, listKeys, scanKeys } from '../listing.ts';
import { SecretMetadata, secretMetadata } from './secret-metadata.ts';
import type { SecretRecord } from './secret-record.ts';
import { secrets } from './secret-store.ts';

/** Secrets read at once for one list. */
const BATCH = 64;

const DetailedKeys = Type.Object({
  keys: Type.Array(Type.String()),
  key_info: Type.Record(Type.String(), Type.Union([SecretMetadata, Type.Object({})]), {
    description: 'By key: the metadata of a secret, nothing for a folder.',
  }),
});

/** `detailed-metadata/<path>`: a list with the metadata of each secret. */
export function detailedMetadataPath(): AnyPath {
  return path('detailed-metadata/{path:all}', {
    synopsis: 'Lists of secrets with their metadata.',
    description: 'What metadata/ lists, with key_info: the metadata of each secret.',
    fields: { path: f.name('The folder to list.'), ...pageFields },
  })
    .list({
      summary: 'Lists secrets and folders with metadata.',
      response: DetailedKeys,
      handle: async (req) => withInfo(secrets(req.storage), req.data.path, await listKeys(secrets(req.storage), req.data)),
    })
    .scan({
      summary: 'Lists all secrets below a folder with metadata.',
      response: DetailedKeys,
      handle: async (req) => withInfo(secrets(req.storage), req.data.path, await scanKeys(secrets(req.storage), req.data)),
    });
}

async function withInfo(
  collection: Collection<SecretRecord>,
  folder: string,
  listed: { readonly data: { readonly keys: string[] } } | undefined,
): Promise<{ data: Static<typeof DetailedKeys> } | undefined> {
  if (!listed) return undefined;
  const { keys } = listed.data;
  const info: [string, SecretMetadata | Record<never, never>][] = [];
  for (let at = 0; at < keys.length; at += BATCH) {
    const batch = keys.slice(at, at + BATCH);
    const found = await Promise.all(batch.map(async (key) => (key.endsWith('/') ? undefined : collection.get(folderOf(folder) + key))));
    batch.forEach((key, index) => {
      const secret = found[index];
      info.push([key, secret ? secretMetadata(secret) : {}]);
    });
  }
  return { data: { keys, key_info: Object.fromEntries(info) } };
}

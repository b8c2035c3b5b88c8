import { BadRequest, f, type StorageView } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { Remembered } from './remembered.ts';

/** The parameters of `config`; the first three with the names of Vault and OpenBao. */
export const configFields = {
  disable_binding: f.bool('Renew tokens without the certificate used at login. By default, a renewal requires it.'),
  enable_identity_alias_metadata: f.bool('Copy the metadata of the token to the alias, so that policy templates can use it.'),
  ocsp_cache_size: f.int('Number of OCSP responses to cache: 2 to 100,000. Default: 100.'),
  prefix_alias_with_issuer: f.bool(
    'Prefix alias names with the key id of the issuing CA, so that the same common name from two CAs means two entities. Changes the aliases of all later ' +
      'logins.',
  ),
} as const;

/** The record at `config`. */
export const CertConfig = Type.Object({
  disable_binding: Type.Boolean(),
  enable_identity_alias_metadata: Type.Boolean(),
  /** 0 until it is written. */
  ocsp_cache_size: Type.Number(),
  prefix_alias_with_issuer: Type.Boolean(),
});
export type CertConfig = Static<typeof CertConfig>;

export const DEFAULT_CACHE_SIZE = 100;
const PREFIX = 'config/';
const ID = 'cert';

const defaultConfig: CertConfig = {
  disable_binding: false,
  enable_identity_alias_metadata: false,
  ocsp_cache_size: 0,
  prefix_alias_with_issuer: false,
};

/** The configuration of the mount. */
export class ConfigStore {
  readonly #storage: StorageView;
  readonly #present: Remembered<CertConfig>;

  constructor(storage: StorageView) {
    this.#storage = storage;
    this.#present = new Remembered(async () => (await collectionOf(storage).get(ID)) ?? defaultConfig);
  }

  read(): Promise<CertConfig> {
    return this.#present.get();
  }

  /** Changes what is supplied. @throws BadRequest */
  async update(data: { readonly [K in keyof CertConfig]?: CertConfig[K] | undefined }, supplied: ReadonlySet<string>): Promise<CertConfig> {
    const size = data.ocsp_cache_size;
    if (size !== undefined && (size < 2 || size > 100_000)) throw new BadRequest('invalid cache size, must be >= 2 and <= 100000');
    const config = await this.#storage.transaction(async (tx) => {
      const records = collectionOf(tx);
      const merged: Record<string, unknown> = { ...((await records.get(ID)) ?? defaultConfig) };
      for (const key of Object.keys(defaultConfig)) if (supplied.has(key)) merged[key] = data[key as keyof CertConfig];
      await records.put(ID, merged as CertConfig);
      return merged as CertConfig;
    });
    this.#present.forget();
    return config;
  }

  /** Another process changed a record; true if it was this one. */
  invalidate(key: string): boolean {
    if (!key.startsWith(PREFIX)) return false;
    this.#present.forget();
    return true;
  }
}

function collectionOf(view: Pick<StorageView, 'collection'>): ReturnType<typeof view.collection<typeof CertConfig>> {
  return view.collection(PREFIX, CertConfig, { cached: true });
}

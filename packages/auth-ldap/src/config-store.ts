import type { Collection, StorageView } from '@strongroom/engine-sdk';
import { Lending } from '@strongroom/ldap-client';
import { defaultConfig, LdapAuthConfig, mergeConfig } from './config.ts';
import { makeSetup, type Setup, type SetupParts } from './setup.ts';

const PREFIX = 'config/';
const ID = 'ldap';

/** The mount's configuration, and what is kept open for it: one directory until the configuration changes. */
export class ConfigStore {
  readonly #storage: StorageView;
  readonly #records: Collection<LdapAuthConfig>;
  readonly #setups: Lending<Setup>;

  constructor(storage: StorageView, parts: SetupParts) {
    this.#storage = storage;
    this.#records = storage.collection(PREFIX, LdapAuthConfig, { cached: true });
    this.#setups = new Lending(
      async () => makeSetup(await this.read(), parts),
      ({ directory }) => directory.close(),
    );
  }

  async read(): Promise<LdapAuthConfig> {
    return (await this.#records.get(ID)) ?? defaultConfig;
  }

  /** @throws BadRequest for what cannot be stored. */
  async update(data: Parameters<typeof mergeConfig>[1], supplied: ReadonlySet<string>): Promise<LdapAuthConfig> {
    const config = await this.#storage.transaction(async (tx) => {
      const records = tx.collection(PREFIX, LdapAuthConfig, { cached: true });
      const merged = mergeConfig((await records.get(ID)) ?? defaultConfig, data, supplied);
      await records.put(ID, merged);
      return merged;
    });
    this.#setups.retire();
    return config;
  }

  /** Lends what the present configuration needs; it stays open until the work is done, whatever is written meanwhile. */
  async use<T>(work: (setup: Setup) => Promise<T>): Promise<T> {
    return this.#setups.use(work);
  }

  invalidate(key: string): void {
    if (key.startsWith(PREFIX)) this.#setups.retire();
  }

  close(): void {
    this.#setups.close();
  }
}

import { requireSecretsAgain, type Collection, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { keptSecrets, Lending, secretMoves } from '@strongroom/ldap-client';
import { defaultConfig, LdapAuthConfig, mergeConfig } from './config.ts';
import { makeSetup, type Setup, type SetupParts } from './setup.ts';

const PREFIX = 'config/';
const ID = 'ldap';

export interface ConfigStoreParts extends SetupParts {
  /** Within the transaction that stores a changed configuration. */
  changing?(tx: Transaction, before: LdapAuthConfig, after: LdapAuthConfig): Promise<void>;
  /** `present` is another one now. */
  changed?(): void;
}

/** The mount's configuration, and what is kept open for it: one directory until the configuration changes. */
export class ConfigStore {
  readonly #storage: StorageView;
  readonly #parts: ConfigStoreParts;
  readonly #records: Collection<LdapAuthConfig>;
  readonly #setups: Lending<Setup>;
  #present = defaultConfig;

  constructor(storage: StorageView, parts: ConfigStoreParts) {
    this.#storage = storage;
    this.#parts = parts;
    this.#records = storage.collection(PREFIX, LdapAuthConfig, { cached: true });
    this.#setups = new Lending(
      async () => makeSetup(await this.read(), parts),
      ({ directory }) => directory.close(),
    );
  }

  /** The configuration as this process last saw it, for what cannot wait. Another process's write shows a moment later. */
  get present(): LdapAuthConfig {
    return this.#present;
  }

  async read(): Promise<LdapAuthConfig> {
    const config = (await this.#records.get(ID)) ?? defaultConfig;
    this.#see(config);
    return config;
  }

  /** As it is for a transaction, which runs again if it changes meanwhile. */
  async readIn(tx: Transaction): Promise<LdapAuthConfig> {
    return (await tx.collection(PREFIX, LdapAuthConfig, { cached: true }).get(ID)) ?? defaultConfig;
  }

  /** `sudo`: may send the stored secrets to another address. @throws BadRequest for what cannot be stored. */
  async update(data: Parameters<typeof mergeConfig>[1], supplied: ReadonlySet<string>, sudo = false): Promise<LdapAuthConfig> {
    const config = await this.#storage.transaction(async (tx) => {
      const records = tx.collection(PREFIX, LdapAuthConfig, { cached: true });
      const stored = await this.readIn(tx);
      const merged = mergeConfig(stored, data, supplied);
      requireSecretsAgain({ changed: secretMoves(stored, merged), kept: keptSecrets(stored, supplied), sudo });
      await this.#parts.changing?.(tx, stored, merged);
      await records.put(ID, merged);
      return merged;
    });
    this.#setups.retire();
    this.#see(config);
    return config;
  }

  /** Lends what the present configuration needs; it stays open until the work is done, whatever is written meanwhile. */
  async use<T>(work: (setup: Setup) => Promise<T>): Promise<T> {
    return this.#setups.use(work);
  }

  invalidate(key: string): void {
    if (!key.startsWith(PREFIX)) return;
    this.#setups.retire();
    // What cannot be read now is read again at the next use, which says so.
    this.read().catch(() => {});
  }

  close(): void {
    this.#setups.close();
  }

  #see(config: LdapAuthConfig): void {
    const before = this.#present;
    this.#present = config;
    if (before.case_sensitive_names !== config.case_sensitive_names) this.#parts.changed?.();
  }
}

import { requireSecretsAgain, type Collection, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { keptSecrets, Lending, secretMoves, type SentBindAccount } from '@strongroom/ldap-client';
import { requireSettledRotation } from '@strongroom/rotation';
import { CONFIG, configsIn, defaultConfig, isConfigKey, mergeConfig, type LdapAuthConfig } from './config.ts';
import type { RootRotation } from './root-rotation.ts';
import { makeSetup, type Setup, type SetupParts } from './setup.ts';

export interface ConfigStoreParts extends SetupParts {
  /** Of bindpass. */
  readonly root: RootRotation;
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
    this.#records = configsIn(storage);
    this.#setups = new Lending(
      async () => makeSetup(await this.#settled(), { ...parts, otherPasswords: async () => otherPasswords(await this.read()) }),
      ({ directory }) => directory.close(),
    );
  }

  /** The configuration as this process last saw it, for what cannot wait. Another process's write shows a moment later. */
  get present(): LdapAuthConfig {
    return this.#present;
  }

  async read(): Promise<LdapAuthConfig> {
    const config = (await this.#records.get(CONFIG)) ?? defaultConfig;
    this.#see(config);
    return config;
  }

  /** As it is for a transaction, which runs again if it changes meanwhile. */
  async readIn(tx: Transaction): Promise<LdapAuthConfig> {
    return (await configsIn(tx).get(CONFIG)) ?? defaultConfig;
  }

  /** `sudo`: may send the stored secrets to another address. @throws BadRequest for what cannot be stored. */
  async update(data: Parameters<typeof mergeConfig>[1], supplied: ReadonlySet<string>, sudo = false): Promise<LdapAuthConfig> {
    const config = await this.#storage.transaction(async (tx) => {
      const stored = await this.readIn(tx);
      this.#parts.root.requireQuietFor(stored, sentOf(data, supplied));
      const merged = mergeConfig(stored, data, supplied);
      const changed = secretMoves(stored, merged);
      requireSecretsAgain({ changed, kept: keptSecrets(stored, supplied), sudo });
      requireSettledRotation({ changed, open: merged.root?.pending !== undefined, secret: 'bindpass', sudo });
      await this.#parts.changing?.(tx, stored, merged);
      await this.#parts.root.store(tx, merged, stored);
      return merged;
    });
    this.#setups.retire();
    this.#see(config);
    return config;
  }

  /** bindpass was rotated: whoever logs in next uses the new one. */
  rotated(): void {
    this.#setups.retire();
    this.read().catch(() => {});
  }

  /** As it is, once it is found out which bindpass is taken. */
  async #settled(): Promise<LdapAuthConfig> {
    const config = await this.read();
    return config.root?.pending ? this.#parts.root.settle(config) : config;
  }

  /** Lends what the present configuration needs; it stays open until the work is done, whatever is written meanwhile. */
  async use<T>(work: (setup: Setup) => Promise<T>): Promise<T> {
    return this.#setups.use(work);
  }

  invalidate(key: string): void {
    if (!isConfigKey(key)) return;
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

/** The passwords that may be right while bindpass is being changed, and shortly after. */
function otherPasswords({ bindpass, root }: LdapAuthConfig): string[] {
  return [bindpass, root?.pending?.made, root?.previous].filter((password) => password !== undefined);
}

/** What a write says of the account: what it leaves out is as it was. */
function sentOf(data: Parameters<typeof mergeConfig>[1], supplied: ReadonlySet<string>): SentBindAccount {
  const names = (['url', 'binddn', 'bindpass', 'upndomain', 'schema'] as const).filter((name) => supplied.has(name));
  return Object.fromEntries(names.map((name) => [name, data[name] ?? '']));
}

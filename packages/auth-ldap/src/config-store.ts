import { Unavailable, type Collection, type StorageView } from '@strongroom/engine-sdk';
import { defaultConfig, LdapAuthConfig, mergeConfig } from './config.ts';
import { makeSetup, type Setup, type SetupParts } from './setup.ts';

const PREFIX = 'config/';
const ID = 'ldap';

interface Opened {
  readonly setup: Setup;
  users: number;
  retired: boolean;
}

/** The mount's configuration, and what is kept open for it: one directory until the configuration changes. */
export class ConfigStore {
  readonly #storage: StorageView;
  readonly #records: Collection<LdapAuthConfig>;
  readonly #parts: SetupParts;
  #opening: Promise<Opened> | undefined;
  readonly #open = new Set<Opened>();
  #closed = false;

  constructor(storage: StorageView, parts: SetupParts) {
    this.#storage = storage;
    this.#records = storage.collection(PREFIX, LdapAuthConfig, { cached: true });
    this.#parts = parts;
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
    this.#retire();
    return config;
  }

  /** Lends what the present configuration needs; it stays open until the work is done, whatever is written meanwhile. */
  async use<T>(work: (setup: Setup) => Promise<T>): Promise<T> {
    if (this.#closed) throw new Unavailable('the mount is closed');
    const opened = await (this.#opening ??= this.#make());
    opened.users += 1;
    try {
      return await work(opened.setup);
    } finally {
      opened.users -= 1;
      this.#closeIfDone(opened);
    }
  }

  invalidate(key: string): void {
    if (key.startsWith(PREFIX)) this.#retire();
  }

  close(): void {
    this.#closed = true;
    this.#opening = undefined;
    for (const { setup } of this.#open) setup.directory.close();
    this.#open.clear();
  }

  #make(): Promise<Opened> {
    const opening = this.read().then((config) => {
      if (this.#closed) throw new Unavailable('the mount is closed');
      const opened: Opened = { setup: makeSetup(config, this.#parts), users: 0, retired: false };
      this.#open.add(opened);
      return opened;
    });
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    return opening;
  }

  #retire(): void {
    const opening = this.#opening;
    this.#opening = undefined;
    opening?.then(
      (opened) => {
        opened.retired = true;
        this.#closeIfDone(opened);
      },
      () => {},
    );
  }

  #closeIfDone(opened: Opened): void {
    if (!opened.retired || opened.users > 0 || !this.#open.delete(opened)) return;
    opened.setup.directory.close();
  }
}

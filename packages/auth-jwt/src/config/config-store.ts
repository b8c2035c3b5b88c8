import { isDeepStrictEqual } from 'node:util';
import { BadRequest, type Clock, type Log, type StorageView } from '@strongroom/engine-sdk';
import type { IssuerHttp } from '../keys/issuer-http.ts';
import { makeKeySource } from '../keys/key-source.ts';
import { forgetCopies } from '../keys/kept-copies.ts';
import { CONFIG_ID, CONFIG_PREFIX, configsOf, type JwtConfig } from './config.ts';
import { mergeConfig, type ConfigData } from './merge-config.ts';
import { keySourceOf, setupOf, type Setup } from './setup.ts';

export interface ConfigStoreParts {
  readonly storage: StorageView;
  readonly http: IssuerHttp;
  readonly clock: Clock;
  readonly log: Log;
}

/** The mount's configuration, and the keys that are kept for it until it changes. */
export class ConfigStore {
  readonly #parts: ConfigStoreParts;
  #setup: Promise<Setup | undefined> | undefined;

  constructor(parts: ConfigStoreParts) {
    this.#parts = parts;
  }

  async read(): Promise<JwtConfig | undefined> {
    return configsOf(this.#parts.storage).get(CONFIG_ID);
  }

  /** What the stored configuration needs; undefined where there is none. */
  async setup(): Promise<Setup | undefined> {
    const setup = (this.#setup ??= this.#load());
    // What cannot be read now is read again at the next use.
    setup.catch(() => {
      if (this.#setup === setup) this.#setup = undefined;
    });
    return setup;
  }

  /** @throws BadRequest where there is no configuration */
  async required(): Promise<Setup> {
    const setup = await this.setup();
    if (!setup) throw new BadRequest('could not load configuration');
    return setup;
  }

  /** What a write would store. @throws BadRequest naming the field */
  async merged(data: ConfigData, supplied: ReadonlySet<string>): Promise<JwtConfig> {
    return mergeConfig(await this.read(), data, supplied);
  }

  /** @throws BadRequest naming the field */
  async write(data: ConfigData, supplied: ReadonlySet<string>): Promise<void> {
    await this.#parts.storage.transaction(async (tx) => {
      const configs = configsOf(tx);
      const stored = await configs.get(CONFIG_ID);
      const merged = mergeConfig(stored, data, supplied);
      if (stored && !isDeepStrictEqual(keySourceOf(stored), keySourceOf(merged))) await forgetCopies(tx);
      await configs.put(CONFIG_ID, merged);
    });
    this.#retire();
  }

  invalidate(key: string): void {
    if (key.startsWith(CONFIG_PREFIX)) this.#retire();
  }

  close(): void {
    this.#retire();
  }

  async #load(): Promise<Setup | undefined> {
    const config = await this.read();
    if (!config) return undefined;
    const keys = makeKeySource(keySourceOf(config), this.#parts);
    void keys.warm();
    return setupOf(config, keys);
  }

  #retire(): void {
    this.#setup?.then((setup) => setup?.keys.close()).catch(() => undefined);
    this.#setup = undefined;
  }
}

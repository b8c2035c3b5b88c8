import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { EngineHost } from '@strongroom/engine-sdk';
import { recordsIn } from './records.ts';

const ID = 'fingerprint';

/**
 * Tells whether what exists outside is what should: a digest of value and tags under a key of this store, since a plain hash of a weak
 * secret could be guessed.
 */
export class Fingerprints {
  readonly #host: EngineHost;
  #key: Promise<KeyObject> | undefined;

  constructor(host: EngineHost) {
    this.#host = host;
  }

  async of(value: string, tags: Readonly<Record<string, string>>): Promise<string> {
    const key = await (this.#key ??= this.#load().catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    }));
    const sorted = Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1));
    return createHmac('sha256', key)
      .update(JSON.stringify([value, sorted]))
      .digest('base64url');
  }

  async #load(): Promise<KeyObject> {
    const stored = await this.#host.storage.transaction(async (tx) => {
      const { keys } = recordsIn(tx);
      const known = await keys.get(ID);
      if (known) return known;
      const made = { key: Buffer.from(this.#host.randomBytes(32)).toString('base64') };
      await keys.put(ID, made);
      return made;
    });
    return createSecretKey(stored.key, 'base64');
  }
}

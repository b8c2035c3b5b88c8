interface Cached {
  readonly version: number;
  readonly record: unknown;
}

/**
 * Decoded records by key, good only for the version they were decoded from: storage is read at every use, and the cache saves
 * the decryption. Two generations bound it without bookkeeping per hit.
 */
export class RecordCache {
  readonly #limit: number;
  #young = new Map<string, Cached>();
  #old = new Map<string, Cached>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string, version: number): unknown {
    let cached = this.#young.get(key);
    if (!cached) {
      cached = this.#old.get(key);
      if (cached) this.#insert(key, cached);
    }
    return cached?.version === version ? cached.record : undefined;
  }

  put(key: string, version: number, record: unknown): void {
    this.#insert(key, { version, record });
  }

  drop(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }

  #insert(key: string, cached: Cached): void {
    if (this.#young.size >= this.#limit / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, cached);
  }
}

/** A decoded record, and of which version. */
export interface CachedRecord {
  readonly version: number;
  readonly record: unknown;
  readonly bytes: number;
}

/** What a record costs beside its bytes: its key, and the entry of the cache. */
const OVERHEAD_BYTES = 256;
/** A larger record is decoded again: it would push many small ones out. */
export const LARGEST_BYTES = 4_096;

/**
 * Decoded records by key, good only for the version they were decoded from: storage is read at every use, and the cache saves
 * the decryption. Two generations bound it without bookkeeping per hit.
 */
export class RecordCache {
  readonly #limit: number;
  #young = new Map<string, CachedRecord>();
  #youngBytes = 0;
  #old = new Map<string, CachedRecord>();

  /** `limit`: of the bytes of the records as they are stored. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Of whichever version: it counts only where the store has that. */
  get(key: string): CachedRecord | undefined {
    let cached = this.#young.get(key);
    if (!cached) {
      cached = this.#old.get(key);
      if (cached) this.#insert(key, cached);
    }
    return cached;
  }

  /** `bytes`: the size of the record as it is stored. */
  put(key: string, version: number, record: unknown, bytes: number): void {
    if (bytes <= LARGEST_BYTES) this.#insert(key, { version, record, bytes: bytes + OVERHEAD_BYTES });
  }

  drop(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#youngBytes = 0;
    this.#old.clear();
  }

  #insert(key: string, cached: CachedRecord): void {
    // Records that are replaced or dropped count until the generation ends: it is at most shorter for it.
    this.#youngBytes += cached.bytes;
    if (this.#youngBytes > this.#limit / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = cached.bytes;
    }
    this.#young.set(key, cached);
  }
}

/** Above this, the body of a known caller is a large one. */
const LARGE = 1024 * 1024;
/** Parts of the whole. Whatever strangers and large bodies take, an eighth is left for ordinary bodies of known callers. */
const UNKNOWN_SHARE = 1 / 4;
const LARGE_SHARE = 5 / 8;

type Share = 'unknown' | 'ordinary' | 'large';

/**
 * The memory that bodies in flight may take together: what has arrived of them, and what was made of it, until the answer. Callers who are not known
 * have a share of it, and so have large bodies, so that neither crowds out the rest.
 */
export class BodyMemory {
  readonly #most: Readonly<Record<Share, number>>;
  readonly #used: Record<Share, number> = { unknown: 0, ordinary: 0, large: 0 };

  /** `bytes` in all; 256 MiB by default. */
  constructor(bytes = 256 * 1024 * 1024) {
    this.#most = { unknown: bytes * UNKNOWN_SHARE, ordinary: bytes, large: bytes * LARGE_SHARE };
  }

  /** Bytes in use. */
  get used(): number {
    return this.#used.unknown + this.#used.ordinary + this.#used.large;
  }

  /** For one body; nothing is taken yet. */
  hold(): BodyHold {
    return new BodyHold(this);
  }

  /** Moves a body from one share and size to another; false, and nothing moved, where there is no room. */
  move(from: Share, before: number, to: Share, bytes: number): boolean {
    const others = this.#used[to] - (from === to ? before : 0);
    const grows = bytes > before || from !== to;
    if (grows && (others + bytes > this.#most[to] || this.used - before + bytes > this.#most.ordinary)) return false;
    this.#used[from] -= before;
    this.#used[to] += bytes;
    return true;
  }
}

/** What one body takes. */
export class BodyHold {
  readonly #memory: BodyMemory;
  #share: Share = 'unknown';
  #bytes = 0;

  constructor(memory: BodyMemory) {
    this.#memory = memory;
  }

  /** False where there is no room for that many bytes in all; what was held stays held. */
  take(bytes: number): boolean {
    const share = this.#share === 'unknown' ? 'unknown' : bytes > LARGE ? 'large' : 'ordinary';
    if (!this.#memory.move(this.#share, this.#bytes, share, bytes)) return false;
    this.#share = share;
    this.#bytes = bytes;
    return true;
  }

  /** The caller is known from here on. False where there is no room. */
  known(): boolean {
    if (this.#share !== 'unknown') return true;
    const share = this.#bytes > LARGE ? 'large' : 'ordinary';
    if (!this.#memory.move('unknown', this.#bytes, share, this.#bytes)) return false;
    this.#share = share;
    return true;
  }

  /** Gives everything back; may be repeated. */
  release(): void {
    this.#memory.move(this.#share, this.#bytes, this.#share, 0);
    this.#bytes = 0;
  }
}

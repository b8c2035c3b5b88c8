/** A lease that is about to be stored. Exactly one of the two is called, once. */
export interface Hold {
  /** It is stored. */
  settle(): void;
  /** It is not. */
  release(): void;
}

/**
 * How many leases a cap counts: what the store had at the last count, and what this process has issued since that count began. Between two counts it is
 * never too low for what this process issues, and too high by what has ended meanwhile.
 */
export class LeaseTally {
  readonly #list: () => Promise<number>;
  readonly #now: () => number;
  #counted = 0;
  #issued = 0;
  #holds = 0;
  /** When the last count began; undefined before the first. */
  #at: number | undefined;
  /** What a count costs: the quicker of the last two, since anything can hold up one. */
  #took = 0;
  #tookLast = 0;
  /** How often counts became worthless. */
  #worthless = 0;
  #counting: Promise<void> | undefined;

  /** `list` counts the store; `now` is in milliseconds. */
  constructor(list: () => Promise<number>, now: () => number) {
    this.#list = list;
    this.#now = now;
  }

  get total(): number {
    return this.#counted + this.#issued;
  }

  /** Counts again if the last count is older than `age` milliseconds. A count that takes long is made less often. */
  async refresh(age: number): Promise<void> {
    const recent = this.#at !== undefined && this.#now() - this.#at <= Math.max(age, 20 * this.#took);
    if (this.#counting === undefined && recent) return;
    await (this.#counting ??= this.#count().finally(() => (this.#counting = undefined)));
  }

  /** What was counted says nothing any more: other servers may have issued leases meanwhile. */
  forget(): void {
    this.#at = undefined;
    this.#worthless += 1;
  }

  /** Reserves one. */
  hold(): Hold {
    this.#issued += 1;
    this.#holds += 1;
    return {
      settle: () => {
        this.#holds -= 1;
      },
      release: () => {
        this.#holds -= 1;
        this.#issued = Math.max(this.#holds, this.#issued - 1);
      },
    };
  }

  async #count(): Promise<void> {
    const began = this.#now();
    const worthless = this.#worthless;
    // Until the count ends, the last one does not know what was issued since.
    this.#at = undefined;
    // What is held now may be stored behind the place where the count is.
    this.#issued = this.#holds;
    this.#counted = await this.#list();
    const took = this.#now() - began;
    [this.#took, this.#tookLast] = [Math.min(took, this.#tookLast), took];
    if (worthless === this.#worthless) this.#at = began;
  }
}

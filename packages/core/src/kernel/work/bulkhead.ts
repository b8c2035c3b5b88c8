/** A limit on concurrent calls: a number of calls run, a number wait in a queue, and more are refused. Work that waits for other work must not hold a place. */
export class Bulkhead {
  readonly #concurrent: number;
  readonly #queued: number;
  readonly #queue: (() => void)[] = [];
  #active = 0;

  constructor({ concurrent, queued = Infinity }: { readonly concurrent: number; readonly queued?: number }) {
    this.#concurrent = concurrent;
    this.#queued = queued;
  }

  /** Nothing runs, and nothing waits. */
  get idle(): boolean {
    return this.#active === 0;
  }

  /** Work that comes now has to wait. */
  get busy(): boolean {
    return this.#active >= this.#concurrent;
  }

  /** The queue is full as well. */
  get full(): boolean {
    return this.busy && this.#queue.length >= this.#queued;
  }

  /** Runs the work when its turn comes. The caller has made sure that it is not full. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#active < this.#concurrent) this.#active += 1;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      return await work();
    } finally {
      // The place goes on to the next one.
      const next = this.#queue.shift();
      if (next) next();
      else this.#active -= 1;
    }
  }
}

/** Work that is done in parts. */
export interface Stepwise {
  /** Continues for about this many bytes; true when all is done. May throw. */
  step(work: number): boolean;
}

/** Bytes of a body that are processed at a time: a few milliseconds at most. */
export const TURN = 131_072;

interface Waiting {
  readonly task: Stepwise;
  /** Called after each turn; may throw, which ends the work. */
  readonly after: (() => void) | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Work on bodies, one turn of one body in each round of the event loop, so that however many there are, nobody else waits longer than a turn. Bodies take
 * turns in a circle: a short one does not wait for a long one to end.
 */
export class Turns {
  readonly #waiting: Waiting[] = [];
  #scheduled = false;
  #taken = 0;

  /** Turns that were taken so far. */
  get taken(): number {
    return this.#taken;
  }

  /** Resolves when the work is done; rejects with what it threw. The first turn comes at once where nobody waits. */
  run(task: Stepwise, after?: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, after, resolve, reject });
      if (!this.#scheduled) this.#turn();
    });
  }

  #turn(): void {
    const next = this.#waiting.shift();
    if (!next) {
      this.#scheduled = false;
      return;
    }
    this.#scheduled = true;
    this.#taken += 1;
    try {
      const done = next.task.step(TURN);
      next.after?.();
      if (done) next.resolve();
      else this.#waiting.push(next);
    } catch (error) {
      next.reject(error);
    }
    setImmediate(() => {
      this.#turn();
    });
  }
}

/** Those of this process: it has one event loop, however many servers. */
export const turns = new Turns();

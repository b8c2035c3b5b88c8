import { setImmediate as nextTurn } from 'node:timers/promises';

/** Lets many pieces of long work go on beside each other: each round of the event loop belongs to one of them, and to every request that has arrived. */
export class Rounds {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves in a round of the caller's own. */
  next(): Promise<void> {
    const mine = this.#last.then(async () => nextTurn());
    this.#last = mine;
    return mine;
  }
}

/** Runs one piece of work after another, in the order in which they came. A failure is the caller's, and the next one runs all the same. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}

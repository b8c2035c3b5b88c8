interface Runs<T> {
  running: Promise<T>;
  /** Begins when the running one has ended. */
  next?: Promise<T>;
}

/**
 * Answers a question that many ask at once, and that takes work: one run at a time for each key. Who asks during a run waits for the next one, which sees everything
 * that was stored before they asked.
 */
export class SharedRuns<T> {
  readonly #runs = new Map<string, Runs<T>>();

  async run(key: string, work: () => Promise<T>): Promise<T> {
    const runs = this.#runs.get(key);
    if (!runs) return this.#begin(key, work);
    runs.next ??= runs.running.then(
      () => this.#begin(key, work),
      () => this.#begin(key, work),
    );
    return runs.next;
  }

  #begin(key: string, work: () => Promise<T>): Promise<T> {
    const runs: Runs<T> = { running: work() };
    this.#runs.set(key, runs);
    const end = (): void => {
      if (!runs.next && this.#runs.get(key) === runs) this.#runs.delete(key);
    };
    runs.running.then(end, end);
    return runs.running;
  }
}

/** The end of what requests run on, such as a mount: whoever waits there gets the reason as an error. */
export class Ending {
  readonly #listeners = new Set<(reason: Error) => void>();
  #reason: Error | undefined;

  /** Undefined while it goes on. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  /** Calls the listener with the reason, once: at the end, or now where that has come. Gives back how to stop listening. */
  heard(listener: (reason: Error) => void): () => void {
    if (this.#reason) {
      listener(this.#reason);
      return () => undefined;
    }
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The first reason counts. */
  end(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener(reason);
  }
}

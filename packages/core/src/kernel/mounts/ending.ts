import { LinkedList } from '@strongroom/engine-sdk';

/** The end of what requests run on, such as a mount: whoever waits there gets the reason as an error. */
export class Ending {
  readonly #listeners = new LinkedList<(reason: Error) => void>();
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
    const entry = this.#listeners.add(listener);
    return () => this.#listeners.remove(entry);
  }

  /** The first reason counts. */
  end(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    for (const listener of this.#listeners) listener(reason);
  }
}

/** How long a look-up counts for a list that goes on from one that was cut off. */
const LIFE_MS = 2 * 3_600_000;

/**
 * What lists that were cut off have looked up, so that the next one goes on where they ended instead of beginning again: a list of very many secrets
 * takes longer than the host lets one call take. One that reaches its end leaves nothing behind.
 */
export class UnfinishedList<V> {
  readonly #now: () => Date;
  readonly #found = new Map<string, { readonly version: V | undefined; readonly at: number }>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Whether it was looked up not too long ago; undefined if not. */
  of(name: string): { readonly version: V | undefined } | undefined {
    const found = this.#found.get(name);
    return found && this.#now().getTime() - found.at < LIFE_MS ? found : undefined;
  }

  add(name: string, version: V | undefined): void {
    this.#found.set(name, { version, at: this.#now().getTime() });
  }

  /** We have changed it ourselves. */
  forget(name: string): void {
    this.#found.delete(name);
  }

  finish(): void {
    this.#found.clear();
  }
}

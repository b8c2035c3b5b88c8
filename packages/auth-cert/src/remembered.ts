/** What is read from storage once, and again after it has changed. */
export class Remembered<T> {
  readonly #load: () => Promise<T>;
  #value: Promise<T> | undefined;

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  get(): Promise<T> {
    if (this.#value) return this.#value;
    const value = this.#load();
    this.#value = value;
    // A failure is not remembered, nor is what was read while it was forgotten.
    value.catch(() => {
      if (this.#value === value) this.#value = undefined;
    });
    return value;
  }

  /** The next `get` loads it again. */
  forget(): void {
    this.#value = undefined;
  }
}

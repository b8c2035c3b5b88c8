import { StorageClosed } from './errors.ts';

/** Whether a driver is open. It closes once, and refuses calls from then on. */
export class Lifetime {
  readonly #store: string;
  readonly #end: () => Promise<void>;
  #ended: Promise<void> | undefined;

  /** `store` is the driver's name; `end` releases what the driver holds. */
  constructor(store: string, end: () => Promise<void>) {
    this.#store = store;
    this.#end = end;
  }

  /** Whether `close` has been called. */
  get closed(): boolean {
    return this.#ended !== undefined;
  }

  /** @throws StorageClosed once `close` has been called */
  assertOpen(): void {
    if (this.closed) throw new StorageClosed(this.#store);
  }

  /** Resolves when the end is done; a second call waits for the same one. */
  close(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }
}

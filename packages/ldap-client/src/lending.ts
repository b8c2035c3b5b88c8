import { Unavailable } from '@strongroom/engine-sdk';

interface Lent<T> {
  readonly value: T;
  users: number;
  retired: boolean;
}

/**
 * Lends one thing that is opened at its first use and replaced now and then, such as the directory of a configuration. What was replaced is
 * closed when its last user is done.
 */
export class Lending<T> {
  readonly #make: () => Promise<T>;
  readonly #end: (value: T) => void;
  readonly #open = new Set<Lent<T>>();
  #opening: Promise<Lent<T>> | undefined;
  #closed = false;

  constructor(open: () => Promise<T>, close: (value: T) => void) {
    this.#make = open;
    this.#end = close;
  }

  /** @throws what the opening throws; Unavailable once closed. */
  async use<R>(work: (value: T) => Promise<R>): Promise<R> {
    if (this.#closed) throw new Unavailable('the mount is closed');
    const lent = await (this.#opening ??= this.#begin());
    lent.users += 1;
    try {
      return await work(lent.value);
    } finally {
      lent.users -= 1;
      this.#closeIfDone(lent);
    }
  }

  /** The next use opens again. */
  retire(): void {
    const opening = this.#opening;
    this.#opening = undefined;
    opening?.then(
      (lent) => {
        lent.retired = true;
        this.#closeIfDone(lent);
      },
      () => {},
    );
  }

  /** Closes everything, also what is in use. */
  close(): void {
    this.#closed = true;
    this.#opening = undefined;
    for (const { value } of this.#open) this.#end(value);
    this.#open.clear();
  }

  #begin(): Promise<Lent<T>> {
    const opening = this.#make().then((value) => {
      if (this.#closed) {
        this.#end(value);
        throw new Unavailable('the mount is closed');
      }
      const lent: Lent<T> = { value, users: 0, retired: false };
      this.#open.add(lent);
      return lent;
    });
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    return opening;
  }

  #closeIfDone(lent: Lent<T>): void {
    if (!lent.retired || lent.users > 0 || !this.#open.delete(lent)) return;
    this.#end(lent.value);
  }
}

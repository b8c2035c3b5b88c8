/** Milliseconds, as all that follow. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;
/** A worker that served for so long was well. */
const WELL = 60_000;
/** So many ends of workers that were not well, within the time below, are too many. */
const TOO_MANY = 5;
const WITHIN = 60_000;

/** When a worker that ended by itself is replaced: at once, then after 1, 2, 4 … 30 seconds; and when there is no point in it any more. */
export class Restarts {
  /** Of each worker, ends in a row without a minute of service between. */
  readonly #inARow = new Map<number, number>();
  #ends: number[] = [];

  /**
   * A worker failed that had served for so long. `refused`: it said why it could not start, and another one serves; that one would gain nothing by an end of the server.
   * The pause before the next start; undefined: no worker is to be started any more.
   */
  failed(worker: number, now: number, { served, refused }: { readonly served: number; readonly refused: boolean }): number | undefined {
    const well = served >= WELL;
    if (!well && !refused) {
      this.#ends = [...this.#ends.filter((at) => now - at < WITHIN), now];
      if (this.#ends.length >= TOO_MANY) return undefined;
    }
    const before = well ? 0 : (this.#inARow.get(worker) ?? 0);
    this.#inARow.set(worker, before + 1);
    return before === 0 ? 0 : Math.min(FIRST_PAUSE * 2 ** (before - 1), LONGEST_PAUSE);
  }
}

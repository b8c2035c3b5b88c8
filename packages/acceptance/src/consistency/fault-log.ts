import type { RecordedCall } from './history.ts';

/** One kind of fault, over a whole run. */
export interface FaultFigures {
  readonly name: string;
  readonly struck: number;
  /** Milliseconds of the slowest answer to a call that was under way between such a fault and the next one; 0 where there was none. */
  readonly slowest: number;
}

interface Strike {
  readonly name: string;
  readonly began: number;
}

/** The faults that struck in a run. */
export class FaultLog {
  readonly #strikes: Strike[] = [];

  /** `began`: milliseconds of this process's monotonic clock. */
  struck(name: string, began: number): void {
    this.#strikes.push({ name, began });
  }

  get names(): ReadonlySet<string> {
    return new Set(this.#strikes.map(({ name }) => name));
  }

  /** By kind, in the order in which they first struck. Calls without an answer are not among the slowest: how long they took is unknown. */
  figures(calls: readonly RecordedCall[]): readonly FaultFigures[] {
    const slowest = this.#slowest(calls);
    return [...this.names].map((name) => {
      const own = this.#strikes.flatMap((strike, i) => (strike.name === name ? [slowest[i]!] : []));
      return { name, struck: own.length, slowest: Math.max(...own) };
    });
  }

  /** For each fault, milliseconds. A run of an hour has hundreds of faults and hundreds of thousands of calls: each call looks only at its own faults. */
  #slowest(calls: readonly RecordedCall[]): number[] {
    const begins = this.#strikes.map(({ began }) => began);
    const slowest = begins.map(() => 0);
    for (const { call, return: returned } of calls) {
      const [called, answered] = [call / 1e6, returned / 1e6];
      for (let at = Math.max(0, lastAtMost(begins, called)); at < begins.length && begins[at]! < answered; at += 1)
        slowest[at] = Math.max(slowest[at]!, answered - called);
    }
    return slowest;
  }
}

/** The place of the last of the ascending numbers that is not greater; -1 for none. */
function lastAtMost(ascending: readonly number[], most: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! <= most) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

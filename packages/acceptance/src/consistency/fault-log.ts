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
    const slowest = this.#strikes.map(({ began }, i) => slowestBetween(calls, began, this.#strikes[i + 1]?.began ?? Infinity));
    return [...this.names].map((name) => {
      const own = this.#strikes.flatMap((strike, i) => (strike.name === name ? [slowest[i]!] : []));
      return { name, struck: own.length, slowest: Math.max(...own) };
    });
  }
}

function slowestBetween(calls: readonly RecordedCall[], begin: number, end: number): number {
  let slowest = 0;
  for (const { call, return: returned } of calls) {
    const [called, answered] = [call / 1e6, returned / 1e6];
    if (answered > begin && called < end) slowest = Math.max(slowest, answered - called);
  }
  return slowest;
}

/** How long a server took after each kill until it served again, in milliseconds. */
export class RecoveryTimes {
  readonly #millis: number[] = [];

  add(millis: number): void {
    this.#millis.push(millis);
  }

  /** Such as `recovered in 1.31 s (median), 2.04 s at most`. */
  toString(): string {
    const sorted = this.#millis.toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)];
    return median === undefined ? 'never recovered' : `recovered in ${seconds(median)} (median), ${seconds(sorted.at(-1)!)} at most`;
  }
}

function seconds(millis: number): string {
  return `${(millis / 1_000).toFixed(2)} s`;
}

/** How long a server took after each kill until it served again, in milliseconds. */
export class RecoveryTimes {
  readonly #millis: number[] = [];

  add(millis: number): void {
    this.#millis.push(millis);
  }

  /** Such as `1.31 s`; a dash where it never recovered. */
  get median(): string {
    return seconds(this.#sorted()[Math.floor(this.#millis.length / 2)]);
  }

  get longest(): string {
    return seconds(this.#sorted().at(-1));
  }

  /** Such as `recovered in 1.31 s (median), 2.04 s at most`. */
  toString(): string {
    return this.#millis.length === 0 ? 'never recovered' : `recovered in ${this.median} (median), ${this.longest} at most`;
  }

  #sorted(): number[] {
    return this.#millis.toSorted((a, b) => a - b);
  }
}

function seconds(millis: number | undefined): string {
  return millis === undefined ? '–' : `${(millis / 1_000).toFixed(2)} s`;
}

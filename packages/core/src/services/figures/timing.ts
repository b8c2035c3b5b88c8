import { LATENCY_BUCKETS, Latencies } from './latencies.ts';

/** Milliseconds after which what was timed before is left out of the percentiles. */
const SPAN = 60_000;

/** How often something was done and how long it took: since the start, with percentiles of the last one or two minutes. */
export class Timing {
  #count = 0;
  #millis = 0;
  #began = 0;
  #now = new Latencies();
  #before = new Latencies();

  get count(): number {
    return this.#count;
  }

  /** All together. */
  get seconds(): number {
    return this.#millis / 1_000;
  }

  add(millis: number): void {
    this.#turn();
    this.#count += 1;
    this.#millis += millis;
    this.#now.add(millis);
  }

  /** Seconds that each of these shares took at most; undefined where there was nothing lately. */
  percentiles(shares: readonly number[]): (number | undefined)[] {
    this.#turn();
    const both = new Latencies(new Uint32Array(LATENCY_BUCKETS));
    both.merge(this.#before.counts);
    both.merge(this.#now.counts);
    return shares.map((share) => {
      const millis = both.percentile(share);
      return millis === undefined ? undefined : millis / 1_000;
    });
  }

  #turn(): void {
    const now = performance.now();
    if (now - this.#began < SPAN) return;
    [this.#before, this.#now] = now - this.#began < 2 * SPAN ? [this.#now, this.#before] : [new Latencies(), this.#before];
    this.#now.clear();
    this.#began = now;
  }
}

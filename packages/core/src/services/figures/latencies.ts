/** Buckets for each doubling of the time, so that a percentile is off by a tenth at most. */
const PER_OCTAVE = 4;
/** The upper end of the first bucket; milliseconds. */
const FIRST = 0.1;
export const LATENCY_BUCKETS = 80;

/** How long calls took, in buckets whose widths grow with the time: from 0.1 ms to 90 s. */
export class Latencies {
  readonly #counts: Uint32Array;

  /** Takes over counts of another one. */
  constructor(counts: Uint32Array = new Uint32Array(LATENCY_BUCKETS)) {
    this.#counts = counts;
  }

  get counts(): Uint32Array {
    return this.#counts;
  }

  add(millis: number): void {
    const bucket = millis <= FIRST ? 0 : Math.min(LATENCY_BUCKETS - 1, Math.ceil(PER_OCTAVE * Math.log2(millis / FIRST)));
    this.#counts[bucket]! += 1;
  }

  merge(counts: ArrayLike<number>): void {
    for (let bucket = 0; bucket < LATENCY_BUCKETS; bucket += 1) this.#counts[bucket]! += counts[bucket]!;
  }

  clear(): void {
    this.#counts.fill(0);
  }

  /** Milliseconds that this share of the calls took at most, or a tenth less; undefined where there were none. */
  percentile(share: number): number | undefined {
    const total = this.#counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return undefined;
    let left = Math.max(1, Math.ceil(total * share));
    let bucket = 0;
    while ((left -= this.#counts[bucket]!) > 0) bucket += 1;
    return middleOf(bucket);
  }
}

/** Between the ends of a bucket, as far from one as from the other by ratio. */
function middleOf(bucket: number): number {
  return bucket === 0 ? FIRST / 2 : FIRST * 2 ** ((bucket - 0.5) / PER_OCTAVE);
}

import { LATENCY_BUCKETS, Latencies } from './latencies.ts';

/** Seconds between two samples. */
export const STEP = 10;
/** A day of them. */
export const LENGTH = 8_640;

/** How samples of a series become one of a longer step: what was counted is added up, what was measured is averaged or its peak is shown. */
const SERIES = {
  requests_2xx: 'sum',
  requests_3xx: 'sum',
  requests_4xx: 'sum',
  requests_5xx: 'sum',
  leases: 'last',
  leases_issued: 'sum',
  leases_revoked: 'sum',
  revocations_failed: 'sum',
  rotations_ok: 'sum',
  rotations_failed: 'sum',
  sync_ok: 'sum',
  sync_failed: 'sum',
  logins_ok: 'sum',
  logins_denied: 'sum',
  circuits_open: 'peak',
  due_backlog: 'peak',
  event_loop_lag_seconds: 'peak',
  resident_memory_bytes: 'peak',
} as const;

export type SeriesName = keyof typeof SERIES;
export const SERIES_NAMES = Object.keys(SERIES) as readonly SeriesName[];

/** What was measured in ten seconds. NaN: not known. */
export type Sample = Readonly<Record<SeriesName, number>>;

/** Samples of one step, oldest first; null where there are none, as while the server was sealed. */
export interface Plot {
  /** Milliseconds since the epoch: the beginning of the first step. */
  readonly start: number;
  /** Seconds. */
  readonly step: number;
  readonly series: Readonly<Record<SeriesName | 'latency_p50_seconds' | 'latency_p95_seconds', readonly (number | null)[]>>;
}

const WIDTH = SERIES_NAMES.length;
const MOST_COUNT = 0xffff;

/** The samples of the last day, in memory: about 2 MB once it is full. */
export class History {
  readonly #values = new Float32Array(LENGTH * WIDTH);
  readonly #latencies = new Uint16Array(LENGTH * LATENCY_BUCKETS);
  /** Which step of time each place holds; 0 for none. */
  readonly #slots = new Uint32Array(LENGTH);

  /** `millis`: when the sample was taken. A second sample of the same ten seconds is added to the first. */
  add(millis: number, sample: Sample, latencies: Latencies): void {
    const slot = slotOf(millis);
    const place = slot % LENGTH;
    const again = this.#slots[place] === slot;
    this.#slots[place] = slot;
    SERIES_NAMES.forEach((name, index) => {
      const at = place * WIDTH + index;
      this.#values[at] = again ? merged(name, [this.#values[at]!, sample[name]]) : sample[name];
    });
    const from = place * LATENCY_BUCKETS;
    latencies.counts.forEach((count, bucket) => {
      const before = again ? this.#latencies[from + bucket]! : 0;
      this.#latencies[from + bucket] = Math.min(MOST_COUNT, before + count);
    });
  }

  /** From the step that contains `since` to the last whole one before `now`. `since`, `now` in milliseconds, `step` in seconds: a multiple of ten. */
  plot({ since, now, step }: { readonly since: number; readonly now: number; readonly step: number }): Plot {
    const wide = step / STEP;
    const last = slotOf(now);
    const oldest = Math.max(1, last - LENGTH + 1);
    const first = Math.max(Math.floor(slotOf(since) / wide), Math.ceil(oldest / wide)) * wide;
    const series = Object.fromEntries(
      [...SERIES_NAMES, 'latency_p50_seconds', 'latency_p95_seconds'].map((name) => [name, [] as (number | null)[]]),
    ) as Record<keyof Plot['series'], (number | null)[]>;
    for (let from = first; from <= last; from += wide) {
      const places = this.#places(from, Math.min(from + wide, last + 1));
      SERIES_NAMES.forEach((name, index) => {
        const value = merged(
          name,
          places.map((place) => this.#values[place * WIDTH + index]!),
        );
        series[name].push(Number.isNaN(value) ? null : value);
      });
      const all = new Latencies();
      for (const place of places) all.merge(this.#latencies.subarray(place * LATENCY_BUCKETS, (place + 1) * LATENCY_BUCKETS));
      series.latency_p50_seconds.push(seconds(all.percentile(0.5)));
      series.latency_p95_seconds.push(seconds(all.percentile(0.95)));
    }
    return { start: first * STEP * 1_000, step, series };
  }

  #places(from: number, to: number): number[] {
    const places: number[] = [];
    for (let slot = from; slot < to; slot += 1) if (this.#slots[slot % LENGTH] === slot) places.push(slot % LENGTH);
    return places;
  }
}

function slotOf(millis: number): number {
  return Math.max(1, Math.floor(millis / (STEP * 1_000)));
}

/** NaN where nothing is known. */
function merged(name: SeriesName, samples: readonly number[]): number {
  const known = samples.filter((value) => !Number.isNaN(value));
  if (known.length === 0) return NaN;
  const how = SERIES[name];
  if (how === 'sum') return known.reduce((sum, value) => sum + value, 0);
  return how === 'peak' ? Math.max(...known) : known.at(-1)!;
}

function seconds(millis: number | undefined): number | null {
  return millis === undefined ? null : Number((millis / 1_000).toPrecision(3));
}

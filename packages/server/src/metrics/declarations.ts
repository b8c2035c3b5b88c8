import type { Timing } from '@strongroom/core';
import { Counter, Gauge, type Registry, Summary, type MetricObjectWithValues, type MetricValue } from 'prom-client';

const QUANTILES = [0.5, 0.9, 0.99];

/** One line of a summary: what it is about, and how it went. */
export interface TimedSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly timing: Pick<Timing, 'count' | 'seconds' | 'percentiles'>;
}

/** What a family of metrics is registered with. */
export interface Described {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Of a gauge, what it is for a server of several processes: by default the largest value, as for what all of them see alike; `apart`: one for each. */
  readonly across?: 'sum' | 'min' | 'max' | 'apart';
}

/** A summary whose values somebody else keeps: its quantiles are of the last minutes, its count and sum since the start. `scale` makes seconds another unit. */
class TimingSummary extends Summary {
  readonly #described: Described;
  readonly #series: () => readonly TimedSeries[];
  readonly #scale: number;

  constructor(described: Described, series: () => readonly TimedSeries[], scale: number) {
    super({ name: described.name, help: described.help, labelNames: [...(described.labels ?? [])], registers: [] });
    this.#described = described;
    this.#series = series;
    this.#scale = scale;
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const { name, help } = this.#described;
    const values = this.#series().flatMap(({ labels, timing }) => [
      ...timing.percentiles(QUANTILES).flatMap((value, at) => {
        const quantile = QUANTILES[at]!;
        return value === undefined ? [] : [{ labels: { ...labels, quantile: String(quantile) }, value: value * this.#scale }];
      }),
      { labels: { ...labels }, value: timing.seconds * this.#scale, metricName: `${name}_sum` },
      { labels: { ...labels }, value: timing.count, metricName: `${name}_count` },
    ]);
    return { name, help, type: 'summary' as never, values, aggregator: 'sum' } as unknown as MetricObjectWithValues<MetricValue<string>>;
  }
}

/** Where metrics are declared whose values are asked for at each scrape. */
export class Declarations {
  readonly #registry: Registry;
  readonly #common: () => Readonly<Record<string, string>>;
  readonly #commonNames: readonly string[];

  /** `common`: labels that every series has. */
  constructor(registry: Registry, commonNames: readonly string[] = [], common: () => Readonly<Record<string, string>> = () => ({})) {
    this.#registry = registry;
    this.#common = common;
    this.#commonNames = commonNames;
  }

  gauge(described: Described, series: () => Iterable<Sample>): void {
    this.#declare(Gauge, described, series, (metric, labels, value) => (metric as Gauge).set(labels, value));
  }

  counter(described: Described, series: () => Iterable<Sample>): void {
    this.#declare(Counter, described, series, (metric, labels, value) => (metric as Counter).inc(labels, value));
  }

  summary(described: Described, series: () => readonly TimedSeries[], scale = 1): void {
    const labels = [...(described.labels ?? []), ...this.#commonNames];
    const all = (): TimedSeries[] => series().map((one) => ({ ...one, labels: { ...one.labels, ...this.#common() } }));
    this.#registry.registerMetric(new TimingSummary({ ...described, labels }, all, scale));
  }

  #declare(
    Kind: typeof Gauge | typeof Counter,
    { name, help, labels = [], across = 'max' }: Described,
    series: () => Iterable<Sample>,
    add: (metric: Gauge | Counter, labels: Record<string, string>, value: number) => void,
  ): void {
    const common = this.#common;
    new Kind({
      ...{ name, help, labelNames: [...labels, ...this.#commonNames], registers: [this.#registry] },
      aggregator: Kind === Counter ? 'sum' : across === 'apart' ? 'first' : across,
      collect() {
        this.reset();
        // Of what has no labels, the library keeps a 0.
        this.remove({});
        for (const { value, ...own } of series()) if (value !== undefined) add(this, { ...own.labels, ...common() }, value);
      },
    });
  }
}

/** A value of one series. Absent: not known, so that there is no such line. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number | undefined;
}

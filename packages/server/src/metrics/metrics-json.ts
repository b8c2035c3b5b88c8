import type { MetricObjectWithValues, MetricValue } from 'prom-client';

interface Figure {
  readonly Name: string;
  readonly Labels: Readonly<Record<string, string | number>>;
}

interface Aggregate extends Figure {
  readonly Count: number;
  readonly Sum: number;
  readonly Mean: number;
}

/** The document that `sys/metrics?format=json` has in Vault and OpenBao. Their points and rates are of one interval; these figures are since the start. */
export interface MetricsJson {
  readonly Timestamp: string;
  readonly Gauges: readonly (Figure & { readonly Value: number })[];
  readonly Points: readonly never[];
  readonly Counters: readonly Aggregate[];
  readonly Samples: readonly Aggregate[];
}

type Metric = MetricObjectWithValues<MetricValue<string>>;

/** `names` in place of those that Prometheus has. Counters and gauges as they are; of a histogram its count and sum. What is not a number has no place in JSON and is left out. */
export function metricsJson(metrics: readonly Metric[], now: Date, names: ReadonlyMap<string, string> = new Map()): MetricsJson {
  const gauges: (Figure & { Value: number })[] = [];
  const counters: Aggregate[] = [];
  const samples: Aggregate[] = [];
  for (const { name: own, type, values } of metrics) {
    const name = names.get(own) ?? own;
    // The types of prom-client name numbers; at run time they are words.
    const kind = String(type);
    if (kind === 'counter') {
      for (const { value, labels } of values)
        counters.push({ Name: name, Count: value, Sum: value, Mean: value === 0 ? 0 : 1, Labels: labelsOf(labels) });
    } else if (kind === 'histogram' || kind === 'summary') samples.push(...aggregates(own, name, values));
    else
      for (const { value, labels } of values)
        if (Number.isFinite(value)) gauges.push({ Name: name, Value: value, Labels: labelsOf(labels) });
  }
  return { Timestamp: now.toISOString(), Gauges: gauges, Points: [], Counters: counters, Samples: samples };
}

/** `shown`: the name in the document. */
function aggregates(name: string, shown: string, values: readonly MetricValue<string>[]): Aggregate[] {
  const named = values as readonly (MetricValue<string> & { readonly metricName?: string })[];
  const sums = named.filter(({ metricName }) => metricName === `${name}_sum`);
  return sums.map(({ value: sum, labels }) => {
    const same = JSON.stringify(labels);
    const count = named.find((one) => one.metricName === `${name}_count` && JSON.stringify(one.labels) === same)?.value ?? 0;
    return { Name: shown, Count: count, Sum: sum, Mean: count === 0 ? 0 : sum / count, Labels: labelsOf(labels) };
  });
}

function labelsOf(labels: Partial<Record<string, string | number>>): Record<string, string | number> {
  return Object.fromEntries(Object.entries(labels).filter((entry): entry is [string, string | number] => entry[1] !== undefined));
}

import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

/** A family of metrics with its values at one moment, as prom-client writes it as JSON. */
export type MetricFamilySnapshot = MetricObjectWithValues<MetricValue<string>>;

/** What one process counted. */
export interface ProcessSnapshot {
  /** Of the worker; it appears as the label `worker`. */
  readonly worker: number;
  readonly families: readonly MetricFamilySnapshot[];
}

/** Gauges of a process, which mean nothing when they are added up. */
const OF_PROCESS = /^(?:nodejs|process)_/;

/**
 * The metrics of all processes of a server as one. Counters, histograms and the sums and counts of summaries are added up; a gauge of the whole server is shown once, as it
 * declares. A gauge of a process, and a quantile, gets the label `worker`. `ended`: the counts of processes that have ended.
 */
export function mergedMetrics(processes: readonly ProcessSnapshot[], ended: readonly MetricFamilySnapshot[] = []): Registry {
  const labelled = processes.map(({ worker, families }) => families.map((family) => withWorker(family, worker)));
  return AggregatorRegistry.aggregate([...labelled, ended] as unknown as object[]);
}

/** What outlives the process that counted it. */
export function lastingCounts(families: readonly MetricFamilySnapshot[]): MetricFamilySnapshot[] {
  return families.flatMap((family) => {
    if (typeOf(family) === 'gauge') return [];
    const values = family.values.filter(({ labels }) => labels['quantile'] === undefined);
    return values.length > 0 ? [{ ...family, values }] : [];
  });
}

/** Counts of several processes, added up. */
export function summed(families: readonly MetricFamilySnapshot[]): MetricFamilySnapshot[] {
  const sums = mergedMetrics([], families).getMetricsAsArray() as unknown as MetricFamilySnapshot[];
  return sums.map(({ name, help, type, aggregator, values }) => ({ name, help, type, aggregator, values }) as MetricFamilySnapshot);
}

function withWorker(family: MetricFamilySnapshot, worker: number): MetricFamilySnapshot {
  const type = typeOf(family);
  const whole = type === 'gauge' && (OF_PROCESS.test(family.name) || String(family.aggregator) === 'first');
  if (!whole && type !== 'summary') return family;
  const values = family.values.map((value) =>
    whole || value.labels['quantile'] !== undefined ? { ...value, labels: { ...value.labels, worker: String(worker) } } : value,
  );
  return { ...family, values, ...(whole ? { aggregator: 'first' as never } : {}) };
}

/** The types of prom-client name numbers; at run time they are words. */
function typeOf({ type }: MetricFamilySnapshot): string {
  return String(type);
}

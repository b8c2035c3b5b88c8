import type { MetricFamily } from './metric-family.ts';

/** Every metric that a server can show, in the order in which it shows them: for the reference, and for tests of dashboards. */
export async function metricFamilies(): Promise<MetricFamily[]> {
  const [{ ServerMetrics }, { NO_SOURCES }] = await Promise.all([import('./server-metrics.ts'), import('./metric-sources.ts')]);
  return new ServerMetrics(NO_SOURCES).families;
}

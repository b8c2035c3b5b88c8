import type { MetricFamily } from '@strongroom/server';
import { GENERATED } from './mount-page.ts';

/** Every metric, in tables by where its name comes from. */
export function metricsPage(families: readonly MetricFamily[]): string {
  const table = (prefixes: readonly string[]): string[] => [
    '| Name | Type | Labels | Meaning |',
    '| --- | --- | --- | --- |',
    ...families
      .filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix)))
      .map(
        ({ name, type, labels, help }) =>
          `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ') || 'none'} | ${help} |`,
      ),
    '',
  ];
  return [
    GENERATED,
    '',
    '# Metrics',
    '',
    'What `GET /v1/sys/metrics` shows. [Monitoring](../monitoring.md) says how to read it.',
    '',
    ...table(['strongroom_']),
    '## Names of Vault and OpenBao',
    '',
    'For dashboards that use them. Timings are in milliseconds. In JSON the names have dots.',
    '',
    ...table(['vault_']),
    '## Node.js and the process',
    '',
    ...table(['nodejs_', 'process_']),
  ].join('\n');
}

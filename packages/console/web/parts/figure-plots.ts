import type { PlotSeries } from './plot.tsx';

export type FigureName =
  | 'requests_2xx'
  | 'requests_4xx'
  | 'requests_5xx'
  | 'leases'
  | 'leases_issued'
  | 'leases_revoked'
  | 'revocations_failed'
  | 'rotations_ok'
  | 'rotations_failed'
  | 'sync_ok'
  | 'sync_failed'
  | 'logins_ok'
  | 'logins_denied'
  | 'circuits_open'
  | 'due_backlog'
  | 'event_loop_lag_seconds'
  | 'resident_memory_bytes'
  | 'latency_p50_seconds'
  | 'latency_p95_seconds';

/** One plot of figures of the server. */
export interface FigurePlot {
  readonly title: string;
  /** Figures and what they are called. */
  readonly figures: readonly (readonly [figure: FigureName, label: string])[];
  readonly text: (value: number) => string;
  /** What was counted: its key shows the sum. */
  readonly counted?: boolean;
  /** By the second instead of by step. */
  readonly perSecond?: boolean;
}

const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const count = (value: number): string => number.format(value);
const time = (value: number): string => (value < 1 ? `${number.format(value * 1_000)} ms` : `${number.format(value)} s`);
const memory = (value: number): string => `${number.format(Math.round(value / 1_048_576))} MiB`;

export const leasesPlot: FigurePlot = { title: 'Leases', figures: [['leases', 'live']], text: count };
export const rotationsPlot: FigurePlot = {
  title: 'Rotations',
  figures: [
    ['rotations_ok', 'ok'],
    ['rotations_failed', 'failed'],
  ],
  text: count,
  counted: true,
};
export const requestsPlot: FigurePlot = {
  title: 'Requests per second',
  figures: [
    ['requests_2xx', 'answered'],
    ['requests_5xx', 'failed (5xx)'],
    ['requests_4xx', 'refused (4xx)'],
  ],
  text: count,
  perSecond: true,
};
export const latencyPlot: FigurePlot = {
  title: 'Time of requests',
  figures: [
    ['latency_p95_seconds', '95th percentile'],
    ['latency_p50_seconds', 'median'],
  ],
  text: time,
};

/** All that a server keeps. */
export const allPlots: readonly FigurePlot[] = [
  requestsPlot,
  latencyPlot,
  leasesPlot,
  {
    title: 'Leases issued and revoked',
    figures: [
      ['leases_issued', 'issued'],
      ['revocations_failed', 'not revoked'],
      ['leases_revoked', 'revoked'],
    ],
    text: count,
    counted: true,
  },
  rotationsPlot,
  {
    title: 'Sync runs',
    figures: [
      ['sync_ok', 'ok'],
      ['sync_failed', 'failed'],
    ],
    text: count,
    counted: true,
  },
  {
    title: 'Logins',
    figures: [
      ['logins_ok', 'ok'],
      ['logins_denied', 'denied'],
    ],
    text: count,
    counted: true,
  },
  {
    title: 'Work that is due',
    figures: [
      ['due_backlog', 'entries'],
      ['circuits_open', 'open circuit breakers'],
    ],
    text: count,
  },
  { title: 'Delay of the event loop', figures: [['event_loop_lag_seconds', 'longest']], text: time },
  { title: 'Memory', figures: [['resident_memory_bytes', 'resident']], text: memory },
];

/** The lines of a plot. `step`: seconds. */
export function seriesOf(
  { figures, perSecond }: FigurePlot,
  series: Readonly<Record<string, readonly (number | null)[]>>,
  step: number,
): PlotSeries[] {
  return figures.map(([figure, label]) => {
    const values = series[figure] ?? [];
    return { label, values: perSecond ? values.map((value) => (value === null ? null : value / step)) : values };
  });
}

/** How many steps there are before the server knows anything, without the last thirty: a server that has just started shows its ten minutes, not an hour of nothing. */
export function emptySteps(series: Readonly<Record<string, readonly (number | null)[]>>): number {
  const lines = Object.values(series);
  const length = Math.max(0, ...lines.map((values) => values.length));
  let empty = 0;
  while (empty < length - LEAST && lines.every((values) => (values[empty] ?? null) === null)) empty += 1;
  return empty;
}

const LEAST = 30;

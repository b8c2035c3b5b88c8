import { Button, Skeleton, Text } from '@mantine/core';
import { lazy, Suspense, useId, useMemo, useState } from 'react';
import { DataTable } from './data-table.tsx';
import classes from './plot.module.css';

const View = lazy(() => import('./plot-view.tsx'));

export interface PlotSeries {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

interface PlotProps {
  readonly title: string;
  /** Milliseconds since the epoch: the first step. */
  readonly start: number;
  /** Seconds. */
  readonly step: number;
  /** At most four. */
  readonly series: readonly PlotSeries[];
  readonly text: (value: number) => string;
  /** Lines of what was counted show its sum, others the last value. */
  readonly counted?: boolean;
}

/** Rows of a table: a longer one helps nobody. */
const ROWS = 30;
const minute = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hour12: false });

/** A plot, what it says in words, and the same as a table. */
export function Plot({ title, start, step, series, text, counted = false }: PlotProps) {
  const name = useId();
  const [table, setTable] = useState(false);
  const length = Math.max(0, ...series.map(({ values }) => values.length));
  const times = useMemo(() => Array.from({ length }, (_, at) => start / 1_000 + at * step), [start, step, length]);
  const lines = useMemo(
    () => series.map(({ label, values }, at) => ({ label, values, colour: `--plot-${at + 1}`, dashed: at === 1 })),
    [series],
  );
  const shown = series.map(({ label, values }) => ({ label, ...summary(values, counted) }));
  const words = shown.map(({ label, now, least, most }) =>
    now === undefined
      ? `${label}: nothing known`
      : `${label}: ${text(now)}${counted ? ' in all' : ' now'}, from ${text(least!)} to ${text(most!)}`,
  );
  return (
    <figure className={classes.plot} aria-labelledby={name}>
      <div className={classes.head}>
        <Text component="p" id={name} size="sm" fw={600}>
          {title}
        </Text>
        <Button size="compact-xs" variant="subtle" aria-label={`${table ? 'Plot' : 'Table'} of ${title}`} onClick={() => setTable(!table)}>
          {table ? 'Plot' : 'Table'}
        </Button>
      </div>
      {table ? (
        <DataTable
          label={title}
          labelHidden
          rows={times.slice(-ROWS).map((_, at) => times.length - Math.min(ROWS, times.length) + at)}
          id={(at) => String(times[at])}
          columns={[
            { title: 'Time', main: true, cell: (at) => minute.format(times[at]! * 1_000) },
            ...series.map(({ label, values }) => ({
              title: label,
              end: true,
              cell: (at: number) => (typeof values[at] === 'number' ? text(values[at]) : '–'),
            })),
          ]}
        />
      ) : (
        <div role="img" aria-label={`${title}. ${words.join('; ')}.`}>
          <Suspense fallback={<Skeleton height={140} />}>
            <View times={times} lines={lines} text={text} />
          </Suspense>
        </div>
      )}
      <ul className={classes.key}>
        {shown.map(({ label, now }, at) => (
          <li key={label}>
            <span className={classes.mark} data-line={at + 1} data-dashed={at === 1} aria-hidden />
            {label} <strong>{now === undefined ? '–' : text(now)}</strong>
          </li>
        ))}
      </ul>
    </figure>
  );
}

function summary(values: readonly (number | null)[], counted: boolean): { now?: number; least?: number; most?: number } {
  const known = values.filter((value): value is number => value !== null);
  if (known.length === 0) return {};
  const now = counted ? known.reduce((sum, value) => sum + value, 0) : known.at(-1)!;
  return { now, least: Math.min(...known), most: Math.max(...known) };
}

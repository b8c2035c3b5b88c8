import { Group, SegmentedControl, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { send } from '../api/send.ts';
import { Loaded } from './loaded.tsx';
import classes from './plot.module.css';
import { Plot } from './plot.tsx';
import { emptySteps, seriesOf, type FigureName, type FigurePlot } from './figure-plots.ts';

const HOURS = { '1 h': 1, '6 h': 6, '24 h': 24 } as const;
type Range = keyof typeof HOURS;

interface Figures {
  readonly node: string;
  readonly start: string;
  readonly step: number;
  readonly series: Readonly<Record<FigureName, readonly (number | null)[]>>;
}

/** Plots of the server that answers, with one range and one cursor for all. */
export function FigurePlots({ plots, beside }: { readonly plots: readonly FigurePlot[]; readonly beside?: ReactNode }) {
  const [range, setRange] = useState<Range>('1 h');
  const hours = HOURS[range];
  const figures = useQuery({
    queryKey: ['sys/internal/ui/metrics', 'GET', range],
    queryFn: async ({ signal }) => {
      const since = new Date(Date.now() - hours * 3_600_000).toISOString();
      return send<Figures>('GET', 'sys/internal/ui/metrics', { query: { since, step: `${hours * 20}s` }, signal });
    },
    refetchInterval: 15_000,
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <Group justify="space-between" mb="sm">
        {beside ?? <Text size="sm" c="dimmed" />}
        <SegmentedControl
          size="xs"
          aria-label="Range of the plots"
          data={Object.keys(HOURS)}
          value={range}
          onChange={(next) => setRange(next as Range)}
        />
      </Group>
      <Loaded query={figures}>
        {({ data: { start, step, series } }) => {
          const empty = emptySteps(series);
          return (
            <div className={classes.plots}>
              {plots.map((plot) => (
                <Plot
                  key={plot.title}
                  title={plot.title}
                  start={Date.parse(start) + empty * step * 1_000}
                  step={step}
                  series={seriesOf(plot, series, step).map(({ label, values }) => ({ label, values: values.slice(empty) }))}
                  text={plot.text}
                  counted={plot.counted ?? false}
                />
              ))}
            </div>
          );
        }}
      </Loaded>
    </>
  );
}

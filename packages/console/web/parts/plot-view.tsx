import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import classes from './plot.module.css';

export interface PlotLine {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** A variable of the theme. */
  readonly colour: string;
  readonly dashed?: boolean;
}

export interface PlotViewProps {
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  readonly lines: readonly PlotLine[];
  /** A value as text, with its unit. */
  readonly text: (value: number) => string;
}

const HEIGHT = 140;
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });
/** All plots of a page share one cursor. */
const cursor = UPlot.sync('figures');

/** The drawing of a plot. Its words are beside it: see `Plot`. */
export default function PlotView({ times, lines, text }: PlotViewProps) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const style = getComputedStyle(element);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const axis = { stroke: colour('--plot-text'), grid: { stroke: colour('--plot-grid'), width: 1 }, ticks: { show: false } };
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        cursor: { sync: { key: cursor.key }, drag: { x: false, y: false }, points: { size: 6 } },
        legend: { show: false },
        scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
        axes: [
          { ...axis, values: (_plot, splits) => splits.map((at) => clock.format(at * 1_000)), space: 60, size: 28 },
          { ...axis, values: (_plot, splits) => splits.map(text), size: 52, space: 32 },
        ],
        series: [
          {},
          ...lines.map(({ label, colour: name, dashed }) => ({
            label,
            stroke: colour(name),
            width: 1.5,
            points: { size: 4, filter: (_plot: UPlot, at: number) => alone(lines[at - 1]!.values) },
            ...(dashed ? { dash: [5, 4] } : {}),
          })),
        ],
      },
      [[...times], ...lines.map(({ values }) => [...values])] as UPlot.AlignedData,
      element,
    );
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [times, lines, text, scheme]);
  return <div ref={place} className={classes.drawing} aria-hidden />;
}

/** Where a value has no neighbour that a line could lead to. */
function alone(values: readonly (number | null)[]): number[] {
  const known = (at: number): boolean => typeof values[at] === 'number';
  return values.flatMap((_, at) => (known(at) && !known(at - 1) && !known(at + 1) ? at : []));
}

import { Button, Group, SegmentedControl, Text } from '@mantine/core';
import { useRef, useState, type KeyboardEvent } from 'react';
import { DataTable } from '../../parts/data-table.tsx';
import classes from './timeline.module.css';
import { axisLabel, SPANS, type Span } from './timeline-spans.ts';
import type { Bucket } from './use-histogram.ts';

interface TimelineProps {
  readonly span: Span;
  readonly buckets: readonly Bucket[];
  /** The beginning of the chosen bar, milliseconds since the epoch. */
  readonly chosen: number | undefined;
  /** Counting goes on, or ended before everything was counted. */
  readonly note: string | undefined;
  readonly onSpan: (key: string) => void;
  readonly onChoose: (from: number | undefined) => void;
}

/** Leases by the time of their end: a bar for each minute, hour or day. One bar is in the tab order; the arrows walk through them. */
export function Timeline({ span, buckets, chosen, note, onSpan, onChoose }: TimelineProps) {
  const [table, setTable] = useState(false);
  const [focused, setFocused] = useState(0);
  const bars = useRef<(HTMLButtonElement | null)[]>([]);
  const most = Math.max(1, ...buckets.map(total));
  const all = buckets.reduce((sum, bucket) => sum + total(bucket), 0);
  const walk = (event: KeyboardEvent, index: number): void => {
    const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: buckets.length - 1 }[event.key];
    if (to === undefined || to < 0 || to >= buckets.length) return;
    event.preventDefault();
    setFocused(to);
    bars.current[to]?.focus();
  };
  return (
    <section aria-labelledby="timeline-title" className={classes.section}>
      <Group justify="space-between" gap="xs">
        <h2 id="timeline-title" className={classes.title}>
          {`${all.toLocaleString('en')} end in this time`}
        </h2>
        <Group gap="xs">
          <SegmentedControl
            size="xs"
            aria-label="How far the timeline reaches"
            value={span.key}
            onChange={onSpan}
            data={SPANS.map(({ key, label }) => ({ value: key, label: label.split(',')[0]! }))}
          />
          <Button size="xs" variant="default" aria-pressed={table} onClick={() => setTable(!table)}>
            Table
          </Button>
        </Group>
      </Group>
      <Text size="xs" c="dimmed" role="status">
        {note ?? `${span.label}. Times are UTC.`}
      </Text>
      {table ? (
        <DataTable
          label="Leases by their ends"
          labelHidden
          rows={buckets.filter((bucket) => total(bucket) > 0)}
          id={({ from }) => from}
          empty={<Text c="dimmed">Nothing ends in this time.</Text>}
          columns={[
            { title: 'From', cell: ({ from }) => rangeOf(from, span), main: true },
            { title: 'Secrets', cell: ({ secrets }) => secrets.toLocaleString('en'), end: true },
            { title: 'Tokens', cell: ({ tokens }) => tokens.toLocaleString('en'), end: true },
          ]}
        />
      ) : (
        <>
          <div className={classes.scale} aria-hidden="true">
            <span>{most.toLocaleString('en')}</span>
          </div>
          <div
            className={classes.bars}
            role="listbox"
            aria-orientation="horizontal"
            aria-label={`${span.label}: choose a bar to list its leases`}
          >
            {buckets.map((bucket, index) => {
              const at = Date.parse(bucket.from);
              return (
                <button
                  key={bucket.from}
                  ref={(element) => void (bars.current[index] = element)}
                  type="button"
                  role="option"
                  className={classes.bar}
                  tabIndex={index === focused ? 0 : -1}
                  aria-selected={chosen === at}
                  aria-label={`${rangeOf(bucket.from, span)}: ${bucket.secrets} secrets, ${bucket.tokens} tokens`}
                  title={`${rangeOf(bucket.from, span)}: ${bucket.secrets} secrets, ${bucket.tokens} tokens`}
                  onKeyDown={(event) => walk(event, index)}
                  onFocus={() => setFocused(index)}
                  onClick={() => onChoose(chosen === at ? undefined : at)}
                >
                  <span className={classes.tokens} style={{ height: `${(100 * bucket.tokens) / most}%` }} />
                  <span className={classes.secrets} style={{ height: `${(100 * bucket.secrets) / most}%` }} />
                </button>
              );
            })}
          </div>
          <div className={classes.axis} aria-hidden="true">
            {buckets
              .filter((_, index) => index % Math.ceil(buckets.length / 6) === 0)
              .map(({ from }) => (
                <span key={from}>{axisLabel(Date.parse(from), span)}</span>
              ))}
          </div>
          <p className={classes.legend}>
            <span className={classes.secretsKey} /> secrets <span className={classes.tokensKey} /> tokens
          </p>
        </>
      )}
    </section>
  );
}

function total({ secrets, tokens }: Bucket): number {
  return secrets + tokens;
}

function rangeOf(from: string, span: Span): string {
  const at = Date.parse(from);
  return `${axisLabel(at, span)} to ${axisLabel(at + span.bar, span)}`;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A span of the timeline, and what one bar stands for. */
export interface Span {
  readonly key: string;
  readonly label: string;
  /** Milliseconds of a bar. */
  readonly bar: number;
  readonly bars: number;
}

export const SPANS: readonly Span[] = [
  { key: 'hour', label: 'Next hour, by minute', bar: MINUTE, bars: 60 },
  { key: 'day', label: 'Next day, by hour', bar: HOUR, bars: 24 },
  { key: 'month', label: 'Next 30 days, by day', bar: DAY, bars: 30 },
];

export function spanOf(key: string | undefined): Span {
  return SPANS.find((span) => span.key === key) ?? SPANS[1]!;
}

/** From the beginning of the present minute, hour or UTC day, so that the bars stay where they are while time goes on. */
export function windowOf({ bar, bars }: Span, now: number): { readonly from: number; readonly to: number } {
  const from = Math.floor(now / bar) * bar;
  return { from, to: from + bar * bars };
}

/** A time on the axis, in UTC: `14:05`, or `22 Nov` where a bar is a day. */
export function axisLabel(time: number, { bar }: Span): string {
  const date = new Date(time);
  if (bar >= DAY) return `${date.getUTCDate()} ${date.toLocaleString('en', { month: 'short', timeZone: 'UTC' })}`;
  return date.toISOString().slice(11, 16);
}

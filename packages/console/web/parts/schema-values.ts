/** What a form sends: the fields that somebody touched. */
export type FormValues = Readonly<Record<string, unknown>>;

/** The server's sentences by the field that each names; the longest name wins, so that `max_ttl` is not taken for `ttl`. */
export function complaintsOf(errors: readonly string[], names: readonly string[]): Readonly<Record<string, string>> {
  const longestFirst = [...names].sort((a, b) => b.length - a.length);
  const found: Record<string, string> = {};
  for (const sentence of errors) {
    const named = longestFirst.find((name) => new RegExp(`(^|[^\\w])${name}([^\\w]|$)`).test(sentence));
    if (named !== undefined) found[named] ??= sentence;
  }
  return found;
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Seconds of `1h30m`, `7d`, `90`; undefined for what is no duration. */
export function secondsOf(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^(\d+[smhd])+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+)([smhd])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0);
}

/** A value as text for a field. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** JSON text as a value. @throws SyntaxError */
export function fromJson(text: string): unknown {
  return JSON.parse(text) as unknown;
}

import type { Schema } from '../../api/openapi.ts';
import { kindOf, type FieldKind } from './field-kind.ts';

/** What a form sends: the fields that somebody touched. */
export type FormValues = Readonly<Record<string, unknown>>;

/** What stands in the fields that somebody touched: text, and a record for pairs. A field that nobody touched is absent, and is not sent. */
export type Draft = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

export type Fields = Readonly<Record<string, Schema>>;

/** How a value that the server shows stands in its field. */
export function shownAs(value: unknown, kind: FieldKind): string {
  if (value === undefined || value === null) return '';
  if (kind === 'list' || kind === 'statements') return Array.isArray(value) ? value.map(asText).join('\n') : asText(value);
  if (kind === 'json' || kind === 'code')
    return isEmpty(value) ? '' : typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
  return asText(value);
}

/** What is typed, as values; and what is wrong with fields that cannot be read. */
export function readDraft(
  fields: Fields,
  draft: Draft,
): { readonly values: FormValues; readonly faults: Readonly<Record<string, string>> } {
  const values: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const [name, schema] of Object.entries(fields)) {
    const typed = Object.hasOwn(draft, name) ? draft[name] : undefined;
    if (typed === undefined) continue;
    try {
      values[name] = typeof typed === 'string' ? valueOf(typed, kindOf(name, schema), schema) : typed;
    } catch (fault) {
      faults[name] = (fault as Error).message;
    }
  }
  return { values, faults };
}

/** @throws Error that says what would be right */
function valueOf(text: string, kind: FieldKind, schema: Schema): unknown {
  switch (kind) {
    case 'boolean':
      return text === 'true';
    case 'number':
      return numberOf(text);
    case 'duration':
      if (text !== '' && !/^-?\d/.test(text)) throw new Error('Write a duration, such as 30m, 12h or 7d.');
      return text;
    case 'list': {
      const lines = linesOf(text);
      return schema.items?.type === 'integer' ? lines.map(numberOf) : lines;
    }
    case 'statements':
      return text.trim() === '' ? [] : text.includes('-----BEGIN ') ? text.split(/(?=-----BEGIN )/) : [text];
    case 'json':
      return jsonOf(text, schema);
    default:
      return text;
  }
}

function numberOf(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw new Error('Write a number.');
  return number;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** JSON; for an object lines of `key=value` too. */
function jsonOf(text: string, schema: Schema): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return schema.type === 'array' ? [] : {};
  if (schema.type === 'object' && !trimmed.startsWith('{')) {
    const pairs = linesOf(trimmed).map((line) => /^([^=]+)=(.*)$/.exec(line));
    if (pairs.some((pair) => pair === null)) throw new Error('This is neither JSON nor key=value, one a line.');
    return Object.fromEntries(pairs.map((pair) => [pair![1]!.trim(), pair![2]!.trim()]));
  }
  try {
    return JSON.parse(trimmed) as unknown;
  } catch {
    throw new Error('This is not JSON yet.');
  }
}

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

/** A value as text. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Whether a field has no value: absent, empty, or a list or record of nothing. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

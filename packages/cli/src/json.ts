import { ExactNumber, isPlainJson, NO_JSON_LIMITS, readJson } from '@strongroom/engine-sdk/json';

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** JSON.parse that keeps the digits of numbers, as `ExactNumber` where JavaScript would lose some: the server answers what was written. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  return isPlainJson(text, NO_JSON_LIMITS) ? value : readJson(text);
}

/** JSON with two spaces of indent (or on one line with 0), and exact numbers with their digits. */
export function printJson(value: unknown, indent = 2, depth = 0): string {
  if (value instanceof ExactNumber) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const list = Array.isArray(value);
  const parts = list
    ? value.map((item) => printJson(item, indent, depth + 1))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${JSON.stringify(key)}:${indent > 0 ? ' ' : ''}${printJson(item, indent, depth + 1)}`);
  const [open, close] = list ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  if (indent === 0) return open + parts.join(',') + close;
  const pad = ' '.repeat(indent * (depth + 1));
  return `${open}\n${parts.map((part) => pad + part).join(',\n')}\n${' '.repeat(indent * depth)}${close}`;
}

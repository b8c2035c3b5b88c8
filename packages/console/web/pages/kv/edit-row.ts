import { isExact, readExact, type Json } from '../../api/exact-json.ts';
import { pathText, valueText, type Leaf } from './leaves.ts';

/** One value while it is edited. */
export interface EditRow {
  readonly id: number;
  /** Keys around this one. */
  readonly above: readonly string[];
  readonly key: string;
  /** A text, or JSON: a number, true, a list. */
  readonly kind: 'text' | 'json';
  readonly text: string;
  /** Somebody asked to see it, or it is new. */
  readonly shown: boolean;
}

export function rowsOf(leaves: readonly Leaf[]): EditRow[] {
  return leaves.map(({ path, value }, id) => ({
    id,
    above: path.slice(0, -1),
    key: path.at(-1)!,
    kind: typeof value === 'string' ? 'text' : 'json',
    text: valueText(value),
    shown: false,
  }));
}

export function newRow(rows: readonly EditRow[], above: readonly string[] = []): EditRow {
  return { id: Math.max(-1, ...rows.map(({ id }) => id)) + 1, above, key: '', kind: 'text', text: '', shown: true };
}

/** The values of the rows. @throws Error with a sentence for a key that is missing, and for a text that is no JSON */
export function leavesOfRows(rows: readonly EditRow[]): Leaf[] {
  return rows.map(({ above, key, kind, text }) => {
    if (key === '' && above.length === 0) throw new Error('A value has no key.');
    return { path: [...above, key], value: kind === 'text' ? text : jsonOf(text, [...above, key]) };
  });
}

/** @throws Error that names the key, without the text */
function jsonOf(text: string, path: readonly string[]): Json {
  try {
    return readExact(text);
  } catch {
    throw new Error(`The value of ${pathText(path)} is not JSON.`);
  }
}

/** Whole secrets as JSON. @throws Error with a sentence */
export function recordOf(text: string): Readonly<Record<string, Json>> {
  let value: Json;
  try {
    value = readExact(text);
  } catch {
    throw new Error('This is not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isExact(value))
    throw new Error('A secret is a JSON object: { "key": "value" }.');
  return value as Readonly<Record<string, Json>>;
}

import type { DeclaredField } from './declared-fields.ts';

/** What a person has typed, by field; a field that nobody touched is absent, and is not sent. */
export type Draft = Readonly<Record<string, string>>;

/** How a value that the server shows is written in its field. */
export function textOf(value: unknown, kind: DeclaredField['kind']): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n');
  if (kind === 'object') return Object.keys(value as object).length === 0 ? '' : JSON.stringify(value, undefined, 2);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * The body of a write: the touched fields alone, since the API tells what is absent from what is empty.
 * @throws Error that names the field which cannot be read
 */
export function bodyOf(fields: readonly DeclaredField[], draft: Draft): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name, kind } of fields) {
    const text = draft[name];
    if (text === undefined) continue;
    body[name] = valueOf(name, kind, text);
  }
  return body;
}

function valueOf(name: string, kind: DeclaredField['kind'], text: string): unknown {
  const trimmed = text.trim();
  switch (kind) {
    case 'boolean':
      return text === 'true';
    case 'number':
      if (trimmed === '' || !Number.isFinite(Number(trimmed))) throw new Error(`${name}: “${text}” is not a number`);
      return Number(trimmed);
    case 'list':
      return text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
    case 'object':
      return trimmed === '' ? {} : objectOf(name, trimmed);
    default:
      return text;
  }
}

/** JSON, or lines of `key=value`. */
function objectOf(name: string, text: string): unknown {
  if (text.startsWith('{')) {
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
  }
  return Object.fromEntries(
    text.split('\n').map((line) => {
      const at = line.indexOf('=');
      if (at < 1) throw new Error(`${name}: “${line}” is no key=value, and the text is no JSON`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

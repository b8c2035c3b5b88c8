export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const MARK = '\u0000bigint:';

/**
 * JSON.parse that keeps whole numbers beyond 2^53 exact, as bigint: the server stores them as written, and
 * rounding them here would show a value that is not there. Throws SyntaxError on bad JSON.
 */
export function parseJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? JSON.stringify(MARK + token) : token,
  );
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

/** JSON with two spaces of indent (or on one line with 0), and bigint as a plain number. */
export function printJson(value: unknown, indent = 2, depth = 0): string {
  if (typeof value === 'bigint') return value.toString();
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

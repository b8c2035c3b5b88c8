import { Refusal } from './refusal.ts';

/**
 * Decodes `a=1&b=x+y&b=z` into `{ a: '1', b: ['x y', 'z'] }`; `what` names the text in complaints.
 * @throws Refusal (400) for broken percent-encoding
 */
export function parseQuery(text: string, what: string): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {};
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals), what);
    const value = equals < 0 ? '' : decoded(pair.slice(equals + 1), what);
    if (!Object.hasOwn(fields, name)) setField(fields, name, value);
    else {
      const before = fields[name]!;
      if (typeof before === 'string') setField(fields, name, [before, value]);
      else before.push(value);
    }
  }
  return fields;
}

/** Go's rule of what is a boolean; undefined for anything else. */
export function parseBool(text: string): boolean | undefined {
  if (/^(?:1|t|T|TRUE|true|True)$/.test(text)) return true;
  if (/^(?:0|f|F|FALSE|false|False)$/.test(text)) return false;
  return undefined;
}

/** The first of several; empty if the field is missing. */
export function firstOf(value: string | string[] | undefined): string {
  return (typeof value === 'string' ? value : value?.[0]) ?? '';
}

/** A plain assignment to `__proto__` would set the prototype. */
function setField(fields: Record<string, unknown>, name: string, value: string | string[]): void {
  if (name !== '__proto__') fields[name] = value;
  else Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true });
}

function decoded(text: string, what: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new Refusal(400, `${what} is not valid percent-encoded UTF-8`);
  }
}

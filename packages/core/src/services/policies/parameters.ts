import { isDeepStrictEqual } from 'node:util';
import type { FieldNames } from '../../kernel/mounts/path-router.ts';
import type { ParameterValues } from './policy-rule.ts';

type Parameters = ReadonlyMap<string, ParameterValues>;
type Data = Readonly<Record<string, unknown>>;

/** Why required parameters refuse the data; undefined when all are there. */
export function missingParameter(required: readonly string[], data: Data): string | undefined {
  if (required.length === 0) return undefined;
  const sent = new Set(Object.keys(data).map((key) => key.toLowerCase()));
  const missing = required.find((name) => !sent.has(name));
  return missing === undefined ? undefined : `parameter ${JSON.stringify(missing)} is required`;
}

/** Why denied parameters refuse the data; undefined when none is sent. The values sent are never in the text. */
export function deniedParameter(denied: Parameters, data: Data): string | undefined {
  const keys = Object.keys(data);
  if (keys.length > 0 && denied.has('*')) return 'every parameter is denied';
  for (const key of keys) {
    const values = denied.get(key.toLowerCase());
    if (values && (values.length === 0 || isDenied(values, data[key])))
      return `parameter ${JSON.stringify(key)} is denied or has a denied value`;
  }
  return undefined;
}

/** Why allowed parameters refuse the data; undefined when everything sent is allowed. */
export function disallowedParameter(allowed: Parameters, data: Data, names?: FieldNames): string | undefined {
  for (const key of Object.keys(data)) {
    const reasons = (names?.get(key) ?? [key]).map((name) => disallowed(allowed, name, data[key]));
    if (!reasons.includes(undefined)) return reasons[0];
  }
  return undefined;
}

function disallowed(allowed: Parameters, key: string, value: unknown): string | undefined {
  const values = allowed.get(key.toLowerCase());
  if (!values) return allowed.has('*') ? undefined : `parameter ${JSON.stringify(key)} is not allowed`;
  if (values.length === 0 || isListed(values, value)) return undefined;
  return `parameter ${JSON.stringify(key)} has a value that is not allowed`;
}

/** A list that holds a denied value is denied too: many fields take one value and a list of one alike. */
function isDenied(values: ParameterValues, value: unknown): boolean {
  return isListed(values, value) || (Array.isArray(value) && value.some((item) => isListed(values, item)));
}

function isListed(values: ParameterValues, value: unknown): boolean {
  return values.some((listed) => valueMatches(listed, value));
}

/** Texts, numbers and booleans compare as text, since fields decode `"5"` and `5` alike; a text may begin and end with `*`. */
function valueMatches(listed: unknown, value: unknown): boolean {
  if (isScalar(listed) && isScalar(value))
    return typeof listed === 'string' ? edgeMatches(listed, String(value)) : String(listed) === String(value);
  return isDeepStrictEqual(listed, value);
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function edgeMatches(pattern: string, value: string): boolean {
  if (pattern === '*') return true;
  const open = pattern.startsWith('*');
  const close = pattern.endsWith('*');
  if (open && close) return value.includes(pattern.slice(1, -1));
  if (open) return value.endsWith(pattern.slice(1));
  if (close) return value.startsWith(pattern.slice(0, -1));
  return value === pattern;
}

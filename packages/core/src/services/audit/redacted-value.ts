import { ExactNumber } from '@strongroom/engine-sdk';

/** Deeper than anything a client sends for a purpose; keeps the walk off the end of the stack. */
const DEEPEST = 256;

/**
 * A copy of what JSON can hold, with every text replaced by `hash(text)`. Keys, numbers, booleans and RFC 3339 timestamps stay as they are,
 * and so does everything below the top-level keys in `readable`. Bytes count as their base64 text.
 */
export function redacted(value: unknown, hash: (text: string) => string, readable: readonly string[]): unknown {
  if (readable.length === 0 || !isRecord(value)) return copy(value, hash, 0);
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) define(result, key, copy(item, readable.includes(key) ? (text) => text : hash, 1));
  return result;
}

/** A list's answer with the numbers of its keys in place of the keys. */
export function elided(data: unknown): unknown {
  if (!isRecord(data)) return data;
  const result = { ...data };
  if (Array.isArray(result['keys'])) result['keys'] = result['keys'].length;
  if (isRecord(result['key_info'])) result['key_info'] = Object.keys(result['key_info']).length;
  return result;
}

function copy(value: unknown, hash: (text: string) => string, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return isTimestamp(value) ? value : hash(value);
    case 'number':
    case 'boolean':
      return value;
    case 'bigint':
      return hash(String(value));
    case 'object':
      return value === null ? null : copyObject(value, hash, depth);
    default:
      return undefined;
  }
}

function copyObject(value: object, hash: (text: string) => string, depth: number): unknown {
  if (depth > DEEPEST) return '(nested too deeply)';
  if (Array.isArray(value)) return value.map((item) => copy(item, hash, depth + 1));
  if (value instanceof Date || value instanceof ExactNumber) return value;
  if (value instanceof Uint8Array) return hash(Buffer.from(value).toString('base64'));
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return copy((value as { toJSON(): unknown }).toJSON(), hash, depth + 1);
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) define(result, key, copy(item, hash, depth + 1));
  return result;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

/** `__proto__` is a key like any other. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  else target[key] = value;
}

const timestampForm = /^\d{4}-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:Z|[+-](\d\d):(\d\d))$/;

/** A real point in time with at most nanoseconds: digits beyond them could be anything. */
function isTimestamp(text: string): boolean {
  if (text.length < 20 || text.length > 35 || text.charCodeAt(10) !== 0x54) return false;
  const parts = timestampForm.exec(text);
  if (!parts) return false;
  const [month, day, hour, minute, second, zoneHour, zoneMinute] = parts.slice(1).map((part) => Number(part ?? 0)) as number[];
  const days = new Date(Date.UTC(Number(text.slice(0, 4)), month as number, 0)).getUTCDate();
  const date = between(month, 1, 12) && between(day, 1, days);
  return (
    date &&
    between(hour, 0, 23) &&
    between(minute, 0, 59) &&
    between(second, 0, 59) &&
    between(zoneHour, 0, 24) &&
    between(zoneMinute, 0, 60)
  );
}

function between(value: number | undefined, low: number, high: number): boolean {
  return value !== undefined && value >= low && value <= high;
}

/** Adds the texts that `redacted` would hash to `texts`; false, and some are missing, once `weight` of them and their characters is exceeded. */
export function gatherTexts(value: unknown, texts: string[], weight = Infinity): boolean {
  return gathered(value, texts, 0, { left: weight });
}

/** What a text weighs beside its characters. */
const TEXT_WEIGHT = 1_024;

function gathered(value: unknown, texts: string[], depth: number, budget: { left: number }): boolean {
  if (typeof value === 'string') {
    texts.push(value);
    budget.left -= value.length + TEXT_WEIGHT;
    return budget.left >= 0;
  }
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || depth > DEEPEST) return true;
  if (Array.isArray(value)) return value.every((item) => gathered(item, texts, depth + 1, budget));
  for (const key in value) {
    if (!gathered((value as Record<string, unknown>)[key], texts, depth + 1, budget)) return false;
  }
  return true;
}

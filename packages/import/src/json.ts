import { ExactNumber, parseDuration } from '@strongroom/engine-sdk';
import { createHash } from 'node:crypto';

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** The object, or an empty one for anything else. */
export function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** One text for all ways to write a value: keys are sorted, and numbers have all their digits. */
export function canonical(value: unknown): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null';
  const parts = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${parts.join(',')}}`;
}

/** SHA-256 of the canonical text, in hexadecimal. */
export function digest(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex');
}

/**
 * Whether settings mean the same, however two servers write them: "1h" is 3600, "a,b" is ["a","b"], the order of a list does not matter, and null, "", [] and
 * {} are nothing. What `there` has beside the keys of `wanted` does not count.
 */
export function alike(wanted: unknown, there: unknown): boolean {
  if (isNothing(wanted)) return isNothing(there);
  if (isNothing(there)) return false;
  if (Array.isArray(wanted) || Array.isArray(there)) {
    const [left, right] = [listOf(wanted), listOf(there)].map((list) => list.map(canonical).sort());
    return canonical(left) === canonical(right);
  }
  if (isRecord(wanted)) return isRecord(there) && Object.entries(wanted).every(([key, value]) => alike(value, own(there, key)));
  if (canonical(wanted) === canonical(there)) return true;
  if (typeof wanted === 'string' && typeof there === 'string' && wanted.trim() === there.trim()) return true;
  const [left, right] = [secondsOf(wanted), secondsOf(there)];
  return left !== undefined && left === right;
}

function own(record: JsonRecord, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

export function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.values(value).every(isNothing);
}

function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'string' ? value.split(',').map((item) => item.trim()) : [value];
}

function secondsOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  try {
    return parseDuration(value);
  } catch {
    return undefined;
  }
}

/** Whether every value is what a server has before anybody wrote: nothing, 0, false or no time. */
export function isUntouched(settings: JsonRecord): boolean {
  return Object.values(settings).every((value) => isNothing(value) || value === 0 || value === false || value === '0s');
}

import { ExactNumber, MET_EXACT_NUMBER, withoutLoss } from './exact-number.ts';

/** `JSON.stringify` that writes the digits of exact numbers. Costs no more where there are none. */
export function writeJson(value: unknown): string {
  return fastText(value) ?? exactText(value) ?? 'null';
}

/** The same, with one blank in front where there are exact numbers: `readStoredJson` then knows without a look at the rest. */
export function writeStoredJson(value: unknown): string {
  return fastText(value) ?? ` ${exactText(value) ?? 'null'}`;
}

/** Undefined when an exact number is in the way. */
function fastText(value: unknown): string | undefined {
  try {
    return withoutLoss(() => JSON.stringify(value) as string | undefined) ?? 'null';
  } catch (error) {
    if (error === MET_EXACT_NUMBER) return undefined;
    throw error;
  }
}

/** What `JSON.stringify` gives, but for exact numbers; undefined for what JSON does not have. */
function exactText(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) as string | undefined;
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => exactText(item) ?? 'null').join(',')}]`;
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return exactText((toJSON as () => unknown).call(value));
  const parts: string[] = [];
  for (const [key, item] of Object.entries(value)) {
    const text = exactText(item);
    if (text !== undefined) parts.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${parts.join(',')}}`;
}

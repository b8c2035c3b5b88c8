import { ExactNumber } from '@strongroom/engine-sdk';

/** A copy of a JSON value; several times faster than `structuredClone`. */
export function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (key === '__proto__')
      Object.defineProperty(copy, key, {
        value: copyOf((value as Record<string, unknown>)[key]),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    else copy[key] = copyOf((value as Record<string, unknown>)[key]);
  }
  return copy as T;
}

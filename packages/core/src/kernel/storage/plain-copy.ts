/** The value is not plain. */
export const NOT_PLAIN = Symbol('not plain');

/**
 * A copy of a value that is just what reading its JSON would give: members that are undefined are left out. `NOT_PLAIN` where writing and reading change
 * anything else, as with dates, class instances, NaN or holes in arrays.
 */
export function plainCopyOf(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0) ? value : NOT_PLAIN;
  if (typeof value !== 'object') return NOT_PLAIN;
  return Array.isArray(value) ? arrayOf(value) : objectOf(value as Record<string, unknown>);
}

function arrayOf(value: readonly unknown[]): unknown {
  const copy: unknown[] = [];
  for (const item of value) {
    const copied = plainCopyOf(item);
    if (copied === NOT_PLAIN) return NOT_PLAIN;
    copy.push(copied);
  }
  return copy;
}

function objectOf(value: Record<string, unknown>): unknown {
  if (Object.getPrototypeOf(value) !== Object.prototype) return NOT_PLAIN;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    const copied = key === '__proto__' ? NOT_PLAIN : plainCopyOf(member);
    // A method `toJSON` is no plain value either.
    if (copied === NOT_PLAIN) return NOT_PLAIN;
    copy[key] = copied;
  }
  return copy;
}

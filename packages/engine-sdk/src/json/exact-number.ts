let strict = false;

/** Thrown by `toJSON` to a writer that must not lose digits. */
export const MET_EXACT_NUMBER = new Error('met an exact number');

/** Runs `work` so that an exact number which is about to lose its digits throws `MET_EXACT_NUMBER` instead. */
export function withoutLoss<T>(work: () => T): T {
  const before = strict;
  strict = true;
  try {
    return work();
  } finally {
    strict = before;
  }
}

/**
 * A number of JSON that JavaScript would write otherwise, such as `12345678901234567890`, `1.0` or `1e400`. It keeps the text, and never
 * changes. `writeJson` writes the digits. Plain `JSON.stringify` writes the nearest 64-bit float, or the digits as a text where no float is near.
 */
export class ExactNumber {
  readonly #text: string;

  /** `text` is a number as JSON spells it. */
  constructor(text: string) {
    this.#text = text;
  }

  /** True for numbers whose text a 64-bit float does not return. */
  static needed(text: string): boolean {
    return String(Number(text)) !== text;
  }

  get text(): string {
    return this.#text;
  }

  /** The nearest 64-bit float; infinite for what is beyond them. */
  valueOf(): number {
    return Number(this.#text);
  }

  toString(): string {
    return this.#text;
  }

  toJSON(): number | string {
    if (strict) throw MET_EXACT_NUMBER;
    const near = Number(this.#text);
    return Number.isFinite(near) ? near : this.#text;
  }
}

/**
 * The value with each exact number as the nearest 64-bit float. Parts without any are shared, not copied. `beyond` is called with the path (keys and
 * positions, joined by dots) and the text of each number that no float is near, infinite ones included; what it returns stands in its place, and it may
 * throw.
 */
export function toFloats(value: unknown, beyond: (path: string, text: string) => unknown): unknown {
  return floats(value, '', beyond);
}

function floats(value: unknown, at: string, beyond: (path: string, text: string) => unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return beyond(at, String(value));
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof ExactNumber) {
    const near = value.valueOf();
    return Number.isFinite(near) ? near : beyond(at, value.text);
  }
  const below = (key: string | number): string => (at === '' ? String(key) : `${at}.${key}`);
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let index = 0; index < value.length; index += 1) {
      const item: unknown = value[index];
      if (!mayChange(item)) continue;
      const next = floats(item, below(index), beyond);
      if (next !== item) (copy ??= [...(value as unknown[])])[index] = next;
    }
    return copy ?? value;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  let copy: Record<string, unknown> | undefined;
  for (const [key, item] of Object.entries(value)) {
    if (!mayChange(item)) continue;
    const next = floats(item, below(key), beyond);
    // Whatever the key: an assignment to `__proto__` would set the prototype.
    if (next !== item)
      Object.defineProperty((copy ??= { ...value }), key, { value: next, enumerable: true, writable: true, configurable: true });
  }
  return copy ?? value;
}

function mayChange(item: unknown): boolean {
  return typeof item === 'object' ? item !== null : typeof item === 'number' && !Number.isFinite(item);
}

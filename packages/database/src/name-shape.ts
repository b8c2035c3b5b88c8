import type { CharacterClass } from './character-class.ts';

/** A part of a name: text that is always the same, a run of characters, or parts that are cut off after so many characters. */
export type ShapePart =
  | { readonly literal: string }
  | { readonly run: CharacterClass; readonly min: number; readonly max: number }
  | { readonly cut: readonly ShapePart[]; readonly limit: number };

/** Fewer random characters than this may be chance. */
const ENOUGH_RANDOM = 8;

/** What a template can make, as a sequence of parts. */
export class NameShape {
  readonly #parts: readonly ShapePart[];

  constructor(parts: readonly ShapePart[]) {
    this.#parts = parts;
  }

  /** Text that every name begins with. */
  get prefix(): string {
    let prefix = '';
    for (const part of unfolded(this.#parts)) {
      if (!('literal' in part)) break;
      prefix += part.literal;
    }
    const [first] = this.#parts;
    return first && 'cut' in first ? prefix.slice(0, first.limit) : prefix;
  }

  /** Whether every name holds enough that only chance could make alike. */
  get telling(): boolean {
    return randomIn(this.#parts, Infinity) >= ENOUGH_RANDOM;
  }

  /** `now` in milliseconds. */
  fits(name: string, now: number): boolean {
    return walk({ parts: this.#parts, index: 0, text: name, at: 0, now, cutOff: false }, (end) => end === name.length);
  }
}

/** The most characters of some parts. */
export function longest(parts: readonly ShapePart[]): number {
  return parts.reduce((sum, part) => sum + ('literal' in part ? part.literal.length : 'run' in part ? part.max : part.limit), 0);
}

function unfolded(parts: readonly ShapePart[]): ShapePart[] {
  return parts.flatMap((part) => ('cut' in part ? unfolded(part.cut) : [part]));
}

/** How many random characters there are at least, where no more than `limit` characters are kept. */
function randomIn(parts: readonly ShapePart[], limit: number): number {
  let found = 0;
  let before = 0;
  for (const part of parts) {
    const left = limit === Infinity ? Infinity : Math.max(0, limit - before);
    if ('cut' in part) found += randomIn(part.cut, Math.min(part.limit, left));
    else if ('run' in part && part.run.random) found += Math.min(part.min, left);
    before += longest([part]);
  }
  return found;
}

interface Walk {
  readonly parts: readonly ShapePart[];
  readonly index: number;
  readonly text: string;
  readonly at: number;
  readonly now: number;
  /** The text may end anywhere: the rest was cut off. */
  readonly cutOff: boolean;
}

/** Tries every way in which the parts can make up the text from `at` on; `done` decides whether an end will do. */
function walk(state: Walk, done: (end: number) => boolean): boolean {
  const { parts, index, text, at, now, cutOff } = state;
  if (cutOff && at === text.length) return done(at);
  const part = parts[index];
  if (!part) return done(at);
  const next = (to: number): boolean => walk({ ...state, index: index + 1, at: to }, done);
  if ('literal' in part) {
    if (text.startsWith(part.literal, at)) return next(at + part.literal.length);
    return cutOff && part.literal.startsWith(text.slice(at)) && done(text.length);
  }
  if ('run' in part) {
    const { run, min, max } = part;
    for (let to = at, length = 0; ; length += 1) {
      const ended = cutOff && to === text.length;
      if ((length >= min || ended) && (run.fits?.(text.slice(at, to), now) ?? true) && next(to)) return true;
      if (length === max || to === text.length) return false;
      const char = String.fromCodePoint(text.codePointAt(to)!);
      if (!run.has(char)) return false;
      to += char.length;
    }
  }
  const inside = { ...state, parts: part.cut, index: 0 };
  if (walk({ ...inside, cutOff: false }, (end) => Buffer.byteLength(text.slice(at, end)) <= part.limit && next(end))) return true;
  // What was cut is exactly as long as it may be. (One that was cut before a character of several bytes is not known again.)
  const kept = text.slice(at, at + part.limit);
  if (Buffer.byteLength(kept) !== part.limit) return false;
  return walk({ ...inside, text: text.slice(0, at + kept.length), cutOff: true }, (end) => next(end));
}

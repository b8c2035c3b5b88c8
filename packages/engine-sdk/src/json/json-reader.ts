import { ExactNumber } from './exact-number.ts';
import { JsonFault, JsonTooComplex } from './json-fault.ts';

/** What one text may hold. */
export interface JsonLimits {
  /** Objects and lists within each other. */
  readonly maxDepth: number;
  /** Strings, keys included; a number whose digits are kept counts as one. */
  readonly maxStrings: number;
  /** Values of every kind, objects and lists included. */
  readonly maxValues: number;
}

/** JSON of any size, for texts that are ours. */
export const NO_JSON_LIMITS: JsonLimits = { maxDepth: Infinity, maxStrings: Infinity, maxValues: Infinity };

/** Characters of one number; no use of numbers comes near. */
export const MAX_NUMBER_LENGTH = 4_096;
/** Bytes of a long string that are decoded at a time. */
const PIECE = 32_768;
/** What a value costs beside its bytes, in the bytes that a turn is measured by. */
const VALUE_COST = 16;
/** Bytes of memory that a value takes, about: a pointer to it and an empty object. */
const VALUE_MEMORY = 64;
const STRING_MEMORY = 24;

const END = -1;
const GO_ON = -2;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

type Container = Record<string, unknown> | unknown[];

/**
 * What the reader looks for next: `firstItem` and `firstKey` stand behind the opening bracket, where the closing one may follow, `comma` behind a
 * value within a container, `string` within a string that is longer than a piece.
 */
type State = 'value' | 'firstItem' | 'firstKey' | 'key' | 'colon' | 'comma' | 'string' | 'done';

/**
 * Reads the first value of a JSON text in turns, so that others get their turn meanwhile; what follows it is ignored. Numbers that a 64-bit float does
 * not return become `ExactNumber`. Keys such as `__proto__` are keys like any other. The limits are kept at each value, so that nothing is built beyond them.
 */
export class JsonReader {
  readonly #bytes: Buffer;
  readonly #limits: JsonLimits;
  readonly #stack: Container[] = [];
  readonly #keys: string[] = [];
  #at = 0;
  #state: State = 'value';
  #container: Container | undefined;
  #key = '';
  #pieces: string[] | undefined;
  #stringIsKey = false;
  #strings = 0;
  #values = 0;
  #memory = 0;
  #exact = false;
  #result: unknown;

  constructor(text: Buffer | string, limits: JsonLimits = NO_JSON_LIMITS) {
    this.#bytes = typeof text === 'string' ? Buffer.from(text) : text;
    this.#limits = limits;
  }

  /** Once `step` has said so: the value; undefined for a text without any. */
  get value(): unknown {
    return this.#result;
  }

  /** Whether there are exact numbers among what was read. */
  get exact(): boolean {
    return this.#exact;
  }

  /** Values read so far. */
  get values(): number {
    return this.#values;
  }

  /** Bytes that what was read so far takes, about. */
  get memory(): number {
    return this.#memory;
  }

  /**
   * Goes on for `work` bytes, of which each value counts as some more. True when the value is there.
   * @throws JsonFault, JsonTooComplex
   */
  step(work: number): boolean {
    let before = this.#at + this.#values * VALUE_COST;
    const until = before + work;
    while (this.#state !== 'done' && before < until) {
      this.#next();
      before = this.#at + this.#values * VALUE_COST;
    }
    return this.#state === 'done';
  }

  #next(): void {
    if (this.#state === 'string') {
      this.#string();
      return;
    }
    const code = this.#blank();
    if (code === GO_ON) return;
    if (code === END) {
      if (this.#state !== 'value' || this.#container) throw new JsonFault('unexpected EOF');
      this.#state = 'done';
      return;
    }
    switch (this.#state) {
      case 'firstItem':
        if (code === 0x5d) {
          this.#close();
          return;
        }
        this.#value(code);
        return;
      case 'value':
        this.#value(code);
        return;
      case 'firstKey':
        if (code === 0x7d) {
          this.#close();
          return;
        }
        this.#beginKey(code);
        return;
      case 'key':
        this.#beginKey(code);
        return;
      case 'colon':
        if (code !== 0x3a) this.#refuse('after object key');
        this.#at += 1;
        this.#state = 'value';
        return;
      default:
        this.#comma(code);
    }
  }

  /** Skips white space; the byte behind it, or `END`, or `GO_ON` where there is so much of it that a turn may end. */
  #blank(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    const until = Math.min(bytes.length, at + PIECE);
    while (at < until) {
      const code = bytes[at]!;
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) {
        this.#at = at;
        return code;
      }
      at += 1;
    }
    this.#at = at;
    return at < bytes.length ? GO_ON : END;
  }

  #value(code: number): void {
    this.#values += 1;
    if (this.#values > this.#limits.maxValues) throw new JsonTooComplex('number of values', this.#limits.maxValues);
    this.#memory += VALUE_MEMORY;
    if (code === QUOTE) this.#beginString(false);
    else if (code === 0x7b) this.#open({}, 'firstKey');
    else if (code === 0x5b) this.#open([], 'firstItem');
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) this.#number(code);
    else if (code === 0x74) this.#literal('true', true);
    else if (code === 0x66) this.#literal('false', false);
    else if (code === 0x6e) this.#literal('null', null);
    else this.#refuse('looking for beginning of value');
  }

  #open(container: Container, state: State): void {
    if (this.#stack.length + (this.#container ? 1 : 0) >= this.#limits.maxDepth)
      throw new JsonTooComplex('nesting depth', this.#limits.maxDepth);
    this.#at += 1;
    if (this.#container) {
      this.#stack.push(this.#container);
      this.#keys.push(this.#key);
    }
    this.#container = container;
    this.#state = state;
  }

  #close(): void {
    this.#at += 1;
    const closed = this.#container!;
    this.#container = this.#stack.pop();
    this.#key = this.#keys.pop() ?? '';
    this.#settle(closed);
  }

  /** Puts a value where it belongs. */
  #settle(value: unknown): void {
    const container = this.#container;
    if (!container) {
      this.#result = value;
      this.#state = 'done';
      return;
    }
    if (Array.isArray(container)) container.push(value);
    else if (this.#key !== '__proto__') container[this.#key] = value;
    else Object.defineProperty(container, this.#key, { value, enumerable: true, writable: true, configurable: true });
    this.#state = 'comma';
  }

  #comma(code: number): void {
    const list = Array.isArray(this.#container);
    if (code === 0x2c) {
      this.#at += 1;
      this.#state = list ? 'value' : 'key';
    } else if (code === (list ? 0x5d : 0x7d)) this.#close();
    else this.#refuse(list ? 'after array element' : 'after object key:value pair');
  }

  #beginKey(code: number): void {
    if (code !== QUOTE) this.#refuse('looking for beginning of object key string');
    this.#beginString(true);
  }

  #beginString(isKey: boolean): void {
    this.#countString();
    this.#at += 1;
    this.#stringIsKey = isKey;
    this.#string();
  }

  #countString(): void {
    this.#strings += 1;
    if (this.#strings > this.#limits.maxStrings) throw new JsonTooComplex('number of strings', this.#limits.maxStrings);
    this.#memory += STRING_MEMORY;
  }

  /** Reads one piece of a string, to its closing quote where that is near. */
  #string(): void {
    const bytes = this.#bytes;
    const from = this.#at;
    const until = Math.min(bytes.length, from + PIECE);
    let at = from;
    let plain = true;
    let wide = false;
    let closed = false;
    while (at < until) {
      const code = bytes[at]!;
      if (code === QUOTE) {
        closed = true;
        break;
      }
      if (code < 0x20) this.#refuseAt(at, 'in string literal');
      if (code === BACKSLASH) {
        plain = false;
        const end = this.#escapeEnd(at);
        // An escape stays in one piece; at the end of the text there is none that is whole.
        if (end > until && until < bytes.length) break;
        at = end;
      } else {
        if (code >= 0x80) wide = true;
        at += 1;
      }
    }
    if (!closed && at >= bytes.length) throw new JsonFault('unexpected EOF');
    // So does a character of several bytes.
    if (!closed && wide) for (let back = 0; back < 3 && (bytes[at]! & 0xc0) === 0x80; back += 1) at -= 1;
    const text = plain
      ? wide
        ? bytes.toString('utf8', from, at)
        : bytes.toString('latin1', from, at)
      : unescaped(bytes.toString('utf8', from, at));
    this.#memory += wide || !plain ? 2 * text.length : text.length;
    this.#at = closed ? at + 1 : at;
    if (!closed) {
      (this.#pieces ??= []).push(text);
      this.#state = 'string';
      return;
    }
    const pieces = this.#pieces;
    let whole = text;
    if (pieces) {
      pieces.push(text);
      whole = pieces.join('');
      this.#pieces = undefined;
    }
    if (this.#stringIsKey) {
      this.#key = whole;
      this.#state = 'colon';
    } else this.#settle(whole);
  }

  /** Where the escape that begins at `at` ends. */
  #escapeEnd(at: number): number {
    const code = this.#bytes[at + 1];
    if (code === undefined) return at + 1;
    if (code !== 0x75) {
      if (!isEscape(code)) this.#refuseAt(at + 1, 'in string escape code');
      return at + 2;
    }
    for (let digit = at + 2; digit < at + 6; digit += 1) {
      const hex = this.#bytes[digit];
      if (hex === undefined) return digit;
      if (!isHex(hex)) this.#refuseAt(digit, 'in \\u hexadecimal character escape');
    }
    return at + 6;
  }

  #number(first: number): void {
    const bytes = this.#bytes;
    const from = this.#at;
    let at = from;
    if (first === 0x2d) at = this.#digit(at + 1, 'in numeric literal');
    else at += 1;
    if (bytes[at - 1] !== 0x30) at = digitsEnd(bytes, at);
    const whole = at;
    if (bytes[at] === 0x2e) at = digitsEnd(bytes, this.#digit(at + 1, 'after decimal point in numeric literal'));
    if (bytes[at] === 0x65 || bytes[at] === 0x45) {
      at += bytes[at + 1] === 0x2b || bytes[at + 1] === 0x2d ? 2 : 1;
      at = digitsEnd(bytes, this.#digit(at, 'in exponent of numeric literal'));
    }
    const length = at - from;
    if (length > MAX_NUMBER_LENGTH) throw new JsonTooComplex('length of a number', MAX_NUMBER_LENGTH);
    const text = bytes.toString('latin1', from, at);
    this.#at = at;
    const simple = at === whole && length <= 15 && first !== 0x2d;
    if (simple || !ExactNumber.needed(text)) {
      this.#settle(Number(text));
      return;
    }
    this.#countString();
    this.#memory += length;
    this.#exact = true;
    this.#settle(new ExactNumber(text));
  }

  /** The place behind a digit. */
  #digit(at: number, where: string): number {
    const code = this.#bytes[at];
    if (code === undefined) throw new JsonFault('unexpected EOF');
    if (code < 0x30 || code > 0x39) this.#refuseAt(at, where);
    return at + 1;
  }

  #literal(word: string, value: boolean | null): void {
    for (let index = 1; index < word.length; index += 1) {
      const code = this.#bytes[this.#at + index];
      if (code === undefined) throw new JsonFault('unexpected EOF');
      if (code !== word.charCodeAt(index)) this.#refuseAt(this.#at + index, `in literal ${word} (expecting '${word[index]!}')`);
    }
    this.#at += word.length;
    this.#settle(value);
  }

  #refuse(where: string): never {
    this.#refuseAt(this.#at, where);
  }

  #refuseAt(at: number, where: string): never {
    const char = this.#bytes.toString('utf8', at, at + 4).charAt(0);
    const shown = char === "'" ? `'\\''` : `'${JSON.stringify(char).slice(1, -1).replace('\\"', '"')}'`;
    throw new JsonFault(`invalid character ${shown} ${where}`);
  }
}

function digitsEnd(bytes: Buffer, from: number): number {
  let at = from;
  // No number is longer; the caller refuses what is.
  const until = Math.min(bytes.length, from + MAX_NUMBER_LENGTH + 1);
  while (at < until && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at += 1;
  return at;
}

function isEscape(code: number): boolean {
  return (
    code === QUOTE ||
    code === BACKSLASH ||
    code === 0x2f ||
    code === 0x62 ||
    code === 0x66 ||
    code === 0x6e ||
    code === 0x72 ||
    code === 0x74
  );
}

function isHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}

/** What is between two quotes, already checked. */
function unescaped(text: string): string {
  return JSON.parse(`"${text}"`) as string;
}

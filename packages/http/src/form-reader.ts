import { Refusal } from './refusal.ts';
import type { Stepwise } from './turns.ts';

/** Characters of a long value that are decoded at a time. */
const PIECE = 65_536;
const PAIR_COST = 64;
const PAIR_MEMORY = 96;

export type Form = Record<string, string | string[]>;

export interface FormRules {
  /** Names the text in complaints, such as `the query`. */
  readonly what: string;
  readonly maxValues: number;
  /** Every word must have a `=`: a word alone may be a secret, and names are written down in clear. */
  readonly pairsOnly?: boolean;
}

/** Too many values; whoever reads the form says so. */
export class TooManyValues extends Error {
  override readonly name = 'TooManyValues';
  readonly limit: number;

  constructor(limit: number) {
    super(`more than ${limit} values`);
    this.limit = limit;
  }
}

/** Decodes `a=1&b=x+y&b=z` into `{ a: '1', b: ['x y', 'z'] }`, in turns. */
export class FormReader implements Stepwise {
  readonly fields: Form = {};
  readonly #text: string;
  readonly #rules: FormRules;
  #at = 0;
  #values = 0;
  #memory = 0;
  #name = '';
  /** Within a long value: what is decoded of it, and where it ends. */
  #long: { readonly pieces: string[]; readonly end: number } | undefined;

  constructor(text: string, rules: FormRules) {
    this.#text = text;
    this.#rules = rules;
  }

  /** Bytes that the fields take so far, about. */
  get memory(): number {
    return this.#memory;
  }

  /** @throws Refusal (400) for broken percent-encoding, TooManyValues */
  step(work: number): boolean {
    let left = work;
    while (this.#at < this.#text.length || this.#long) {
      if (left <= 0) return false;
      const before = this.#at;
      if (this.#long) this.#piece(this.#long);
      else this.#pair();
      left -= this.#at - before + PAIR_COST;
    }
    return true;
  }

  #pair(): void {
    const text = this.#text;
    const from = this.#at;
    const ampersand = text.indexOf('&', from);
    const end = ampersand < 0 ? text.length : ampersand;
    this.#at = end + 1;
    if (end === from) return;
    this.#values += 1;
    if (this.#values > this.#rules.maxValues) throw new TooManyValues(this.#rules.maxValues);
    const pair = text.slice(from, end);
    const equals = pair.indexOf('=');
    if (equals < 0 && this.#rules.pairsOnly === true)
      throw new Refusal(400, `${this.#rules.what} must be made of name=value pairs; JSON begins with {`);
    const nameLength = equals < 0 ? pair.length : equals;
    if (nameLength > PIECE) throw new Refusal(400, `${this.#rules.what} has a name of more than ${PIECE} characters`);
    this.#name = this.#decoded(pair.slice(0, nameLength));
    if (end - from <= PIECE) this.#set(equals < 0 ? '' : this.#decoded(pair.slice(equals + 1)));
    else {
      this.#at = from + equals + 1;
      this.#long = { pieces: [], end };
    }
  }

  #piece({ pieces, end }: { readonly pieces: string[]; readonly end: number }): void {
    const from = this.#at;
    const until = from + PIECE >= end ? end : this.#cut(from, from + PIECE);
    pieces.push(this.#decoded(this.#text.slice(from, until)));
    this.#at = until;
    if (until < end) return;
    this.#long = undefined;
    this.#at = end + 1;
    this.#set(pieces.join(''));
  }

  /** A place near `near` that is within no escape, and within no character that several escapes spell. */
  #cut(from: number, near: number): number {
    const text = this.#text;
    for (let at = near; at > from && at > near - 16; at -= 1) {
      if (text[at - 1] === '%' || text[at - 2] === '%') continue;
      if (text[at] !== '%' || !/[89AB]/i.test(text[at + 1] ?? '')) return at;
    }
    return near;
  }

  /** A plain assignment to `__proto__` would set the prototype. */
  #set(value: string): void {
    const { fields } = this;
    const name = this.#name;
    this.#memory += PAIR_MEMORY + 2 * (name.length + value.length);
    const before = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (Array.isArray(before)) before.push(value);
    else {
      const next = before === undefined ? value : [before, value];
      if (name !== '__proto__') fields[name] = next;
      else Object.defineProperty(fields, name, { value: next, enumerable: true, configurable: true, writable: true });
    }
  }

  #decoded(text: string): string {
    const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
    if (!spaced.includes('%')) return spaced;
    try {
      return decodeURIComponent(spaced);
    } catch {
      throw new Refusal(400, `${this.#rules.what} is not valid percent-encoded UTF-8`);
    }
  }
}

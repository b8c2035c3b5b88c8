import { BadRequest } from '@strongroom/engine-sdk';
import { selectorOf, type TemplateFacts } from './template-selector.ts';

/** Claims that the server sets itself. */
export const RESERVED_CLAIMS = ['iat', 'aud', 'exp', 'iss', 'sub', 'namespace', 'nonce', 'auth_time', 'at_hash', 'c_hash'] as const;

const LONGEST = 65_536;
const DEEPEST = 32;

/** A part of a template: gives its JSON value. */
type Part = (facts: TemplateFacts) => unknown;

/** A template that has been parsed. It always gives a JSON object, and never a reserved claim. */
export interface ClaimsTemplate {
  /** The claims that it sets. */
  readonly names: readonly string[];
  claims(facts: TemplateFacts): Record<string, unknown>;
}

/** The template as it is stored: clients may send it in base64. */
export function plainTemplate(sent: string): string {
  const decoded = Buffer.from(sent, 'base64');
  // A template begins with a brace, which base64 does not have.
  return decoded.toString('base64') === sent ? decoded.toString() : sent;
}

/** '' is a template without claims. @throws BadRequest that says what is wrong and where */
export function claimsTemplate(text: string): ClaimsTemplate {
  if (text === '') return { names: [], claims: () => ({}) };
  if (text.length > LONGEST) throw new BadRequest(`error parsing template JSON: it is longer than ${LONGEST} characters`);
  const members = new Parser(text).document();
  const names = [...members.keys()];
  const reserved = names.find((name) => (RESERVED_CLAIMS as readonly string[]).includes(name));
  if (reserved !== undefined) {
    throw new BadRequest(`top level key ${JSON.stringify(reserved)} not allowed. Restricted keys: ${RESERVED_CLAIMS.join(', ')}`);
  }
  return { names, claims: (facts) => rendered(members, facts) };
}

function rendered(members: ReadonlyMap<string, Part>, facts: TemplateFacts): Record<string, unknown> {
  return Object.fromEntries([...members].map(([name, part]) => [name, part(facts)]));
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
const WORD = /true|false|null/y;
const SELECTOR = /\{\{([^{}]*)\}\}/y;
const SPACE = /[ \t\r\n]*/y;

/**
 * JSON in which `{{…}}` stands for a value. The values are put into the parsed document and not into its text, so nothing that they hold can change what
 * is around them.
 */
class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Map<string, Part> {
    this.#space();
    if (this.#text[this.#at] !== '{' || this.#text[this.#at + 1] === '{') throw this.#fault('a template is a JSON object');
    const members = this.#members(1);
    this.#space();
    if (this.#at < this.#text.length) throw this.#fault('nothing may follow the closing brace');
    return members;
  }

  #value(depth: number): Part {
    if (depth > DEEPEST) throw this.#fault(`it is nested more than ${DEEPEST} deep`);
    const next = this.#text[this.#at];
    if (next === '{') {
      if (this.#text[this.#at + 1] === '{') return this.#selector();
      const members = this.#members(depth + 1);
      return (facts) => rendered(members, facts);
    }
    if (next === '[') return this.#list(depth + 1);
    if (next === '"') return this.#string();
    const literal = this.#match(WORD) ?? this.#match(NUMBER);
    if (literal === undefined) throw this.#fault('expected a value');
    const value: unknown = JSON.parse(literal);
    if (value === Infinity || value === -Infinity) throw this.#fault('the number is too large');
    return () => value;
  }

  #members(depth: number): Map<string, Part> {
    const members = new Map<string, Part>();
    this.#at += 1;
    this.#space();
    if (this.#taken('}')) return members;
    for (;;) {
      this.#space();
      const name = this.#match(STRING);
      if (name === undefined) throw this.#fault('expected a key in quotes');
      this.#space();
      if (!this.#taken(':')) throw this.#fault('expected a colon after the key');
      this.#space();
      const key = this.#unquoted(name);
      if (key.includes('{{')) throw this.#fault('a key cannot be filled in');
      members.set(key, this.#value(depth));
      this.#space();
      if (this.#taken('}')) return members;
      if (!this.#taken(',')) throw this.#fault('expected a comma or a closing brace');
    }
  }

  #list(depth: number): Part {
    const items: Part[] = [];
    this.#at += 1;
    this.#space();
    if (this.#taken(']')) return () => [];
    for (;;) {
      this.#space();
      items.push(this.#value(depth));
      this.#space();
      if (this.#taken(']')) return (facts) => items.map((item) => item(facts));
      if (!this.#taken(',')) throw this.#fault('expected a comma or a closing bracket');
    }
  }

  /** Times may be within a text; everything else brings quotes of its own. */
  #string(): Part {
    const quoted = this.#match(STRING);
    if (quoted === undefined) throw this.#fault('the text has no closing quote, or holds what JSON wants escaped');
    const text = this.#unquoted(quoted);
    if (!text.includes('{{')) return () => text;
    const parts = text.split(/\{\{([^{}]*)\}\}/).map((piece, index): string | Part => {
      if (index % 2 === 0) {
        if (piece.includes('{{')) throw this.#fault('the braces do not pair');
        return piece;
      }
      const selector = selectorOf(piece.trim());
      if (!selector.isTime) throw this.#fault(`{{${piece.trim()}}} brings its own quotes: leave out those around it`);
      return selector.resolve;
    });
    return (facts) => parts.map((part) => (typeof part === 'string' ? part : String(part(facts)))).join('');
  }

  #selector(): Part {
    const found = this.#match(SELECTOR);
    if (found === undefined) throw this.#fault('the braces do not pair');
    return selectorOf(found.slice(2, -2).trim()).resolve;
  }

  #unquoted(quoted: string): string {
    try {
      return JSON.parse(quoted) as string;
    } catch {
      throw this.#fault('the text has an escape that JSON does not know');
    }
  }

  #space(): void {
    this.#match(SPACE);
  }

  #taken(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #fault(problem: string): BadRequest {
    return new BadRequest(`error parsing template JSON: ${problem}, at character ${this.#at + 1}`);
  }
}

import type { HclBody, HclItem, HclNumber, HclPosition, HclValue } from './ast.ts';
import { HclSyntaxError } from './syntax-error.ts';

/**
 * Reads JSON (commas before a closing bracket allowed, as HCL 1 does) into the items HCL would give. `labels` is
 * described at `HclOptions`.
 */
export function parseHclJson(text: string, maxDepth: number, labels: Readonly<Record<string, number>> | undefined): HclBody {
  return new Shaper(labels).body(new JsonReader(text, maxDepth).file());
}

class JsonReader {
  readonly #text: string;
  readonly #maxDepth: number;
  #offset = 0;
  #depth = 0;
  /** Where lines were counted up to, so that each character is counted once. */
  #counted = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  file(): HclBody {
    const body = this.#object();
    this.#blanks();
    if (this.#offset < this.#text.length) throw this.#fail('unexpected text after the closing brace');
    return body;
  }

  #fail(reason: string): HclSyntaxError {
    const { line, column } = this.#position();
    return new HclSyntaxError(reason, line, column);
  }

  /** Of the next character. */
  #position(): HclPosition {
    for (let at = this.#text.indexOf('\n', this.#counted); at >= 0 && at < this.#offset; at = this.#text.indexOf('\n', at + 1)) {
      this.#line += 1;
      this.#lineStart = at + 1;
    }
    this.#counted = Math.max(this.#counted, this.#offset);
    return { line: this.#line, column: this.#offset - this.#lineStart + 1 };
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#offset;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#offset += found.length;
    return found;
  }

  #blanks(): void {
    this.#match(/\s+/y);
  }

  /** Skips blanks and takes `char` when it comes next. */
  #take(char: string): boolean {
    this.#blanks();
    if (this.#text[this.#offset] !== char) return false;
    this.#offset += 1;
    return true;
  }

  #deeper(): void {
    this.#depth += 1;
    if (this.#depth > this.#maxDepth) throw this.#fail(`nested more than ${this.#maxDepth} levels deep`);
  }

  #object(): HclBody {
    if (!this.#take('{')) throw this.#fail('expected an object');
    this.#deeper();
    const items: HclItem[] = [];
    while (!this.#take('}')) {
      this.#blanks();
      const position = this.#position();
      const key = this.#string();
      if (key === undefined) throw this.#fail('expected: STRING');
      if (!this.#take(':')) throw this.#fail("expected ':' after the key");
      items.push({ key, labels: [], value: this.#value(), assigned: false, ...position });
      if (this.#take(',')) continue;
      if (this.#take('}')) break;
      throw this.#fail("expected ',' or '}'");
    }
    this.#depth -= 1;
    return items;
  }

  #list(): readonly HclValue[] {
    this.#offset += 1;
    this.#deeper();
    const items: HclValue[] = [];
    while (!this.#take(']')) {
      items.push(this.#value());
      if (this.#take(',')) continue;
      if (this.#take(']')) break;
      throw this.#fail("expected ',' or ']'");
    }
    this.#depth -= 1;
    return items;
  }

  #value(): HclValue {
    this.#blanks();
    const char = this.#text[this.#offset];
    const position = this.#position();
    if (char === '{') return { kind: 'object', body: this.#object(), ...position };
    if (char === '[') return { kind: 'list', items: this.#list(), ...position };
    const string = this.#string();
    if (string !== undefined) return { kind: 'string', value: string, ...position };
    const number = this.#match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    if (number !== undefined) return numberOf(number, position);
    const word = this.#match(/\w+/y);
    if (word === 'true' || word === 'false') return { kind: 'bool', value: word === 'true', ...position };
    if (word === 'null') return { kind: 'null', ...position };
    throw this.#fail('expected a value');
  }

  #string(): string | undefined {
    this.#blanks();
    if (this.#text[this.#offset] !== '"') return undefined;
    const literal = this.#match(/"[^"\\\n]*(?:\\.[^"\\\n]*)*"/y);
    if (literal === undefined) throw this.#fail('literal not terminated');
    try {
      return JSON.parse(literal) as string;
    } catch {
      this.#offset -= literal.length;
      throw this.#fail('illegal char escape');
    }
  }
}

/** The shape HCL would have given: lists of objects become repeated items, nested objects become labels. */
class Shaper {
  readonly #labels: ReadonlyMap<string, number> | undefined;

  constructor(labels: Readonly<Record<string, number>> | undefined) {
    this.#labels = labels === undefined ? undefined : new Map(Object.entries(labels));
  }

  body(raw: HclBody): HclBody {
    const items: HclItem[] = [];
    for (const item of raw) this.#spread(items, item);
    return items;
  }

  #spread(out: HclItem[], item: HclItem): void {
    const { value } = item;
    if (value.kind === 'list' && value.items.length > 0 && value.items.every((element) => element.kind === 'object')) {
      for (const element of value.items) this.#spread(out, { ...item, value: element });
    } else if (value.kind === 'object' && this.#givesLabels(item, value.body)) {
      for (const inner of value.body) {
        const { line, column } = inner;
        this.#spread(out, { ...item, labels: [...item.labels, inner.key], value: inner.value, line, column });
      }
    } else {
      out.push({ ...item, value: this.#value(value) });
    }
  }

  #value(value: HclValue): HclValue {
    if (value.kind === 'object') return { ...value, body: this.body(value.body) };
    if (value.kind === 'list') return { ...value, items: value.items.map((item) => this.#value(item)) };
    return value;
  }

  #givesLabels(item: HclItem, body: HclBody): boolean {
    if (body.length === 0) return false;
    if (this.#labels === undefined) return body.every((inner) => inner.value.kind === 'object');
    return item.labels.length < (this.#labels.get(item.key) ?? 0);
  }
}

function numberOf(text: string, position: HclPosition): HclNumber {
  return { kind: 'number', value: Number(text), text, integer: !/[.eE]/.test(text), ...position };
}

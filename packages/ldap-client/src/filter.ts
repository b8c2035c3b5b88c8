import { escapeFilterValue } from './escape.ts';

/** A search filter, parsed. Values are bytes, already unescaped: nothing in them can change the filter's shape. */
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | { readonly kind: 'equal' | 'greater' | 'less' | 'approx'; readonly attribute: string; readonly value: Buffer }
  | { readonly kind: 'present'; readonly attribute: string }
  | {
      readonly kind: 'substring';
      readonly attribute: string;
      readonly initial?: Buffer;
      readonly any: readonly Buffer[];
      readonly final?: Buffer;
    }
  | {
      readonly kind: 'extensible';
      readonly attribute?: string;
      readonly rule?: string;
      readonly dnAttributes: boolean;
      readonly value: Buffer;
    };

/** `position` is an offset into the text, from 0. */
export class FilterSyntaxError extends Error {
  override readonly name = 'FilterSyntaxError';
  readonly position: number;

  constructor(reason: string, position: number) {
    super(`invalid LDAP filter: ${reason} at position ${position}`);
    this.position = position;
  }
}

const maxDepth = 100;
const attributePattern = /^(?:[A-Za-z][A-Za-z0-9_-]*|[0-9]+(?:\.[0-9]+)*)(?:;[A-Za-z0-9-]+)*$/;
const rulePattern = /^(?:[A-Za-z][A-Za-z0-9-]*|[0-9]+(?:\.[0-9]+)*)$/;

/** Parses an RFC 4515 filter. Spaces between filters are allowed, and so is one bare item without parentheses. Throws `FilterSyntaxError`. */
export function parseFilter(text: string): Filter {
  const source = text.trim();
  const offset = text.indexOf(source);
  if (source === '') throw new FilterSyntaxError('the filter is empty', 0);
  const parser = new FilterParser(text, offset);
  const filter = source.startsWith('(') ? parser.parenthesised(0) : parser.item();
  parser.skipSpaces();
  if (parser.position < text.length) throw new FilterSyntaxError('text after the filter', parser.position);
  return filter;
}

class FilterParser {
  readonly #text: string;
  position: number;

  constructor(text: string, position: number) {
    this.#text = text;
    this.position = position;
  }

  skipSpaces(): void {
    while (/\s/.test(this.#text[this.position] ?? '')) this.position++;
  }

  parenthesised(depth: number): Filter {
    if (depth > maxDepth) throw new FilterSyntaxError(`filters are nested more than ${maxDepth} deep`, this.position);
    this.#expect('(');
    this.skipSpaces();
    const filter = this.#inner(depth);
    this.skipSpaces();
    this.#expect(')');
    return filter;
  }

  #inner(depth: number): Filter {
    switch (this.#text[this.position]) {
      case '&':
        return { kind: 'and', filters: this.#list(depth) };
      case '|':
        return { kind: 'or', filters: this.#list(depth) };
      case '!': {
        this.position++;
        this.skipSpaces();
        return { kind: 'not', filter: this.parenthesised(depth + 1) };
      }
      case '(':
        return this.parenthesised(depth + 1);
      default:
        return this.item();
    }
  }

  #list(depth: number): Filter[] {
    this.position++;
    const filters: Filter[] = [];
    for (;;) {
      this.skipSpaces();
      if (this.#text[this.position] !== '(') return filters;
      filters.push(this.parenthesised(depth + 1));
    }
  }

  item(): Filter {
    const start = this.position;
    const equals = this.#text.indexOf('=', start);
    const close = endOfItem(this.#text, start);
    if (equals < 0 || equals >= close) throw new FilterSyntaxError('no "=" in the item', start);
    const before = this.#text[equals - 1];
    const operator = equals > start && (before === '>' || before === '<' || before === '~' || before === ':') ? before : '';
    const left = this.#text.slice(start, equals - operator.length).trim();
    this.position = close;
    const right = this.#text.slice(equals + 1, close);
    if (operator === ':') return extensible(left, unescape(right, equals + 1), start);
    if (!attributePattern.test(left)) throw new FilterSyntaxError('not an attribute name', start);
    if (operator === '') return equalityLike(left, right, equals + 1);
    const kind = operator === '>' ? 'greater' : operator === '<' ? 'less' : 'approx';
    return { kind, attribute: left, value: unescape(right, equals + 1) };
  }

  #expect(char: string): void {
    if (this.#text[this.position] !== char) throw new FilterSyntaxError(`expected "${char}"`, this.position);
    this.position++;
  }
}

function endOfItem(text: string, start: number): number {
  for (let index = start; index < text.length; index++) if (text[index] === ')' || text[index] === '(') return index;
  return text.length;
}

function equalityLike(attribute: string, right: string, position: number): Filter {
  if (right === '*') return { kind: 'present', attribute };
  if (!right.includes('*')) return { kind: 'equal', attribute, value: unescape(right, position) };
  const pieces = right.split('*');
  const values = pieces.map((piece) => unescape(piece, position));
  const initial = values[0]!;
  const final = values.at(-1)!;
  const any = values.slice(1, -1).filter((value) => value.length > 0);
  if (initial.length + final.length + any.length === 0) return { kind: 'present', attribute };
  return { kind: 'substring', attribute, any, ...(initial.length > 0 ? { initial } : {}), ...(final.length > 0 ? { final } : {}) };
}

function extensible(left: string, value: Buffer, position: number): Filter {
  const [attribute = '', ...flags] = left.split(':');
  const dnAttributes = flags[0]?.toLowerCase() === 'dn';
  if (dnAttributes) flags.shift();
  const rule = flags.shift();
  if (flags.length > 0 || (attribute === '' && rule === undefined)) throw new FilterSyntaxError('not an extensible match', position);
  if (attribute !== '' && !attributePattern.test(attribute)) throw new FilterSyntaxError('not an attribute name', position);
  if (rule !== undefined && !rulePattern.test(rule)) throw new FilterSyntaxError('not a matching rule', position);
  return { kind: 'extensible', ...(attribute === '' ? {} : { attribute }), ...(rule === undefined ? {} : { rule }), dnAttributes, value };
}

function unescape(text: string, position: number): Buffer {
  if (!text.includes('\\')) return Buffer.from(text);
  const chunks: Buffer[] = [];
  let index = 0;
  for (let slash = text.indexOf('\\'); slash >= 0; slash = text.indexOf('\\', index)) {
    if (slash > index) chunks.push(Buffer.from(text.slice(index, slash)));
    const pair = text.slice(slash + 1, slash + 3);
    if (!/^[0-9a-fA-F]{2}$/.test(pair)) throw new FilterSyntaxError('a backslash without two hex digits', position + slash);
    chunks.push(Buffer.from(pair, 'hex'));
    index = slash + 3;
  }
  chunks.push(Buffer.from(text.slice(index)));
  return Buffer.concat(chunks);
}

/** Writes a filter by RFC 4515; `parseFilter` reads it back unchanged. */
export function formatFilter(filter: Filter): string {
  switch (filter.kind) {
    case 'and':
      return `(&${filter.filters.map(formatFilter).join('')})`;
    case 'or':
      return `(|${filter.filters.map(formatFilter).join('')})`;
    case 'not':
      return `(!${formatFilter(filter.filter)})`;
    case 'present':
      return `(${filter.attribute}=*)`;
    case 'substring': {
      const pieces = [filter.initial ?? Buffer.alloc(0), ...filter.any, filter.final ?? Buffer.alloc(0)];
      return `(${filter.attribute}=${pieces.map(escapeFilterValue).join('*')})`;
    }
    case 'extensible': {
      const rule = filter.rule === undefined ? '' : `:${filter.rule}`;
      return `(${filter.attribute ?? ''}${filter.dnAttributes ? ':dn' : ''}${rule}:=${escapeFilterValue(filter.value)})`;
    }
    default:
      return `(${filter.attribute}${{ equal: '', greater: '>', less: '<', approx: '~' }[filter.kind]}=${escapeFilterValue(filter.value)})`;
  }
}

import type { HclBody, HclItem, HclList, HclNumber, HclObject, HclValue } from './ast.ts';
import { parseHclJson } from './json-parser.ts';
import type { HclToken } from './scanner.ts';
import { HclScanner } from './scanner.ts';
import { HclSyntaxError } from './syntax-error.ts';

/** Objects and lists deeper than this are refused. */
export const HCL_MAX_DEPTH = 64;

export interface HclOptions {
  /**
   * For JSON input: how many labels a block of this key carries, wherever it stands, e.g. `{ path: 1 }`; others carry
   * none. JSON itself cannot tell `path "x" { … }` from `path { x { … } }`; without this option the guess of HCL 1
   * is made: an object holding nothing but objects gives labels.
   */
  readonly labels?: Readonly<Record<string, number>>;
}

/**
 * Reads HCL 1, or JSON when the first character is `{`. Takes linear time.
 * Throws `HclSyntaxError` and nothing else, whatever the text.
 */
export function parseHcl(text: string, options: HclOptions = {}): HclBody {
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text;
  return /^\s*\{/.test(plain) ? parseHclJson(plain, HCL_MAX_DEPTH, options.labels) : new HclParser(plain).file();
}

class HclParser {
  readonly #scanner: HclScanner;
  #token: HclToken;
  #depth = 0;

  constructor(text: string) {
    this.#scanner = new HclScanner(text);
    this.#token = this.#scanner.next();
  }

  file(): HclBody {
    return this.#body(false);
  }

  #advance(): HclToken {
    const token = this.#token;
    this.#token = this.#scanner.next();
    return token;
  }

  #deeper<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > HCL_MAX_DEPTH) throw errorAt(this.#token, `nested more than ${HCL_MAX_DEPTH} levels deep`);
    const result = read();
    this.#depth -= 1;
    return result;
  }

  #body(inObject: boolean): HclBody {
    const items: HclItem[] = [];
    for (;;) {
      if (this.#token.type === 'EOF' || (inObject && this.#token.type === 'RBRACE')) return items;
      items.push(this.#item());
      if (this.#token.type === 'COMMA') this.#advance();
    }
  }

  #item(): HclItem {
    const keys: HclToken[] = [];
    while (this.#token.type === 'IDENT' || this.#token.type === 'STRING') {
      if (keys.length > HCL_MAX_DEPTH) throw errorAt(this.#token, `more than ${HCL_MAX_DEPTH} labels`);
      keys.push(this.#advance());
    }
    const [first, ...labels] = keys;
    const token = this.#token;
    const item = (value: HclValue, assigned: boolean): HclItem => ({
      key: first?.value ?? '',
      labels: labels.map((label) => label.value),
      value,
      assigned,
      line: first?.line ?? 0,
      column: first?.column ?? 0,
    });
    if (token.type === 'ASSIGN') {
      if (first === undefined) throw errorAt(token, 'no object keys found!');
      if (labels.length > 0) throw errorAt(token, 'nested object expected: LBRACE got: ASSIGN');
      this.#advance();
      return item(this.#value(), true);
    }
    if (token.type === 'LBRACE') {
      if (first === undefined) throw errorAt(token, 'expected: IDENT | STRING got: LBRACE');
      return item(this.#object(), false);
    }
    if (first !== undefined && (token.type === 'EOF' || token.type === 'RBRACE')) {
      const written = keys.map((key) => key.text).join(' ');
      throw errorAt(token, `key '${written}' expected start of object ('{') or assignment ('=')`);
    }
    throw errorAt(token, `expected: IDENT | STRING | ASSIGN | LBRACE got: ${token.type}`);
  }

  #value(): HclValue {
    const { type, text, line, column } = this.#token;
    switch (type) {
      case 'LBRACE':
        return this.#object();
      case 'LBRACK':
        return this.#list();
      case 'STRING':
      case 'HEREDOC':
        return { kind: 'string', value: this.#advance().value, line, column };
      case 'BOOL':
        this.#advance();
        return { kind: 'bool', value: text === 'true', line, column };
      case 'NUMBER':
      case 'FLOAT':
        return numberOf(this.#advance());
      case 'EOF':
        throw errorAt(this.#token, 'expected a value, got: EOF');
      default:
        throw errorAt(this.#token, `Unknown token: ${line}:${column} ${type} ${text}`);
    }
  }

  #object(): HclObject {
    const { line, column } = this.#advance();
    return this.#deeper(() => {
      const body = this.#body(true);
      if (this.#token.type !== 'RBRACE') throw errorAt(this.#token, `object expected closing RBRACE got: ${this.#token.type}`);
      this.#advance();
      return { kind: 'object', body, line, column };
    });
  }

  #list(): HclList {
    const { line, column } = this.#advance();
    return this.#deeper(() => {
      const items: HclValue[] = [];
      for (;;) {
        const { type } = this.#token;
        if (type === 'RBRACK') break;
        if (type === 'EOF' || type === 'RBRACE' || type === 'COMMA' || type === 'ASSIGN' || type === 'IDENT') {
          throw errorAt(this.#token, `unexpected token while parsing list: ${type}`);
        }
        items.push(this.#value());
        if (this.#token.type === 'COMMA') this.#advance();
        else if (this.#token.type !== 'RBRACK') {
          throw errorAt(this.#token, `error parsing list, expected comma or list end, got: ${this.#token.type}`);
        }
      }
      this.#advance();
      return { kind: 'list', items, line, column };
    });
  }
}

function errorAt(token: HclToken, reason: string): HclSyntaxError {
  return new HclSyntaxError(reason, token.line, token.column);
}

function numberOf({ type, text, line, column }: HclToken): HclNumber {
  const negative = text.startsWith('-');
  const digits = negative ? text.slice(1) : text;
  const octal = type === 'NUMBER' && /^0\d/.test(digits);
  const value = octal ? Number.parseInt(digits, 8) : Number(digits);
  return { kind: 'number', value: negative ? 0 - value : value, text, integer: type === 'NUMBER', line, column };
}

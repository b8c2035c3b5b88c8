import { isPrintable } from './go-quote.ts';

export type TokenType =
  | 'assign'
  | 'bool'
  | 'char'
  | 'charConstant'
  | 'declare'
  | 'dot'
  | 'eof'
  | 'error'
  | 'field'
  | 'identifier'
  | 'keyword'
  | 'leftDelim'
  | 'leftParen'
  | 'nil'
  | 'number'
  | 'pipe'
  | 'rawString'
  | 'rightDelim'
  | 'rightParen'
  | 'space'
  | 'string'
  | 'text'
  | 'variable';

export interface Token {
  readonly type: TokenType;
  /** As written; of an error, its reason. */
  readonly text: string;
  readonly offset: number;
  readonly line: number;
}

const KEYWORDS = new Set(['block', 'break', 'continue', 'define', 'else', 'end', 'if', 'range', 'template', 'with']);
const LEFT_TRIM = /\{\{-[ \t\r\n]/y;
const RIGHT_DELIM = /(?:[ \t\r\n]-)?\}\}/y;
const TERMINATOR = /[ \t\r\n.,|:)(]|\}\}|$/y;

/**
 * Cuts a template into tokens, by the rules of Go's text/template: trim markers applied, comments dropped, blanks inside
 * actions kept as tokens. The last token is `eof` or `error`.
 */
export function tokenize(source: string): Token[] {
  return new Lexer(source).tokens();
}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #line = 1;
  #counted = 0;

  constructor(source: string) {
    this.#source = source;
  }

  tokens(): Token[] {
    let trimBefore = false;
    for (;;) {
      const open = this.#source.indexOf('{{', this.#at);
      const end = open < 0 ? this.#source.length : open;
      const trimAfter = open >= 0 && matchAt(LEFT_TRIM, this.#source, open) !== undefined;
      this.#text(end, trimBefore, trimAfter);
      if (open < 0) return this.#end('eof', '');
      const start = open + (trimAfter ? 4 : 2);
      this.#at = start;
      if (this.#source.startsWith('/*', start)) {
        const closed = this.#comment();
        if (typeof closed === 'string') return this.#end('error', closed);
        trimBefore = closed;
        continue;
      }
      this.#push('leftDelim', open, '{{');
      this.#at = start;
      const closed = this.#action();
      if (typeof closed === 'string') return this.#end('error', closed);
      trimBefore = closed;
    }
  }

  #push(type: TokenType, start: number, text = this.#source.slice(start, this.#at)): void {
    for (; this.#counted < start; this.#counted += 1) {
      if (this.#source[this.#counted] === '\n') this.#line += 1;
    }
    this.#tokens.push({ type, text, offset: start, line: this.#line });
  }

  #end(type: 'eof' | 'error', text: string): Token[] {
    this.#push(type, this.#at, text);
    return this.#tokens;
  }

  #text(end: number, trimBefore: boolean, trimAfter: boolean): void {
    let start = this.#at;
    let stop = end;
    const blank = (at: number): boolean => ' \t\r\n'.includes(this.#source[at] ?? '?');
    if (trimBefore) while (start < stop && blank(start)) start += 1;
    if (trimAfter) while (stop > start && blank(stop - 1)) stop -= 1;
    if (stop > start) this.#push('text', start, this.#source.slice(start, stop));
    this.#at = end;
  }

  /** Passes a comment. Tells whether blanks behind it are trimmed, or what is wrong. */
  #comment(): boolean | string {
    const end = this.#source.indexOf('*/', this.#at + 2);
    if (end < 0) return 'unclosed comment';
    this.#at = end + 2;
    const delim = matchAt(RIGHT_DELIM, this.#source, this.#at);
    if (delim === undefined) return 'comment ends before closing delimiter';
    this.#at += delim.length;
    return delim.length > 2;
  }

  /** Reads up to the closing delimiter. Tells whether blanks behind it are trimmed, or what is wrong. */
  #action(): boolean | string {
    let parens = 0;
    for (;;) {
      const start = this.#at;
      const delim = matchAt(RIGHT_DELIM, this.#source, start);
      if (delim !== undefined) {
        if (parens > 0) return 'unclosed left paren';
        this.#at += delim.length;
        this.#push('rightDelim', start, '}}');
        return delim.length > 2;
      }
      const char = this.#source[start];
      if (char === undefined) return 'unclosed action';
      if (' \t\r\n'.includes(char)) this.#spaces();
      else if (char === '(') {
        parens += 1;
        this.#take('leftParen', 1);
      } else if (char === ')') {
        parens -= 1;
        if (parens < 0) return 'unexpected right paren';
        this.#take('rightParen', 1);
      } else {
        const wrong = this.#operand(char);
        if (wrong !== undefined) return wrong;
      }
    }
  }

  #take(type: TokenType, length: number): undefined {
    const start = this.#at;
    this.#at += length;
    this.#push(type, start);
    return undefined;
  }

  /** Takes blanks, but leaves the one that belongs to a trim marker. */
  #spaces(): void {
    const start = this.#at;
    while (' \t\r\n'.includes(this.#source[this.#at] ?? '?') && matchAt(RIGHT_DELIM, this.#source, this.#at) === undefined) this.#at += 1;
    this.#push('space', start);
  }

  #operand(char: string): string | undefined {
    const next = this.#source[this.#at + 1] ?? '';
    if (char === '=') return this.#take('assign', 1);
    if (char === ':') return next === '=' ? this.#take('declare', 2) : 'expected :=';
    if (char === '|') return this.#take('pipe', 1);
    if (char === '"') return this.#quoted('string', /"(?:[^"\\\n]|\\[^\n])*"/y, 'unterminated quoted string');
    if (char === '`') return this.#quoted('rawString', /`[^`]*`/y, 'unterminated raw quoted string');
    if (char === "'") return this.#quoted('charConstant', /'(?:[^'\\\n]|\\[^\n])*'/y, 'unterminated character constant');
    if (char === '$') return this.#word('variable', /\$[\p{L}\p{Nd}_]*/uy);
    if (char === '.' && !/\d/.test(next)) return this.#word(/[\p{L}_]/u.test(next) ? 'field' : 'dot', /\.[\p{L}\p{Nd}_]*/uy);
    if (/[+\-.\d]/.test(char)) return this.#number();
    if (/[\p{L}_]/u.test(char)) return this.#word('identifier', /[\p{L}\p{Nd}_]+/uy);
    if (char <= '\x7f' && isPrintable(char)) return this.#take('char', 1);
    return `unrecognized character in action: ${described(this.#source, this.#at)}`;
  }

  #quoted(type: TokenType, pattern: RegExp, wrong: string): string | undefined {
    const text = matchAt(pattern, this.#source, this.#at);
    return text === undefined ? wrong : this.#take(type, text.length);
  }

  #number(): string | undefined {
    const text =
      matchAt(/[+-]?(?:0[xX][\da-fA-F_]*|0[bB][01_]*|0[oO][0-7_]*|[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?[\d_]*)?)/y, this.#source, this.#at) ?? '';
    const after = matchAt(/[\p{L}\p{Nd}_.]/uy, this.#source, this.#at + text.length);
    return after === undefined ? this.#take('number', text.length) : `bad number syntax: ${JSON.stringify(text + after)}`;
  }

  #word(type: TokenType, pattern: RegExp): string | undefined {
    const text = matchAt(pattern, this.#source, this.#at) ?? '';
    const end = this.#at + text.length;
    if (matchAt(TERMINATOR, this.#source, end) === undefined) return `bad character ${described(this.#source, end)}`;
    if (type !== 'identifier') return this.#take(type, text.length);
    if (KEYWORDS.has(text)) return this.#take('keyword', text.length);
    if (text === 'nil') return this.#take('nil', text.length);
    return this.#take(text === 'true' || text === 'false' ? 'bool' : 'identifier', text.length);
  }
}

function matchAt(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0];
}

/** A character as `%#U` prints it. */
function described(source: string, at: number): string {
  const code = source.codePointAt(at) ?? 0;
  const char = String.fromCodePoint(code);
  const text = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return isPrintable(char) ? `${text} '${char}'` : text;
}

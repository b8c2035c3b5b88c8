import { HclSyntaxError } from './syntax-error.ts';
import { unquoteHcl } from './unquote.ts';

export type HclTokenType =
  | 'EOF'
  | 'IDENT'
  | 'NUMBER'
  | 'FLOAT'
  | 'BOOL'
  | 'STRING'
  | 'HEREDOC'
  | 'LBRACK'
  | 'LBRACE'
  | 'COMMA'
  | 'PERIOD'
  | 'RBRACK'
  | 'RBRACE'
  | 'ASSIGN'
  | 'ADD'
  | 'SUB';

export interface HclToken {
  readonly type: HclTokenType;
  /** The token as written. */
  readonly text: string;
  /** The text a STRING or HEREDOC means; otherwise the same as `text`. */
  readonly value: string;
  readonly line: number;
  readonly column: number;
}

const PUNCTUATION: Readonly<Record<string, HclTokenType>> = {
  '[': 'LBRACK',
  ']': 'RBRACK',
  '{': 'LBRACE',
  '}': 'RBRACE',
  ',': 'COMMA',
  '=': 'ASSIGN',
  '+': 'ADD',
  '-': 'SUB',
  '.': 'PERIOD',
};

/** Cuts HCL 1 into tokens, comments dropped. Every character is looked at a bounded number of times. */
export class HclScanner {
  readonly #text: string;
  #offset = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string) {
    this.#text = text.replaceAll('\r\n', '\n');
  }

  next(): HclToken {
    this.#skipBlanks();
    const start = this.#offset;
    const char = this.#text[start];
    if (char === undefined) return this.#token('EOF', start);
    if (char === '"') return this.#string();
    if (char === '<') return this.#heredoc();
    const identifier = this.#match(/[\p{L}_][\p{L}\p{Nd}_.-]*/uy);
    if (identifier !== undefined) return this.#token(identifier === 'true' || identifier === 'false' ? 'BOOL' : 'IDENT', start);
    const number = this.#number();
    if (number !== undefined) return number;
    const type = PUNCTUATION[char];
    if (type === undefined) throw this.fail(char === '\0' ? 'unexpected null character (0x00)' : 'illegal char', start);
    this.#offset += 1;
    return this.#token(type, start);
  }

  /** An error at `offset` of the current line, or where the scanner stands. */
  fail(reason: string, offset = this.#offset): HclSyntaxError {
    return new HclSyntaxError(reason, this.#line, offset - this.#lineStart + 1);
  }

  #token(type: HclTokenType, start: number, value?: string): HclToken {
    const text = this.#text.slice(start, this.#offset);
    return { type, text, value: value ?? text, line: this.#line, column: start - this.#lineStart + 1 };
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#offset;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#offset += found.length;
    return found;
  }

  /** Counts the lines of what was passed since `start`. */
  #passLines(start: number): void {
    for (let at = start; at < this.#offset; at += 1) {
      if (this.#text[at] !== '\n') continue;
      this.#line += 1;
      this.#lineStart = at + 1;
    }
  }

  #skipBlanks(): void {
    for (;;) {
      const start = this.#offset;
      const blank = this.#match(/[ \t\r\n]+/y) ?? this.#match(/(?:#|\/\/)[^\n]*/y);
      if (blank !== undefined) {
        this.#passLines(start);
        continue;
      }
      if (this.#text[start] !== '/') return;
      if (this.#text[start + 1] !== '*') throw this.fail("expected '/' for comment");
      const end = this.#text.indexOf('*/', start + 2);
      if (end < 0) throw this.fail('comment not terminated');
      this.#offset = end + 2;
      this.#passLines(start);
    }
  }

  #number(): HclToken | undefined {
    const start = this.#offset;
    if (this.#match(/-?0[xX]/y) !== undefined) {
      if (this.#match(/[0-9a-fA-F]+/y) === undefined) throw this.fail('illegal hexadecimal number', start);
      return this.#token('NUMBER', start);
    }
    const text = this.#match(/-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?/y);
    if (text === undefined) return undefined;
    if (/[.eE]/.test(text)) return this.#token('FLOAT', start);
    if (/^-?0\d*[89]/.test(text)) throw this.fail('illegal octal number', start);
    return this.#token('NUMBER', start);
  }

  #string(): HclToken {
    const start = this.#offset;
    const column = start - this.#lineStart + 1;
    const line = this.#line;
    let braces = 0;
    let at = start + 1;
    for (; ; at += 1) {
      const char = this.#text[at];
      if (char === undefined || (char === '\n' && braces === 0)) throw this.fail('literal not terminated', start);
      if (char === '"' && braces === 0) break;
      if (char === '\\') at += 1;
      else if (braces === 0 && char === '$' && this.#text[at + 1] === '{') {
        braces = 1;
        at += 1;
      } else if (braces > 0 && char === '{') braces += 1;
      else if (braces > 0 && char === '}') braces -= 1;
    }
    this.#offset = at + 1;
    const text = this.#text.slice(start, this.#offset);
    const value = unquoteHcl(text.slice(1, -1));
    if (value === undefined) throw this.fail('illegal char escape', start);
    this.#passLines(start);
    return { type: 'STRING', text, value, line, column };
  }

  #heredoc(): HclToken {
    const start = this.#offset;
    if (this.#text[start + 1] !== '<') throw this.fail("heredoc expected second '<', didn't see it");
    const anchor = this.#match(/<<-?[\p{L}\p{Nd}_]*/uy) ?? '';
    if (this.#offset >= this.#text.length) throw this.fail('heredoc not terminated', start);
    if (this.#text[this.#offset] !== '\n') throw this.fail('invalid characters in heredoc anchor', start);
    const indented = anchor[2] === '-';
    const name = anchor.slice(indented ? 3 : 2);
    if (name === '') throw this.fail('zero-length heredoc anchor', start);

    const lines: string[] = [];
    let from = this.#offset + 1;
    for (;;) {
      if (from > this.#text.length) throw this.fail('heredoc not terminated', start);
      const newline = this.#text.indexOf('\n', from);
      const end = newline < 0 ? this.#text.length : newline;
      const line = this.#text.slice(from, end);
      from = end + 1;
      if (line.trimStart() === name) {
        this.#offset = Math.min(from, this.#text.length);
        const token = this.#token('HEREDOC', start, heredocText(lines, line.slice(0, line.indexOf(name)), indented));
        this.#passLines(start);
        return token;
      }
      lines.push(line);
    }
  }
}

/**
 * What a heredoc means. Plain ones keep the blanks in front of the closing anchor; indented ones lose the indent of the
 * closing anchor from every line, unless some line is indented less.
 */
function heredocText(lines: readonly string[], indent: string, indented: boolean): string {
  const text = lines.map((line) => `${line}\n`).join('');
  if (!indented) return text + indent;
  if (!lines.every((line) => line.startsWith(indent))) return text;
  return lines.map((line) => `${line.slice(indent.length)}\n`).join('');
}

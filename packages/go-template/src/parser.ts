import { goQuote } from './go-quote.ts';
import type { Token, TokenType } from './lexer.ts';
import { tokenize } from './lexer.ts';
import { readGoNumber, unquoteGo } from './literals.ts';
import type { CommandNode, Node, Operand, PipeNode } from './nodes.ts';
import { TemplateSyntaxError } from './template-error.ts';

/** Blocks and parentheses within one another. */
const MAX_DEPTH = 100;

export interface ParsedTemplate {
  readonly nodes: readonly Node[];
  /** How many variables there are; slot 0 is `$`. */
  readonly slots: number;
}

/** Parses by the rules and in the words of Go's text/template. Throws `TemplateSyntaxError`. */
export function parseTemplate(source: string, name: string, isFunction: (name: string) => boolean): ParsedTemplate {
  return new Parser(source, name, isFunction).parse();
}

type Ending = 'eof' | 'end' | 'else';

class Parser {
  readonly #tokens: readonly Token[];
  readonly #name: string;
  readonly #isFunction: (name: string) => boolean;
  #at = 0;
  #line = 1;
  #actionLine = 0;
  #depth = 0;
  #ranges = 0;
  #slots = 1;
  #variables: { readonly name: string; readonly slot: number }[] = [{ name: '$', slot: 0 }];

  constructor(source: string, name: string, isFunction: (name: string) => boolean) {
    this.#tokens = tokenize(source);
    this.#name = name;
    this.#isFunction = isFunction;
  }

  parse(): ParsedTemplate {
    const { nodes, ending } = this.#list(true);
    if (ending !== 'eof') this.#fail(`unexpected {{${ending}}}`);
    return { nodes, slots: this.#slots };
  }

  #fail(reason: string): never {
    throw new TemplateSyntaxError(this.#name, this.#line, reason);
  }

  #next(): Token {
    const token = this.#peek();
    if (this.#at < this.#tokens.length - 1) this.#at += 1;
    this.#line = token.line;
    return token;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { type: 'eof', text: '', offset: 0, line: this.#line };
  }

  #skipSpace(): Token {
    while (this.#peek().type === 'space') this.#next();
    return this.#peek();
  }

  #nextNonSpace(): Token {
    this.#skipSpace();
    return this.#next();
  }

  #unexpected(token: Token, context: string): never {
    this.#line = token.line;
    if (token.type === 'error') {
      const elsewhere = this.#actionLine !== 0 && this.#actionLine !== token.line;
      const where = token.text.endsWith(' action') ? ' started at' : ' in action started at';
      this.#fail(token.text + (elsewhere ? `${where} ${this.#name}:${this.#actionLine}` : ''));
    }
    this.#fail(`unexpected ${described(token)} in ${context}`);
  }

  #expect(type: TokenType, context: string): Token {
    const token = this.#nextNonSpace();
    if (token.type !== type) this.#unexpected(token, context);
    return token;
  }

  #deeper<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.#fail(`nested more than ${MAX_DEPTH} levels deep`);
    const result = read();
    this.#depth -= 1;
    return result;
  }

  #list(top = false): { nodes: Node[]; ending: Ending } {
    const nodes: Node[] = [];
    for (;;) {
      const token = this.#next();
      if (token.type === 'eof') {
        if (top) return { nodes, ending: 'eof' };
        this.#fail('unexpected EOF');
      }
      if (token.type === 'text') nodes.push({ kind: 'text', text: token.text });
      else if (token.type === 'leftDelim') {
        this.#actionLine = token.line;
        const node = this.#action();
        this.#actionLine = 0;
        if (typeof node === 'string') return { nodes, ending: node };
        nodes.push(node);
      } else this.#unexpected(token, 'input');
    }
  }

  #action(): Node | 'end' | 'else' {
    const token = this.#skipSpace();
    if (token.type !== 'keyword') return { kind: 'action', pipe: this.#pipeline('command', 'rightDelim') };
    this.#next();
    switch (token.text) {
      case 'end':
        this.#expect('rightDelim', 'end');
        return 'end';
      case 'else': {
        const peek = this.#skipSpace();
        if (peek.type !== 'keyword' || (peek.text !== 'if' && peek.text !== 'with')) this.#expect('rightDelim', 'else');
        return 'else';
      }
      case 'if':
      case 'with':
      case 'range':
        return this.#control(token.text);
      case 'break':
      case 'continue':
        this.#expect('rightDelim', `{{${token.text}}}`);
        if (this.#ranges === 0) this.#fail(`{{${token.text}}} outside {{range}}`);
        return { kind: token.text };
      default:
        return this.#fail(`{{${token.text}}} is not supported here`);
    }
  }

  #control(kind: 'if' | 'with' | 'range'): Node {
    return this.#deeper(() => {
      const scope = this.#variables.length;
      const pipe = this.#pipeline(kind, 'rightDelim');
      if (kind === 'range') this.#ranges += 1;
      const { nodes: then, ending } = this.#list();
      if (kind === 'range') this.#ranges -= 1;
      let otherwise: Node[] = [];
      if (ending === 'else') {
        const peek = this.#peek();
        if (peek.type === 'keyword' && peek.text === kind && kind !== 'range') {
          this.#next();
          otherwise = [this.#control(kind)];
        } else if (peek.type === 'keyword') {
          this.#unexpected(peek, 'input');
        } else {
          const rest = this.#list();
          if (rest.ending !== 'end') this.#fail('expected end; found {{else}}');
          otherwise = rest.nodes;
        }
      }
      this.#variables.length = scope;
      return { kind, pipe, then, otherwise };
    });
  }

  #pipeline(context: string, end: TokenType): PipeNode {
    return this.#deeper(() => {
      const offset = this.#skipSpace().offset;
      const { names, assigns } = this.#declarations(context);
      const commands: CommandNode[] = [];
      for (;;) {
        const token = this.#skipSpace();
        if (token.type === end) break;
        if (!OPERANDS.has(token.type)) this.#unexpected(this.#next(), context);
        commands.push(this.#command());
      }
      const stop = this.#next();
      if (commands.length === 0) this.#fail(`missing value for ${context}`);
      commands.slice(1).forEach((command, index) => {
        if (['bool', 'dot', 'nil', 'number', 'string'].includes(command.operands[0].kind)) {
          this.#fail(`non executable command in pipeline stage ${index + 2}`);
        }
      });
      const slots = names.map((name) => (assigns ? this.#slotOf(name) : this.#declare(name)));
      return { kind: 'pipe', offset, end: stop.offset, slots, commands };
    });
  }

  /** The `$x :=`, `$x =` or `$i, $x :=` in front of a pipeline. */
  #declarations(context: string): { names: string[]; assigns: boolean } {
    const start = this.#at;
    const names: string[] = [];
    while (this.#skipSpace().type === 'variable') {
      const name = this.#next().text;
      const after = this.#skipSpace();
      if (after.type === 'declare' || after.type === 'assign') {
        this.#next();
        return { names: [...names, name], assigns: after.type === 'assign' };
      }
      if (after.type !== 'char' || after.text !== ',') break;
      this.#next();
      names.push(name);
      if (context !== 'range' || names.length >= 2) this.#fail(`too many declarations in ${context}`);
      const { type } = this.#skipSpace();
      if (type !== 'variable' && type !== 'rightDelim' && type !== 'rightParen') this.#fail('range can only initialize variables');
    }
    if (names.length > 0) this.#fail(`missing value for ${context}`);
    this.#at = start;
    return { names: [], assigns: false };
  }

  #declare(name: string): number {
    const slot = this.#slots;
    this.#slots += 1;
    this.#variables.push({ name, slot });
    return slot;
  }

  #slotOf(name: string): number {
    const variable = this.#variables.findLast((known) => known.name === name);
    return variable?.slot ?? this.#fail(`undefined variable ${goQuote(name)}`);
  }

  #command(): CommandNode {
    const offset = this.#skipSpace().offset;
    const operands: Operand[] = [];
    let end = offset;
    for (;;) {
      this.#skipSpace();
      const operand = this.#operand();
      if (operand !== undefined) {
        operands.push(operand);
        end = operand.end;
      }
      const token = this.#next();
      if (token.type === 'space') continue;
      if (token.type === 'rightDelim' || token.type === 'rightParen') this.#at -= 1;
      else if (token.type !== 'pipe') this.#unexpected(token, 'operand');
      break;
    }
    const [first, ...rest] = operands;
    if (first === undefined) this.#fail('empty command');
    return { offset, end, operands: [first, ...rest] };
  }

  #operand(): Operand | undefined {
    const term = this.#term();
    if (term === undefined || this.#peek().type !== 'field') return term;
    const names: string[] = [];
    const position = this.#peek().offset;
    let end = term.end;
    while (this.#peek().type === 'field') {
      const token = this.#next();
      names.push(token.text.slice(1));
      end = token.offset + token.text.length;
    }
    switch (term.kind) {
      case 'field':
      case 'variable':
        return { ...term, names: [...term.names, ...names], end, position };
      case 'bool':
      case 'string':
      case 'number':
      case 'nil':
      case 'dot':
        return this.#fail(`unexpected . after term ${goQuote(this.#tokens[this.#at - names.length - 1]?.text ?? '')}`);
      default:
        return { kind: 'chain', of: term, names, offset: term.offset, end };
    }
  }

  #term(): Operand | undefined {
    const token = this.#skipSpace();
    const { offset, text } = token;
    const at = { offset, end: offset + text.length };
    if (!OPERANDS.has(token.type)) return undefined;
    this.#next();
    switch (token.type) {
      case 'dot':
      case 'nil':
        return { kind: token.type, ...at };
      case 'bool':
        return { kind: 'bool', value: text === 'true', ...at };
      case 'identifier':
        if (!this.#isFunction(text)) this.#fail(`function ${goQuote(text)} not defined`);
        return { kind: 'function', name: text, ...at };
      case 'field':
        return { kind: 'field', names: [text.slice(1)], ...at };
      case 'variable':
        return { kind: 'variable', slot: this.#slotOf(text), names: [], ...at };
      case 'number': {
        const number = readGoNumber(text) ?? this.#fail(`illegal number syntax: ${goQuote(text)}`);
        return { kind: 'number', ...number, ...at };
      }
      case 'charConstant': {
        const char = unquoteGo(text);
        if (char === undefined || char === '') this.#fail('invalid syntax');
        if ([...char].length !== 1) this.#fail(`malformed character constant: ${text}`);
        return { kind: 'number', value: char.codePointAt(0) ?? 0, float: false, ...at };
      }
      case 'leftParen': {
        const pipe = this.#pipeline('parenthesized pipeline', 'rightParen');
        return { ...pipe, offset, end: pipe.end + 1 };
      }
      default: {
        const value = unquoteGo(text) ?? this.#fail('invalid syntax');
        return { kind: 'string', value, ...at };
      }
    }
  }
}

const OPERANDS: ReadonlySet<TokenType> = new Set([
  'bool',
  'charConstant',
  'dot',
  'field',
  'identifier',
  'leftParen',
  'nil',
  'number',
  'rawString',
  'string',
  'variable',
]);

function described({ type, text }: Token): string {
  if (type === 'eof') return 'EOF';
  if (type === 'keyword' || type === 'dot' || type === 'nil') return `<${text}>`;
  return [...text].length > 10 ? `${goQuote([...text].slice(0, 10).join(''))}...` : goQuote(text);
}

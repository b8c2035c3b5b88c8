import { Failure } from '../failure.ts';

interface Token {
  readonly kind: 'word' | 'string' | 'comment' | 'punctuation' | 'newline';
  readonly text: string;
}

const PATTERN =
  /(?<comment>#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<heredoc><<-?(?<tag>\w+)[ \t]*\n[\s\S]*?\n[ \t]*\k<tag>(?=\n|$))|(?<string>"(?:[^"\\\n]|\\.)*")|(?<newline>\n)|(?<punctuation>[{}[\]=,:])|(?<word>[^\s{}[\]=,:"#]+)|(?<space>[ \t\r]+)|(?<bad>.)/gu;

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  for (const match of text.matchAll(PATTERN)) {
    const { groups = {} } = match;
    if (groups['bad'] !== undefined)
      throw new Failure(`Error formatting policy: unexpected ${JSON.stringify(groups['bad'])} on line ${line}`);
    line += match[0].split('\n').length - 1;
    if (groups['space'] !== undefined) continue;
    if (groups['heredoc'] !== undefined) tokens.push({ kind: 'string', text: match[0] });
    else {
      const kind = (['comment', 'string', 'newline', 'punctuation', 'word'] as const).find((name) => groups[name] !== undefined);
      if (kind !== undefined) tokens.push({ kind, text: match[0] });
    }
  }
  return tokens;
}

/** Splits at line ends, and after `{` and before `}`, so that every block stands on lines of its own. Lists keep their lines. */
function splitLines(tokens: readonly Token[]): Token[][] {
  const lines: Token[][] = [];
  let line: Token[] = [];
  const flush = () => {
    lines.push(line);
    line = [];
  };
  const open: string[] = [];
  const pairs: Readonly<Record<string, string>> = { '}': '{', ']': '[' };
  tokens.forEach((token, index) => {
    if (token.kind === 'newline') return flush();
    if (token.text === '{' && token.kind === 'punctuation') {
      open.push('{');
      line.push(token);
      const next = tokens[index + 1];
      if (next !== undefined && next.kind !== 'newline' && next.kind !== 'comment' && next.text !== '}') flush();
      return;
    }
    const opener = token.kind === 'punctuation' ? pairs[token.text] : undefined;
    if (opener !== undefined && open.pop() !== opener) throw new Failure(`Error formatting policy: "${token.text}" without "${opener}"`);
    if (token.text === '[' && token.kind === 'punctuation') open.push('[');
    if (token.text === '}' && token.kind === 'punctuation' && line.length > 0 && line.at(-1)?.text !== '{') flush();
    line.push(token);
  });
  flush();
  if (open.length > 0) throw new Failure(`Error formatting policy: "${open.at(-1)}" is never closed`);
  return lines;
}

function spell(line: readonly Token[]): string {
  let text = '';
  line.forEach((token, index) => {
    const before = line[index - 1];
    const glued =
      before === undefined ||
      token.text === ',' ||
      token.text === ']' ||
      before.text === '[' ||
      (before.text === '{' && token.text === '}');
    text += (glued ? '' : ' ') + token.text;
  });
  return text;
}

/** Aligns the `=` of neighbouring plain assignments, as people expect from HCL formatters. */
function align(lines: readonly { depth: number; tokens: readonly Token[] }[]): string[] {
  const texts = lines.map(({ depth, tokens }) => (tokens.length === 0 ? '' : '  '.repeat(depth) + spell(tokens)));
  const assigns = (index: number) => lines[index]?.tokens[1]?.text === '=' && lines[index]?.tokens[0]?.kind !== 'comment';
  for (let index = 0; index < lines.length;) {
    let end = index;
    while (assigns(end) && lines[end]?.depth === lines[index]?.depth) end += 1;
    const widest = Math.max(0, ...lines.slice(index, end).map(({ tokens }) => tokens[0]?.text.length ?? 0));
    for (let row = index; row < end; row++) {
      const { depth, tokens } = lines[row] ?? { depth: 0, tokens: [] };
      texts[row] = `${'  '.repeat(depth)}${(tokens[0]?.text ?? '').padEnd(widest)} ${spell(tokens.slice(1))}`;
    }
    index = Math.max(end, index + 1);
  }
  return texts;
}

/** HCL with two spaces a level, single spaces between words, aligned assignments and at most one empty line in a row. */
export function formatHcl(text: string): string {
  let depth = 0;
  const lines = splitLines(tokenize(text)).map((tokens) => {
    const marks = tokens.filter(({ kind }) => kind === 'punctuation').map((token) => token.text);
    const closes = marks.filter((mark) => mark === '}' || mark === ']').length;
    const opens = marks.filter((mark) => mark === '{' || mark === '[').length;
    const leading = marks[0] === '}' || marks[0] === ']' ? 1 : 0;
    const line = { depth: Math.max(0, depth - leading), tokens };
    depth += opens - closes;
    return line;
  });
  return `${align(lines)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

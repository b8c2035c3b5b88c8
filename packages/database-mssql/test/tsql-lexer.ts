/** A word, a quoted name, a literal or a sign of T-SQL. */
export interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'sign';
  readonly value: string;
}

export class SyntaxProblem extends Error {}

const TOKEN =
  /\s+|--[^\n]*|\/\*[^]*?\*\/|\[(?<bracket>(?:\]\]|[^\]])*)\]|"(?<double>(?:""|[^"])*)"|N?'(?<text>(?:''|[^'])*)'|(?<word>[@\p{L}_][\p{L}\p{N}_@$#]*|\d+)|(?<sign>[;=(),.<>*+:-])/uy;

/** The statements of a batch, cut at semicolons outside of quotes. Written for the double, apart from what the plugin uses. */
export function statementsOf(sql: string): Token[][] {
  const statements: Token[][] = [[]];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < sql.length) {
    const at = TOKEN.lastIndex;
    const groups = TOKEN.exec(sql)?.groups;
    if (!groups) throw new SyntaxProblem(`Incorrect syntax near '${sql.slice(at, at + 20)}'.`);
    const { bracket, double, text, word, sign } = groups;
    if (sign === ';') statements.push([]);
    else if (bracket !== undefined) statements.at(-1)!.push({ kind: 'name', value: bracket.replaceAll(']]', ']') });
    else if (double !== undefined) statements.at(-1)!.push({ kind: 'name', value: double.replaceAll('""', '"') });
    else if (text !== undefined) statements.at(-1)!.push({ kind: 'text', value: text.replaceAll("''", "'") });
    else if (word !== undefined) statements.at(-1)!.push({ kind: 'word', value: word.toUpperCase() });
    else if (sign !== undefined) statements.at(-1)!.push({ kind: 'sign', value: sign });
  }
  return statements.filter((tokens) => tokens.length > 0);
}

/** `CREATE LOGIN <name> WITH PASSWORD = <text>`: its kinds, by which statements are distinguished. */
export function shapeOf(tokens: readonly Token[]): string {
  return tokens.map(({ kind, value }) => (kind === 'word' || kind === 'sign' ? value : `<${kind}>`)).join(' ');
}

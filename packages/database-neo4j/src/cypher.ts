import { scanSql, splitStatements, type SqlDialect, StatementInvalid, type StatementValues } from '@strongroom/database-sdk';

/** One statement with the values that it refers to as `$name`: no value is ever part of the text. */
export interface CypherStatement {
  readonly text: string;
  readonly parameters: Readonly<Record<string, string | readonly string[]>>;
}

/** The lexical rules of Cypher, as much of them as splitting takes. */
export const cypherDialect: SqlDialect = {
  name: 'cypher',
  quotes: { "'": { close: "'", escape: 'backslash' }, '"': { close: '"', escape: 'backslash' }, '`': { close: '`', escape: 'double' } },
  dollarQuotes: 'none',
  escapeStrings: false,
  lineComments: ['//'],
  blockComments: 'flat',
};

const PLACEHOLDER = /\{\{(name|username|password|expiration|public_key|subject)\}\}/g;

/**
 * The statements of a role, one by one. A placeholder becomes a parameter, with the quotes around it; a quoted text that holds more than a placeholder
 * becomes one as a whole. Throws StatementInvalid.
 */
export function cypherStatements(commands: readonly string[], values: StatementValues): CypherStatement[] {
  return splitStatements(commands, cypherDialect).map((statement) => withParameters(statement, values));
}

function withParameters(statement: string, values: StatementValues): CypherStatement {
  const parameters: Record<string, string> = {};
  const parameter = (name: string, value: string): string => {
    parameters[name] = value;
    return `$${name}`;
  };
  const valueOf = (key: string): string => {
    const value = values[key as keyof StatementValues];
    if (value === undefined) throw new StatementInvalid(`a statement uses {{${key}}}, which has no value here`);
    return value;
  };
  const pieces = scanSql(statement, cypherDialect).map(({ kind, text, quote }) => {
    if (text.search(PLACEHOLDER) < 0) return text;
    if (kind === 'comment') throw new StatementInvalid('a comment in a statement contains a placeholder');
    if (!quote) return text.replace(PLACEHOLDER, (_, key: string) => parameter(key, valueOf(key)));
    const inside = text.slice(1, -1);
    const [, only] = /^\{\{(\w+)\}\}$/.exec(inside) ?? [];
    if (only !== undefined) return parameter(only, valueOf(only));
    if (inside.includes('\\') || inside.includes(quote.close))
      throw new StatementInvalid('a quoted text with a placeholder must not contain a backslash or an escaped quote');
    const whole = inside.replace(PLACEHOLDER, (_, key: string) => valueOf(key));
    return parameter(`text${Object.keys(parameters).length + 1}`, whole);
  });
  return { text: pieces.join(''), parameters };
}

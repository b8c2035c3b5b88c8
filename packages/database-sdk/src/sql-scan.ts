import { StatementInvalid } from './errors.ts';
import type { QuoteStyle, SqlDialect } from './sql-dialect.ts';

/** A stretch of SQL text under one lexical rule. Quotes and comment marks belong to the segment that they open. */
export interface SqlSegment {
  readonly kind: 'bare' | 'quoted' | 'dollar' | 'comment';
  readonly text: string;
  /** For `quoted`. */
  readonly quote?: QuoteStyle;
}

const WORD = /[\p{L}\p{N}_$]/u;

/** Cuts `sql` into segments whose texts, joined, are `sql` again. Throws StatementInvalid for a quote or comment that does not end. */
export function scanSql(sql: string, dialect: SqlDialect): SqlSegment[] {
  const segments: SqlSegment[] = [];
  let bareFrom = 0;
  let at = 0;
  const take = (kind: SqlSegment['kind'], end: number, quote?: QuoteStyle): void => {
    if (at > bareFrom) segments.push({ kind: 'bare', text: sql.slice(bareFrom, at) });
    segments.push({ kind, text: sql.slice(at, end), ...(quote && { quote }) });
    at = bareFrom = end;
  };
  while (at < sql.length) {
    const character = sql[at]!;
    const plainQuote = dialect.quotes[character];
    if (plainQuote) {
      const quote =
        character === "'" && dialect.escapeStrings && isEscapePrefix(sql, at) ? ({ close: "'", escape: 'both' } as const) : plainQuote;
      take('quoted', endOfQuote(sql, at, quote), quote);
      continue;
    }
    if (dialect.lineComments.some((mark) => sql.startsWith(mark, at))) {
      const newline = sql.indexOf('\n', at);
      take('comment', newline < 0 ? sql.length : newline + 1);
      continue;
    }
    if (dialect.blockComments !== 'none' && sql.startsWith('/*', at)) {
      take('comment', endOfBlockComment(sql, at, dialect.blockComments === 'nested'));
      continue;
    }
    const tag = character === '$' ? dollarTag(sql, at, dialect) : undefined;
    if (tag !== undefined) {
      const close = sql.indexOf(tag, at + tag.length);
      if (close < 0) throw new StatementInvalid(`a ${tag} quote in a statement does not end`);
      take('dollar', close + tag.length);
      continue;
    }
    at++;
  }
  if (at > bareFrom) segments.push({ kind: 'bare', text: sql.slice(bareFrom) });
  return segments;
}

function isEscapePrefix(sql: string, quoteAt: number): boolean {
  const before = sql[quoteAt - 2];
  return /[eE]/.test(sql[quoteAt - 1] ?? '') && (before === undefined || !WORD.test(before));
}

function endOfQuote(sql: string, from: number, quote: QuoteStyle): number {
  for (let at = from + 1; at < sql.length; at++) {
    if (sql[at] === '\\' && quote.escape !== 'double') at++;
    else if (sql[at] === quote.close) {
      if (quote.escape === 'backslash' || sql[at + 1] !== quote.close) return at + 1;
      at++;
    }
  }
  throw new StatementInvalid(`a ${sql[from]} quote in a statement does not end`);
}

function endOfBlockComment(sql: string, from: number, nested: boolean): number {
  let depth = 1;
  for (let at = from + 2; at < sql.length; at++) {
    if (sql.startsWith('*/', at)) {
      at++;
      if (--depth === 0) return at + 1;
    } else if (nested && sql.startsWith('/*', at)) {
      at++;
      depth++;
    }
  }
  throw new StatementInvalid('a /* comment in a statement does not end');
}

function dollarTag(sql: string, at: number, dialect: SqlDialect): string | undefined {
  if (dialect.dollarQuotes === 'none' || (at > 0 && WORD.test(sql[at - 1]!))) return undefined;
  const pattern = dialect.dollarQuotes === 'tagged' ? /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy : /\$\$/y;
  pattern.lastIndex = at;
  return pattern.exec(sql)?.[0];
}

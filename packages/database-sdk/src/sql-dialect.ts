/** How text inside one kind of quote is written. */
export interface QuoteStyle {
  /** The character that ends the quote. */
  readonly close: string;
  /** `double`: the closing character is written twice. `backslash`: a backslash escapes. `both`: either. */
  readonly escape: 'double' | 'backslash' | 'both';
}

/** As much of a database's lexical rules as it takes to split statements and to place a value safely. */
export interface SqlDialect {
  readonly name: string;
  /** By opening character. */
  readonly quotes: Readonly<Record<string, QuoteStyle>>;
  /** `$$ … $$`, and `$tag$ … $tag$` where tags are known. */
  readonly dollarQuotes: 'none' | 'plain' | 'tagged';
  /** `E'…'`: a quote in which a backslash escapes. */
  readonly escapeStrings: boolean;
  readonly lineComments: readonly string[];
  readonly blockComments: 'none' | 'flat' | 'nested';
}

const double = (close: string): QuoteStyle => ({ close, escape: 'double' });

/** The session must run with `standard_conforming_strings = on`, the default since PostgreSQL 9.1. */
export const postgresqlDialect: SqlDialect = {
  name: 'postgresql',
  quotes: { "'": double("'"), '"': double('"') },
  dollarQuotes: 'tagged',
  escapeStrings: true,
  lineComments: ['--'],
  blockComments: 'nested',
};

/** MySQL and MariaDB. A value is written so that it is safe with and without `NO_BACKSLASH_ESCAPES`. */
export const mysqlDialect: SqlDialect = {
  name: 'mysql',
  quotes: { "'": { close: "'", escape: 'both' }, '"': { close: '"', escape: 'both' }, '`': double('`') },
  dollarQuotes: 'none',
  escapeStrings: false,
  lineComments: ['--', '#'],
  blockComments: 'flat',
};

/** The lexical rules of SQL Server’s Transact-SQL. */
export const mssqlDialect: SqlDialect = {
  name: 'mssql',
  quotes: { "'": double("'"), '"': double('"'), '[': double(']') },
  dollarQuotes: 'none',
  escapeStrings: false,
  lineComments: ['--'],
  blockComments: 'nested',
};

/** The lexical rules of Cassandra’s CQL. */
export const cqlDialect: SqlDialect = {
  name: 'cql',
  quotes: { "'": double("'"), '"': double('"') },
  dollarQuotes: 'plain',
  escapeStrings: false,
  lineComments: ['--', '//'],
  blockComments: 'flat',
};

/** The lexical rules of InfluxQL. */
export const influxqlDialect: SqlDialect = {
  name: 'influxql',
  quotes: { "'": { close: "'", escape: 'backslash' }, '"': { close: '"', escape: 'backslash' } },
  dollarQuotes: 'none',
  escapeStrings: false,
  lineComments: ['--'],
  blockComments: 'flat',
};

import { cqlDialect, renderStatements, StatementInvalid, type StatementValues } from '@strongroom/database-sdk';

/** What operators need not write. */
const CREATION_DEFAULT = [`CREATE USER '{{username}}' WITH PASSWORD '{{password}}' NOSUPERUSER;`];
export const REVOCATION_DEFAULT = [`DROP USER IF EXISTS '{{username}}';`];
export const PASSWORD_CHANGE_DEFAULT = [`ALTER USER '{{username}}' WITH PASSWORD '{{password}}';`];

/** `{{expiration}}`: `2030-01-31 23:59:59+0000`. The database itself knows no expiry. */
export function expirationText(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')}+0000`;
}

/**
 * What creates a user. Throws StatementInvalid, also for statements that say nothing, and for a name with a single quote: Cassandra carries out
 * `GRANT … TO` by statements of its own in which the name stands unescaped.
 */
export function creationStatements(commands: readonly string[], values: StatementValues & { readonly username: string }): string[] {
  if (values.username.includes("'")) throw new StatementInvalid('a user name must not hold a single quote');
  const statements = renderStatements(commands.length > 0 ? commands : CREATION_DEFAULT, values, cqlDialect);
  if (statements.length === 0) throw new StatementInvalid('empty creation statements');
  return statements;
}

/** An operator's statements, or `fallback` where they say nothing. */
export function statementsOr(fallback: readonly string[], commands: readonly string[], values: StatementValues): string[] {
  const statements = renderStatements(commands, values, cqlDialect);
  return statements.length > 0 ? statements : renderStatements(fallback, values, cqlDialect);
}

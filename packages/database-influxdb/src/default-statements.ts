import { influxqlDialect, renderStatements, StatementInvalid, type StatementValues } from '@strongroom/database-sdk';

/** What operators need not write. */
const CREATION_DEFAULT = [`CREATE USER "{{username}}" WITH PASSWORD '{{password}}';`];
export const REVOCATION_DEFAULT = [`DROP USER "{{username}}";`];
export const PASSWORD_CHANGE_DEFAULT = [`SET PASSWORD FOR "{{username}}" = '{{password}}';`];

/** `{{expiration}}`: `2030-01-31 23:59:59+0000`. The database itself knows no expiry. */
export function expirationText(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')}+0000`;
}

/** What creates a user. Throws StatementInvalid, also for statements that say nothing. */
export function creationStatements(commands: readonly string[], values: StatementValues): string[] {
  const statements = renderStatements(commands.length > 0 ? commands : CREATION_DEFAULT, values, influxqlDialect);
  if (statements.length === 0) throw new StatementInvalid('empty creation statements');
  return statements;
}

/** An operator's statements, or `fallback` where they say nothing. */
export function statementsOr(fallback: readonly string[], commands: readonly string[], values: StatementValues): string[] {
  const statements = renderStatements(commands, values, influxqlDialect);
  return statements.length > 0 ? statements : renderStatements(fallback, values, influxqlDialect);
}

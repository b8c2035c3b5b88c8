import { ConnectionLost, DatabaseError, redact, StatementFailed } from '@strongroom/database-sdk';

export type Secrets = Readonly<Record<string, string>>;

/** The driver's words; an error of several says each. */
export function errorText(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(errorText).join('; ');
  return error instanceof Error ? error.message || String('code' in error ? error.code : error.name) : String(error);
}

/** The error to show, without secrets and without the driver's own error. `isReply`: whether it is an answer of the server's. */
export function toDatabaseError(error: unknown, isReply: boolean, secrets: Secrets): Error {
  if (error instanceof DatabaseError) return error;
  const text = redact(errorText(error), secrets);
  if (!isReply) return new ConnectionLost(`connection to the database was lost: ${text}`);
  return new StatementFailed(text, { serverCode: /^[A-Z]+(?= )/.exec(text)?.[0] });
}

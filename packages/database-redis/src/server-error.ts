import { ConnectionLost, DatabaseError, driverErrorText, redact, StatementFailed } from '@strongroom/database-sdk';

export type Secrets = Readonly<Record<string, string>>;

/** The error to show, without secrets and without the driver's own error. `isReply`: whether it is an answer of the server's. */
export function toDatabaseError(error: unknown, isReply: boolean, secrets: Secrets): Error {
  if (error instanceof DatabaseError) return error;
  const text = redact(driverErrorText(error), secrets);
  if (!isReply) return new ConnectionLost(`connection to the database was lost: ${text}`);
  return new StatementFailed(text, { serverCode: /^[A-Z]+(?= )/.exec(text)?.[0] });
}

import { ConnectionLost, DatabaseError, redact, StatementFailed } from '@strongroom/database-sdk';

interface ServerError extends Error {
  readonly code: number;
  readonly codeName?: string;
}

export const USER_NOT_FOUND = 11;
export const UNAUTHORIZED = 13;
export const AUTHENTICATION_FAILED = 18;

/** The server goes away, or is not the one that takes writes: what it was asked may or may not have happened. */
const GOING_AWAY = new Set([91, 189, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436]);

/** The server's answer, as opposed to what the driver or the network says. */
export function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && error.name.startsWith('MongoServerError') && 'code' in error && typeof error.code === 'number';
}

export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return isServerError(error) && error.codeName ? `(${error.codeName}) ${error.message}` : error.message || error.name;
}

/** The error to show, without secrets and without the driver's own error, which repeats the command. */
export function toDatabaseError(error: unknown, secrets: Readonly<Record<string, string>>): Error {
  if (error instanceof DatabaseError) return error;
  const text = redact(errorText(error), secrets);
  if (!isServerError(error) || GOING_AWAY.has(error.code)) {
    // Without a server to select nothing was sent.
    const unsent = error instanceof Error && error.name === 'MongoServerSelectionError';
    return new ConnectionLost(`connection to the database was lost: ${text}`, { unsent });
  }
  return new StatementFailed(text, { serverCode: String(error.code) });
}

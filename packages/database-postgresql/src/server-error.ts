import { ConnectionLost, DatabaseError, driverErrorText, type LoginFailure, redact, StatementFailed } from '@strongroom/database-sdk';

interface ServerError extends Error {
  readonly severity: string;
  readonly code: string;
  readonly detail?: string;
}

function isServerError(error: unknown): error is ServerError {
  return (
    error instanceof Error && 'severity' in error && typeof error.severity === 'string' && 'code' in error && typeof error.code === 'string'
  );
}

/** Dependent objects still exist: the one error whose detail an operator cannot do without. */
const DEPENDENT_OBJECTS = '2BP01';

/** `ERROR: syntax error at or near "BOGUS" (SQLSTATE 42601)`, or the driver's own words. */
export function errorText(error: unknown): string {
  return driverErrorText(error, answerText);
}

function answerText(error: unknown): string | undefined {
  if (!isServerError(error)) return undefined;
  const detail = error.code === DEPENDENT_OBJECTS && error.detail ? `: ${error.detail.replaceAll('\n', ', ')}` : '';
  return `${error.severity}: ${error.message}${detail} (SQLSTATE ${error.code})`;
}

/** The SQLSTATE of a server's error. */
export function sqlState(error: unknown): string | undefined {
  return isServerError(error) ? error.code : undefined;
}

const WRONG_PASSWORD = '28P01';
/** The server knows the user, or does not let it in from here, and says so before or after the password: no privilege, no such database, no place. */
const BARRED = new Set(['28000', '42501', '3D000', '53300', '55000']);

/** What a failure to log in says about the credential. */
export function loginFailure(error: unknown): LoginFailure {
  const state = sqlState(error);
  if (state === WRONG_PASSWORD) return 'credential';
  return BARRED.has(state ?? '') ? 'barred' : 'unreachable';
}

/** The connection is gone or of no further use: everything that is not the server's answer, and its farewells. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === 'connection_lost';
  const state = sqlState(error);
  return state === undefined || state.startsWith('08') || state.startsWith('57P');
}

/**
 * Two sessions changed the same catalogue row, or waited for each other. The transaction was rolled back, and trying it again is right.
 * Grants on one table or schema from several sessions end this way.
 */
export function isCollision(error: unknown): boolean {
  const state = sqlState(error);
  if (state === '40001' || state === '40P01') return true;
  return state === 'XX000' && /tuple concurrently (updated|deleted)/.test((error as Error).message);
}

/** The error to show, without the secrets and without the driver's error, whose fields repeat statements. */
export function toDatabaseError(error: unknown, secrets: Readonly<Record<string, string>>): Error {
  if (error instanceof DatabaseError) return error;
  const text = redact(errorText(error), secrets);
  if (isConnectionError(error)) return new ConnectionLost(`connection to the database was lost: ${text}`);
  return new StatementFailed(text, { serverCode: sqlState(error) });
}

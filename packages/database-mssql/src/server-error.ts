import { ConnectionLost, DatabaseError, type LoginFailure, redact, StatementFailed } from '@strongroom/database-sdk';

/** What the server answered, as the driver passes it on. */
interface ServerError extends Error {
  readonly number: number;
  readonly class?: number;
}

function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && 'number' in error && typeof error.number === 'number';
}

/** `mssql: Incorrect syntax near 'BOGUS'. (102)`, or the driver's own words. Of several messages all. */
export function errorText(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(errorText).join('; ');
  if (isServerError(error)) return `mssql: ${error.message} (${error.number})`;
  if (!(error instanceof Error)) return String(error);
  const text = error.message || String('code' in error ? error.code : error.name);
  // The driver wraps what the network says, more than once.
  const reason = error.cause === undefined ? '' : errorText(error.cause);
  return reason === '' || text.includes(reason) ? text : `${text}: ${reason}`;
}

/** The number of a server's error; of several the first. */
export function errorNumber(error: unknown): number | undefined {
  if (error instanceof AggregateError) return error.errors.map(errorNumber).find((number) => number !== undefined);
  return isServerError(error) ? error.number : undefined;
}

const LOGIN_FAILED = 18_456;
/** No such database for it, a disabled login, an expired password, a login from elsewhere: the credential may be right. */
const BARRED = new Set([4060, 4064, 18_450, 18_452, 18_470, 18_486, 18_487, 18_488, 40_615]);

/** What a failure to log in says about the credential. The driver passes the server's refusal of a login on without its number. */
export function loginFailure(error: unknown): LoginFailure {
  const number = errorNumber(error);
  if (number === LOGIN_FAILED) return 'credential';
  if (number !== undefined && BARRED.has(number)) return 'barred';
  return error instanceof Error && 'code' in error && error.code === 'ELOGIN' ? 'credential' : 'unreachable';
}

/** From this severity on the server ends the connection. */
const FATAL = 20;

/** A database that is away, a server that shuts down, a session that was killed: on Azure some of them come with a low severity. */
const FAREWELLS = new Set([596, 601, 617, 4060, 6005, 10_928, 10_929, 40_197, 40_501, 40_613, 49_918, 49_919, 49_920]);

/** The connection is gone or of no further use: everything that is not the server's answer, and its farewells. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === 'connection_lost';
  if (error instanceof AggregateError) return error.errors.some(isConnectionError);
  return !isServerError(error) || (error.class ?? 0) >= FATAL || FAREWELLS.has(error.number);
}

/** The error to show, without the secrets. */
export function toDatabaseError(error: unknown, secrets: Readonly<Record<string, string>>): Error {
  if (error instanceof DatabaseError) return error;
  const text = redact(errorText(error), secrets);
  if (isConnectionError(error)) return new ConnectionLost(`connection to the database was lost: ${text}`);
  return new StatementFailed(text, { serverCode: String(errorNumber(error)) });
}

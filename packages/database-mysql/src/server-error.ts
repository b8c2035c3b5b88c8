import { ConnectionLost, DatabaseError, driverErrorText, type LoginFailure, redact, StatementFailed } from '@strongroom/database-sdk';

/** What the server answered, as the driver passes it on. Its `sql` repeats the statement, so the error itself is never shown. */
interface ServerError extends Error {
  readonly errno: number;
  readonly sqlState?: string;
  readonly sqlMessage: string;
}

function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number' && error.errno > 0 && 'sqlMessage' in error;
}

/** `Error 1064 (42000): You have an error …`, or the driver's own words. */
export function errorText(error: unknown): string {
  return driverErrorText(error, answerText);
}

function answerText(error: unknown): string | undefined {
  if (!isServerError(error)) return undefined;
  return `Error ${error.errno}${error.sqlState ? ` (${error.sqlState})` : ''}: ${error.sqlMessage}`;
}

/** The number of a server's error. */
export function errorNumber(error: unknown): number | undefined {
  return isServerError(error) ? error.errno : undefined;
}

export const ER = {
  dbAccessDenied: 1044,
  accessDenied: 1045,
  badDb: 1049,
  accountLocked: 3118,
  accountLockedInMariaDb: 4151,
  syntax: 1064,
  noSuchThread: 1094,
  badField: 1054,
  tableAccessDenied: 1142,
  columnAccessDenied: 1143,
  nonexistingGrant: 1141,
  revokeGrants: 1269,
  cannotUser: 1396,
} as const;

/** What a failure to log in says about the credential. */
export function loginFailure(error: unknown): LoginFailure {
  const number = errorNumber(error);
  if (number === ER.accessDenied) return 'credential';
  const barred = [ER.dbAccessDenied, ER.badDb, ER.accountLocked, ER.accountLockedInMariaDb, 1130, 1203, 1226, 1698, 1820, 1862];
  return number !== undefined && barred.includes(number) ? 'barred' : 'unreachable';
}

/** The server ends the session, or shuts down, or takes no more. */
const FAREWELLS = new Set([
  1040, 1042, 1043, 1053, 1077, 1079, 1080, 1129, 1152, 1158, 1159, 1160, 1161, 1184, 1203, 1226, 1317, 1927, 2006, 2013, 3032, 3168, 3169,
  4031,
]);

/** The server has become a replica: another connection may reach the new primary. */
const READ_ONLY = new Set([1290, 1792, 1836]);

/** The connection is gone or of no further use: everything that is not the server's answer, and its farewells. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === 'connection_lost';
  const number = errorNumber(error);
  return number === undefined || FAREWELLS.has(number);
}

export function isReadOnlyError(error: unknown): boolean {
  return READ_ONLY.has(errorNumber(error) ?? 0);
}

/** The error to show, without the secrets and without the driver's error, which repeats the statement. */
export function toDatabaseError(error: unknown, secrets: Readonly<Record<string, string>>): Error {
  if (error instanceof DatabaseError) return error;
  const text = hideSecrets(errorText(error), secrets);
  if (isConnectionError(error)) return new ConnectionLost(`connection to the database was lost: ${text}`);
  return new StatementFailed(text, { serverCode: String(errorNumber(error)) });
}

/** From this many bytes on a quotation has probably been cut: servers quote 80, and whole characters; MariaDB sets dots behind. */
const CUT_FROM = 76;

/** Syntax errors quote the statement from where it went wrong, and cut it: perhaps in the middle of a password. */
export function hideSecrets(text: string, secrets: Readonly<Record<string, string>>): string {
  const asWritten = Object.fromEntries(Object.entries(secrets).map(([label, secret]) => [label, escaped(secret)]));
  const whole = redact(redact(text, asWritten), secrets);
  return whole.replace(/ near '([^]*)'( at line \d+)$/, (_, quoted: string, line: string) => ` near '${hideCut(quoted, secrets)}'${line}`);
}

function hideCut(quoted: string, secrets: Readonly<Record<string, string>>): string {
  if (Buffer.byteLength(quoted) < CUT_FROM) return quoted;
  const [, text = '', dots = ''] = /^([^]*?)(\.\.\.)?$/.exec(quoted)!;
  for (const [label, secret] of Object.entries(secrets)) {
    for (const form of [escaped(secret), secret]) {
      for (let length = Math.min(form.length, text.length); length > 0; length--) {
        if (text.endsWith(form.slice(0, length))) return `${text.slice(0, -length)}[${label}]${dots}`;
      }
    }
  }
  return quoted;
}

/** As a value stands in a statement. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "''");
}

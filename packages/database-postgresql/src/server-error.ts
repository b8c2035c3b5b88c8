import { driverErrorText, type LoginFailure } from '@strongroom/database-sdk';
import pg from 'pg';

/** Dependent objects still exist: the one error whose detail an operator cannot do without. */
const DEPENDENT_OBJECTS = '2BP01';
const WRONG_PASSWORD = '28P01';
/** The server knows the user, or does not let it in from here, and says so before or after the password: no privilege, no such database, no place. */
const BARRED = new Set(['28000', '42501', '3D000', '53300', '55000']);

/** The SQLSTATE of a server's error. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** `ERROR: syntax error at or near "BOGUS" (SQLSTATE 42601)`, or the driver's own words. */
export function errorText(error: unknown): string {
  return driverErrorText(error, (one) => {
    if (!(one instanceof pg.DatabaseError)) return undefined;
    const detail = one.code === DEPENDENT_OBJECTS && one.detail ? `: ${one.detail.replaceAll('\n', ', ')}` : '';
    return `${one.severity}: ${one.message}${detail} (SQLSTATE ${one.code})`;
  });
}

/** What a failure to log in says about the credential. */
export function loginFailure(error: unknown): LoginFailure {
  const state = sqlState(error);
  if (state === WRONG_PASSWORD) return 'credential';
  return BARRED.has(state ?? '') ? 'barred' : 'unreachable';
}

/** The SQLSTATE of a refusal. Undefined where the connection is of no further use: what is not the server's answer, and its farewells. */
export function refusal(error: unknown): string | undefined {
  const state = sqlState(error);
  return state?.startsWith('08') || state?.startsWith('57P') ? undefined : state;
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

import { serverAnswers } from '@strongroom/database-knex';
import pg from 'pg';

/** Dependent objects still exist: the one error whose detail an operator cannot do without. */
const DEPENDENT_OBJECTS = '2BP01';

/** Codes are SQLSTATEs. */
export const answers = serverAnswers({
  code: (error) => (error instanceof pg.DatabaseError ? error.code : undefined),
  /** `ERROR: syntax error at or near "BOGUS" (SQLSTATE 42601)` */
  text(error) {
    if (!(error instanceof pg.DatabaseError)) return undefined;
    const detail = error.code === DEPENDENT_OBJECTS && error.detail ? `: ${error.detail.replaceAll('\n', ', ')}` : '';
    return `${error.severity}: ${error.message}${detail} (SQLSTATE ${error.code})`;
  },
  credential: ['28P01'],
  barred: ['28000', '42501', '3D000', '53300', '55000'],
  isFarewell: (state) => /^(?:08|57P)/.test(String(state)),
});

/**
 * Two sessions changed the same catalogue row, or waited for each other. The transaction was rolled back, and trying it again is right.
 * Grants on one table or schema from several sessions end this way.
 */
export function isCollision(error: unknown): boolean {
  const state = answers.code(error);
  if (state === '40001' || state === '40P01') return true;
  return state === 'XX000' && /tuple concurrently (updated|deleted)/.test((error as Error).message);
}

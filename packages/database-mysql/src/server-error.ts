import { serverAnswers } from '@strongroom/database-knex';

/** What the server answered, as the driver passes it on. Its `sql` repeats the statement, so the error itself is never shown. */
type ServerError = Error & { readonly errno: number; readonly sqlState?: string; readonly sqlMessage: string };

export const ER = { badField: '1054', noSuchThread: '1094', accessDenied: ['1142', '1143'], cannotUser: '1396' } as const;

/** The server ends the session, or shuts down, or takes no more. */
const FAREWELLS =
  /^(?:1040|1042|1043|1053|1077|1079|1080|1129|1152|1158|1159|1160|1161|1184|1203|1226|1317|1927|2006|2013|3032|3168|3169|4031)$/;

function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number' && error.errno > 0 && 'sqlMessage' in error;
}

/** Codes are the numbers of the server's errors. */
export const answers = serverAnswers({
  code: (error) => (isServerError(error) ? error.errno : undefined),
  /** `Error 1064 (42000): You have an error …` */
  text: (error) =>
    isServerError(error) ? `Error ${error.errno}${error.sqlState ? ` (${error.sqlState})` : ''}: ${error.sqlMessage}` : undefined,
  credential: [1045],
  barred: [1044, 1049, 1130, 1203, 1226, 1698, 1820, 1862, 3118, 4151],
  isFarewell: (number) => FAREWELLS.test(String(number)),
});

/** The server has become a replica: another connection may reach the new primary. */
export function isReadOnlyError(error: unknown): boolean {
  return ['1290', '1792', '1836'].includes(answers.code(error) ?? '');
}

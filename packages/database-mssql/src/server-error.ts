import { serverAnswers } from '@strongroom/database-knex';
import { driverErrorText } from '@strongroom/database-sdk';

/** From this severity on the server ends the connection. */
const FATAL = 20;

/** A database that is away, a server that shuts down, a session that was killed: on Azure some of them come with a low severity. */
const FAREWELLS = new Set<unknown>([596, 601, 617, 4060, 6005, 10_928, 10_929, 40_197, 40_501, 40_613, 49_918, 49_919, 49_920]);

/** What Node 24 and later say when tedious has them check a certificate for an IP address. */
const ADDRESS_AS_NAME = /The property 'options\.servername' Setting the TLS ServerName to an IP address is not permitted.*/s;
const REMEDY = 'its certificate cannot be checked for an IP address: set hostNameInCertificate to a host name of the certificate';

function isServerError(error: unknown): error is Error & { readonly number: number } {
  return error instanceof Error && 'number' in error && typeof error.number === 'number';
}

/** Codes are the numbers of the server's errors. */
export const answers = serverAnswers({
  code: (error) => (isServerError(error) ? error.number : undefined),
  /** `mssql: Incorrect syntax near 'BOGUS'. (102)`. The driver wraps what the network says, more than once. */
  text(error) {
    if (isServerError(error)) return `mssql: ${error.message} (${error.number})`;
    if (!(error instanceof Error) || error.cause === undefined) return undefined;
    const [text, reason] = [driverErrorText(error), answers.errorText(error.cause)];
    return (reason === '' || text.includes(reason) ? text : `${text}: ${reason}`).replace(ADDRESS_AS_NAME, REMEDY);
  },
  credential: [18_456],
  barred: [4060, 4064, 18_450, 18_452, 18_470, 18_486, 18_487, 18_488, 40_615],
  isFarewell: (number, error) => FAREWELLS.has(number) || ((error as { class?: number }).class ?? 0) >= FATAL,
});

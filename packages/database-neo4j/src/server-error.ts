import { ConnectionLost, DatabaseError, driverErrorText, type LoginFailure, redact, StatementFailed } from '@strongroom/database-sdk';

const SECURITY = 'Neo.ClientError.Security.';
const UNAUTHORIZED = `${SECURITY}Unauthorized`;
const PASSWORD_EXPIRED = `${SECURITY}CredentialsExpired`;
const RATE_LIMIT = `${SECURITY}AuthenticationRateLimit`;
const ENTERPRISE_ONLY = 'Neo.ClientError.Statement.UnsupportedAdministrationCommand';

/** Words of the server where a password is to be changed to itself: it has been changed before, and the answer was lost. */
const SAME_PASSWORD = /Old password and new password cannot be the same/;

/** The code of the server's answer, such as `Neo.ClientError.Statement.SyntaxError`; undefined for what the driver or the network says. */
function serverCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && code.startsWith('Neo.') ? code : undefined;
}

/** Whether the server refuses a change only because the user has this password already. */
export function hasPasswordAlready(error: unknown): boolean {
  return serverCode(error) !== undefined && SAME_PASSWORD.test((error as Error).message);
}

/** The error to show, without secrets, and without the driver's own error, which may repeat a statement. `address`: of the server, for messages. */
export function toDatabaseError(error: unknown, address: string, secrets: Readonly<Record<string, string>>): Error {
  if (error instanceof DatabaseError) return error;
  const code = serverCode(error);
  const text = redact(errorText(error), secrets);
  const login = loginFailure(code);
  if (login !== undefined) return new ConnectionLost(`failed to log in to ${address}: ${text}`, { login });
  if (code === undefined) return new ConnectionLost(`no answer from ${address}: ${text}`, { unsent: isNotConnected(error) });
  if (code.startsWith('Neo.TransientError.')) return new ConnectionLost(`${address} did not carry the statement out: ${text} (${code})`);
  return new StatementFailed(text, { serverCode: code });
}

/** What the server's refusal of a login says about the credential. */
function loginFailure(code: string | undefined): LoginFailure | undefined {
  if (code === UNAUTHORIZED) return 'credential';
  return code === PASSWORD_EXPIRED || code === RATE_LIMIT ? 'barred' : undefined;
}

function errorText(error: unknown): string {
  switch (serverCode(error)) {
    case PASSWORD_EXPIRED:
      return "the server demands that this user change its password first: ALTER CURRENT USER SET PASSWORD FROM '…' TO '…'";
    case RATE_LIMIT:
      return 'the server refuses this user for some seconds, because of wrong passwords';
    case ENTERPRISE_ONLY:
      return "the server runs Neo4j's Community Edition, which has no roles and privileges: GRANT, DENY and REVOKE need the Enterprise Edition. In the Community Edition every user has all rights";
    default:
      return withoutAdvice(driverErrorText(error));
  }
}

/** The driver gives advice to programmers; what went wrong comes last. */
function withoutAdvice(text: string): string {
  const cause = text.replace(/^Failed to connect to server\.[^]*?Caused by: /, '');
  const [, certificate] = /^Server certificate is not trusted[^]*Socket responded with: ([^]*)$/.exec(cause) ?? [];
  return certificate === undefined ? cause : `the server's certificate is not trusted: ${certificate}`;
}

/** No connection was made, so that nothing was sent. */
function isNotConnected(error: unknown): boolean {
  return error instanceof Error && /^(?:Failed to connect to server|Could not perform discovery)/.test(error.message);
}

import { ConnectionLost, DatabaseError, type LoginFailure, redact, StatementFailed } from '@strongroom/database-sdk';

export type Secrets = Readonly<Record<string, string>>;

/** From here on the protocol's error codes say that a statement was refused; below, that a node could not or did not do it. */
const FIRST_REFUSAL = 0x2000;
/** Codes of refusals. */
export const UNAUTHORIZED = 0x2100;
export const INVALID = 0x2200;

interface ServerError extends Error {
  readonly code: number;
}

/** The answer of a node, as opposed to what the driver or the network says. */
export function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && error.name === 'ResponseError' && 'code' in error && typeof error.code === 'number';
}

const BAD_CREDENTIALS = 0x0100;

/** What a failure to log in says about the credential: of several nodes, one that was reached and refused it. */
export function loginFailure(error: unknown): LoginFailure {
  if (error instanceof Error && 'innerErrors' in error && error.innerErrors && typeof error.innerErrors === 'object') {
    const nodes = Object.values(error.innerErrors).map(loginFailure);
    if (nodes.length > 0) return (['credential', 'barred'] as const).find((failure) => nodes.includes(failure)) ?? 'unreachable';
  }
  if (error instanceof Error && error.name === 'AuthenticationError') return 'credential';
  if (!isServerError(error)) return 'unreachable';
  return error.code === BAD_CREDENTIALS ? 'credential' : error.code >= FIRST_REFUSAL ? 'barred' : 'unreachable';
}

/** What happened at each node, or the driver's words; never the traces that the driver puts into its messages. */
export function errorText(error: unknown): string {
  if (error instanceof Error && 'innerErrors' in error && error.innerErrors && typeof error.innerErrors === 'object') {
    const nodes = Object.entries(error.innerErrors).map(([node, inner]) => `${node}: ${errorText(inner)}`);
    if (nodes.length > 0) return nodes.join('; ');
  }
  return error instanceof Error ? error.message || String('code' in error ? error.code : error.name) : String(error);
}

/** The error to show, without secrets and without the driver's own error, which repeats statements. */
export function toDatabaseError(error: unknown, secrets: Secrets): Error {
  if (error instanceof DatabaseError) return error;
  const text = redact(errorText(error), secrets);
  if (!isServerError(error)) return new ConnectionLost(`connection to the database was lost: ${text}`);
  const code = `0x${error.code.toString(16).padStart(4, '0')}`;
  if (error.code < FIRST_REFUSAL) return new ConnectionLost(`the cluster did not answer for the statement: ${text} (${code})`);
  return new StatementFailed(text, { serverCode: code });
}

/** What went wrong, for hosts: error classes may come from another copy of this package, so decide by `code`. */
export type DatabaseErrorCode =
  | 'configuration_invalid'
  | 'verification_failed'
  | 'connection_lost'
  | 'statement_invalid'
  | 'statement_failed'
  | 'credential_unsupported'
  | 'session_closed';

/** Base of all errors of plugins. The message reaches operators, so it never holds a password. */
export class DatabaseError extends Error {
  readonly code: DatabaseErrorCode;

  constructor(code: DatabaseErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The connection's settings cannot work, whatever the server says. The operator's mistake. */
export class ConfigurationInvalid extends DatabaseError {
  constructor(message: string, options?: ErrorOptions) {
    super('configuration_invalid', message, options);
  }
}

/**
 * Why there is no login. `credential`: the server was reached and says that the credential is wrong. `barred`: it was reached and refuses this user for another
 * reason, so that nothing is known about the credential. `unreachable`: it was not reached.
 */
export type LoginFailure = 'credential' | 'barred' | 'unreachable';

/** `verify` did not succeed: no route, no login, no TLS. Message: `error verifying connection: …`. */
export class VerificationFailed extends DatabaseError {
  /** Undefined where the plugin cannot tell. */
  readonly login: LoginFailure | undefined;

  constructor(detail: string, options?: ErrorOptions & { login?: LoginFailure | undefined; prefix?: string }) {
    super('verification_failed', `${options?.prefix ?? 'error verifying connection'}: ${detail}`, options);
    this.login = options?.login;
  }
}

/** The server could not be reached, or went away before it answered. What was being done may or may not have happened. */
export class ConnectionLost extends DatabaseError {
  /** No connection was made, so that nothing of what was asked for was sent. */
  readonly unsent: boolean;
  /** Why it was not made, where the plugin can tell. */
  readonly login: LoginFailure | undefined;

  constructor(detail: string, options?: ErrorOptions & { unsent?: boolean; login?: LoginFailure | undefined }) {
    super('connection_lost', detail, options);
    this.login = options?.login;
    this.unsent = options?.unsent ?? options?.login !== undefined;
  }
}

/** The error of a step, where a step before it was through: it no longer says that nothing was sent. */
export function sentBefore(error: unknown): unknown {
  if (!isDatabaseError(error, 'connection_lost') || (error as ConnectionLost).unsent !== true) return error;
  const { login } = error as ConnectionLost;
  return new ConnectionLost(error.message, { cause: error.cause, login, unsent: false });
}

/** Why a login failed, as the error of a plugin says; undefined where it does not say. */
export function loginFailureOf(error: unknown): LoginFailure | undefined {
  if (!isDatabaseError(error, 'verification_failed') && !isDatabaseError(error, 'connection_lost')) return undefined;
  const { login } = error as VerificationFailed | ConnectionLost;
  return login === 'credential' || login === 'barred' || login === 'unreachable' ? login : undefined;
}

/** The statements cannot be used as they stand; nothing was sent. The operator's mistake. */
export class StatementInvalid extends DatabaseError {
  constructor(message: string, options?: ErrorOptions) {
    super('statement_invalid', message, options);
  }
}

/** The database refused a statement. Message: `failed to execute query: …`. */
export class StatementFailed extends DatabaseError {
  /** The database's own code: an SQLSTATE, an error number. */
  readonly serverCode: string | undefined;

  constructor(detail: string, options?: ErrorOptions & { serverCode?: string | undefined; prefix?: string }) {
    super('statement_failed', `${options?.prefix ?? 'failed to execute query'}: ${detail}`, options);
    this.serverCode = options?.serverCode;
  }
}

/** The plugin cannot install this kind of credential. */
export class CredentialUnsupported extends DatabaseError {
  constructor(plugin: string, type: string) {
    super('credential_unsupported', `${plugin} does not support credential_type "${type}"`);
  }
}

/** The session was used after `close`. */
export class SessionClosed extends DatabaseError {
  constructor(message = 'the database connection is closed') {
    super('session_closed', message);
  }
}

const CODES: readonly string[] = [
  'configuration_invalid',
  'verification_failed',
  'connection_lost',
  'statement_invalid',
  'statement_failed',
  'credential_unsupported',
  'session_closed',
] satisfies DatabaseErrorCode[];

/** Whether `error` is one of the errors above, whichever copy of this package made it; with `code`, whether it is that one. */
export function isDatabaseError(error: unknown, code?: DatabaseErrorCode): error is DatabaseError {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return code === undefined ? CODES.includes(error.code) : error.code === code;
}

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

/** `verify` did not succeed: no route, no login, no TLS. Message: `error verifying connection: …`. */
export class VerificationFailed extends DatabaseError {
  constructor(detail: string, options?: ErrorOptions) {
    super('verification_failed', `error verifying connection: ${detail}`, options);
  }
}

/** The server could not be reached, or went away before it answered. What was being done may or may not have happened. */
export class ConnectionLost extends DatabaseError {
  constructor(detail: string, options?: ErrorOptions) {
    super('connection_lost', detail, options);
  }
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

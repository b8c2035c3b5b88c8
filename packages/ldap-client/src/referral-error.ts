import { LdapError } from './error.ts';

/** A referral was not followed to its end. `code` and the outcome are those of the request at the server that it led to. */
export class ReferralError extends LdapError {
  override readonly name = 'ReferralError';
  /** The server that it led to, as `ldap://host:port`. */
  readonly server: string;

  constructor(server: string, cause: LdapError) {
    super(cause.code, { ...cause });
    this.server = server;
    this.cause = cause;
    this.message = `the referral to ${server}: ${cause.message.trim()}`;
  }
}

/** The same error where a server of the settings is meant, where the caller gave up, and where the error says of a referral already. */
export function referredError(server: string | undefined, error: unknown): unknown {
  if (server === undefined || !(error instanceof LdapError) || error instanceof ReferralError || error.code === 'ABORTED') return error;
  return new ReferralError(server, error);
}

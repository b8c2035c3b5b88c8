import { BadRequest, UpstreamFailed, type EngineError } from '@strongroom/engine-sdk';
import { LdapDialError, LdapError, ReferralError, resultCode } from '@strongroom/ldap-client';

const refused = 'ldap operation failed: failed to bind as user';

/** The name or the password is wrong; the answer does not say which. Counted by the lockout. */
export function credentialsRefused(): BadRequest {
  return new BadRequest(refused);
}

/** No fault of the caller: a status of 5xx, so that the lockout does not count it against the user. */
export function directoryFailed(error: unknown, otherwise = refused): EngineError {
  if (error instanceof ReferralError)
    return new UpstreamFailed(`ldap operation failed: the referral to ${error.server} could not be followed`, { cause: error });
  return new UpstreamFailed(unreachable(error) ? 'ldap operation failed: failed to connect to LDAP server' : otherwise, { cause: error });
}

/** Whether no server could be reached, as opposed to one that answered or broke off. */
export function unreachable(error: unknown): boolean {
  return error instanceof LdapDialError;
}

const operationsError = 1;
const strongAuthRequired = 8;
const confidentialityRequired = 13;
const other = 80;
const outages = new Set<number>([
  operationsError,
  strongAuthRequired,
  confidentialityRequired,
  resultCode.busy,
  resultCode.unavailable,
  other,
]);

/** Whether a bind failed for what the user sent, as opposed to an outage or the directory's rules about connections. */
export function refusesUser(error: unknown): boolean {
  if (!(error instanceof LdapError)) return false;
  return error.code === 'EMPTY_PASSWORD' || (typeof error.code === 'number' && !outages.has(error.code));
}

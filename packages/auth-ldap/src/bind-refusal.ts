import { LdapError } from '@strongroom/ldap-client';

/** What Active Directory means by the `data` of its refusals: Windows' error codes, in hexadecimal. */
const meanings: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '525': 'there is no such user',
    '52e': 'the name or the password is wrong',
    '52f': 'the account is restricted',
    '530': 'the account may not log in at this time',
    '531': 'the account may not log in from here',
    '532': 'the password has expired',
    '533': 'the account is disabled',
    '568': 'the account is in too many groups',
    '701': 'the account has expired',
    '773': 'the password must be changed first',
    '775': 'the account is locked',
  }),
);

/** Why a directory refused a bind, where it says so: for the operator alone, since it tells that the user exists. */
export function refusalReason(error: unknown): string | undefined {
  if (!(error instanceof LdapError)) return undefined;
  const [, code] = /\bAcceptSecurityContext error, data ([0-9a-f]+)\b/i.exec(error.diagnosticMessage) ?? [];
  return code === undefined ? undefined : meanings.get(code.toLowerCase());
}

import type { LdapEntry } from '@strongroom/ldap-client';

/** What tells whether an account may still log in: Active Directory's, OpenLDAP's and 389 Directory Server's attributes. */
export const accountAttributes = [
  'userAccountControl',
  'msDS-User-Account-Control-Computed',
  'lockoutTime',
  'accountExpires',
  'pwdAccountLockedTime',
  'pwdPolicySubentry',
  'nsAccountLock',
] as const;

/** What identifies an entry for ever: a name may be given to somebody else. */
export const identityAttributes = ['entryUUID', 'objectGUID'] as const;

const DISABLED = 0x2;
const LOCKED_OUT = 0x10;
const PASSWORD_EXPIRED = 0x80_0000;
/** 1601-01-01 to 1970-01-01 in milliseconds: Active Directory counts from there, in units of 100 ns. */
const EPOCH_1601 = 11_644_473_600_000n;

/**
 * Why the account may not log in; undefined when nothing readable says so. `lockoutMillis`: how long a lock of OpenLDAP lasts, where that is known;
 * 0 and undefined stand for ever.
 */
export function accountProblem(entry: LdapEntry, now: number, lockoutMillis = 0): string | undefined {
  if (flags(entry, 'userAccountControl') & DISABLED) return 'the account is disabled';
  const computed = entry.first('msDS-User-Account-Control-Computed');
  if (computed === undefined ? whole(entry.first('lockoutTime')) > 0n : flags(entry, 'msDS-User-Account-Control-Computed') & LOCKED_OUT) {
    return 'the account is locked';
  }
  if (flags(entry, 'msDS-User-Account-Control-Computed') & PASSWORD_EXPIRED) return 'the password has expired';
  const expires = whole(entry.first('accountExpires'));
  if (expires > 0n && expires / 10_000n - EPOCH_1601 <= BigInt(now)) return 'the account has expired';
  const locked = entry.first('pwdAccountLockedTime');
  if (locked !== undefined && !(lockoutMillis > 0 && lockTime(locked) + lockoutMillis <= now)) return 'the account is locked';
  if (entry.first('nsAccountLock')?.toLowerCase() === 'true') return 'the account is locked';
  return undefined;
}

/** Of the lock that OpenLDAP leaves on the entry until the next bind, also when its time has passed; Infinity for one without an end. */
export function lockTime(value: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:[.,]\d+)?Z$/.exec(value) ?? [];
  if (second === undefined) return Infinity;
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  return Number(year) === 0 ? Infinity : at;
}

/** Undefined when the directory does not show it. */
export function identityOf(entry: LdapEntry): string | undefined {
  for (const name of identityAttributes) {
    const value = entry.buffers(name)[0];
    if (value) return `${name}:${value.toString('base64')}`;
  }
  return undefined;
}

function flags(entry: LdapEntry, name: string): number {
  return Number(whole(entry.first(name)) & 0xffff_ffffn);
}

function whole(text: string | undefined): bigint {
  return text !== undefined && /^-?\d{1,20}$/.test(text) ? BigInt(text) : 0n;
}

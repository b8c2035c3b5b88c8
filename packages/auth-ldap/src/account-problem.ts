import { LdapError, type LdapEntry, type ServiceBinding } from '@strongroom/ldap-client';
import { accountProblem, lockTime } from './account-state.ts';
import { onPool } from './lender.ts';
import { directoryFailed } from './failures.ts';
import type { Setup } from './setup.ts';
import type { Trace } from './trace.ts';

/** Why the account may not log in, by its entry and, for a lock of OpenLDAP, by the password policy that the entry names. */
export async function problemOf(
  setup: Setup,
  searcher: ServiceBinding,
  entry: LdapEntry,
  now: number,
  trace: Trace,
  signal: AbortSignal,
): Promise<string | undefined> {
  const problem = accountProblem(entry, now);
  const policy = entry.first('pwdPolicySubentry');
  const locked = entry.first('pwdAccountLockedTime');
  if (problem === undefined || policy === undefined || locked === undefined || lockTime(locked) === Infinity) return problem;
  return accountProblem(entry, now, await lockoutMillis(setup, searcher, { policy, server: entry.server }, trace, signal));
}

/** 0 where the account that searches may not read it. @throws UpstreamFailed when the directory cannot tell. */
async function lockoutMillis(
  setup: Setup,
  searcher: ServiceBinding,
  { policy, server }: { readonly policy: string; readonly server: string | undefined },
  trace: Trace,
  signal: AbortSignal,
): Promise<number> {
  const since = trace.start();
  const request = { base: policy, scope: 'base', filter: '(objectClass=*)', attributes: ['pwdLockoutDuration'], signal, server } as const;
  try {
    const [found] = await onPool(setup, searcher, signal)(async (connection) => connection.search(request));
    const seconds = Number(found?.first('pwdLockoutDuration') ?? 0);
    return Number.isSafeInteger(seconds) ? seconds * 1_000 : 0;
  } catch (error) {
    if (error instanceof LdapError && error.answered) return 0;
    throw trace.failed('account', since, { base: policy }, error, directoryFailed(error));
  }
}

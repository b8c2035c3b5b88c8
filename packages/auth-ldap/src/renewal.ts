import { InvalidRequest, type AuthRenewal, type RenewedAuth } from '@strongroom/engine-sdk';
import type { LdapEntry } from '@strongroom/ldap-client';
import { accountAttributes, identityAttributes, identityOf } from './account-state.ts';
import { loginName, onPool, spelling } from './directory-login.ts';
import { searchGroups } from './group-search.ts';
import { problemOf } from './account-problem.ts';
import type { Mappings } from './mappings.ts';
import type { Setup } from './setup.ts';
import type { Trace } from './trace.ts';
import { findUser } from './user-search.ts';

/** Kept with the token. No password: a renewal looks the user up instead of binding again. */
export interface LoginInternal {
  /** As given at login. */
  readonly username: string;
  readonly identity?: string;
  /** The groups of the login, where a renewal has no account of its own to search with. */
  readonly groups?: readonly string[];
}

/**
 * Checks that the user is still there and may still log in, and that a login would give the same policies.
 * @throws InvalidRequest when not, UpstreamFailed when the directory cannot tell.
 */
export async function renew(setup: Setup, mappings: Mappings, auth: AuthRenewal, now: number, trace: Trace): Promise<RenewedAuth> {
  const { config, terms } = setup;
  const internal = auth.internal as unknown as LoginInternal;
  const name = loginName(setup, internal.username);
  let groups = internal.groups ?? [];
  if (setup.searcher) {
    const entry = await presentUser(setup, internal, now, trace, auth.signal);
    if (!setup.searchesGroups) groups = [];
    else if (setup.groupSearcher) {
      const member = { dn: entry.dn, username: spelling(setup, entry, name.typed) };
      groups = await searchGroups(setup, onPool(setup, setup.groupSearcher, auth.signal), member, trace, auth.signal);
    }
  }
  const { policies, localGroups } = await mappings.of(name.mapped, groups, config.case_sensitive_names);
  if (!sameBarDefault([...config.token_policies, ...policies], auth.policies)) throw refused('policies have changed, not renewing');
  return { ttl: terms.ttl, maxTtl: terms.maxTtl, period: terms.period, groupAliases: [...new Set([...localGroups, ...groups])] };
}

async function presentUser(setup: Setup, internal: LoginInternal, now: number, trace: Trace, signal: AbortSignal): Promise<LdapEntry> {
  const attributes = [setup.userAttribute, ...identityAttributes, ...accountAttributes];
  let entry: LdapEntry;
  try {
    entry = await findUser(setup, setup.searcher!, internal.username.trim(), attributes, trace, signal);
  } catch (error) {
    throw error instanceof Error && 'status' in error && error.status === 400 ? refused('the user is no longer in the directory') : error;
  }
  const since = trace.start();
  const identity = identityOf(entry);
  const another = internal.identity !== undefined && identity !== undefined && identity !== internal.identity;
  const problem = another ? 'the name belongs to another entry now' : await problemOf(setup, setup.searcher!, entry, now, trace, signal);
  if (problem !== undefined) throw trace.failed('account', since, { name: entry.dn }, problem, refused('the user may no longer log in'));
  return entry;
}

/** The wire's text. There it has status 500, but nothing failed. */
function refused(reason: string): InvalidRequest {
  return new InvalidRequest(`failed to renew entry: ${reason}`);
}

function sameBarDefault(granted: readonly string[], held: readonly string[]): boolean {
  const a = policySet(granted);
  const b = policySet(held);
  return a.size === b.size && [...a].every((name) => b.has(name));
}

function policySet(names: readonly string[]): Set<string> {
  const set = new Set(names.map((name) => name.trim().toLowerCase()));
  set.delete('default');
  set.delete('');
  return set;
}

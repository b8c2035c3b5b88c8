import { renewalRefused, renewedBy, samePolicies } from '@strongroom/auth-sdk';
import { BadRequest, type AuthRenewal, type RenewedAuth } from '@strongroom/engine-sdk';
import { accountAttributes, identityAttributes, identityOf } from './account-state.ts';
import { onPool } from './lender.ts';
import { searchGroups } from './group-search.ts';
import { problemOf } from './account-problem.ts';
import type { LoginRecords } from './login-records.ts';
import { loginName, type LoginName } from './login-name.ts';
import { userName } from './mappings.ts';
import { provenName, recall } from './person.ts';
import type { Setup } from './setup.ts';
import type { Trace } from './trace.ts';
import { findUser, type FoundUser } from './user-search.ts';

/** Kept with the token. No password: a renewal looks the user up instead of binding again. */
export interface LoginInternal {
  /** As given at login, without the domain. */
  readonly username: string;
  /** The directory's, folded, where no search finds the user. Tokens of earlier versions have none. */
  readonly name?: string;
  readonly identity?: string;
  /** The groups of the login, where a renewal has no account of its own to search with. */
  readonly groups?: readonly string[];
}

/**
 * Checks that the user is still there and may still log in, and that a login would give the same policies.
 * @throws InvalidRequest when not, UpstreamFailed when the directory cannot tell.
 */
export async function renew(
  setup: Setup,
  { mappings, names }: LoginRecords,
  auth: AuthRenewal,
  now: number,
  trace: Trace,
): Promise<RenewedAuth> {
  const { config } = setup;
  const internal = auth.internal as unknown as LoginInternal;
  const name = loginName(config, internal.username);
  let groups = internal.groups ?? [];
  let { folded } = name;
  if (setup.searcher) {
    const found = await recall(setup, await presentUser(setup, internal, name, now, trace, auth.signal), names);
    const person = await provenName(setup, setup.searcher, found, name, auth.signal);
    ({ folded } = person);
    if (!setup.searchesGroups) groups = [];
    else if (setup.groupSearcher) {
      const member = { dn: found.entry.dn, server: found.entry.server, username: person.verbatim };
      groups = await searchGroups(setup, onPool(setup, setup.groupSearcher, auth.signal), member, trace, auth.signal);
    }
  } else if (internal.name !== undefined) {
    folded = userName(internal.name, config.case_sensitive_names);
  }
  const { policies, localGroups } = await mappings.of(folded, groups, config.case_sensitive_names);
  if (!samePolicies([...config.token_policies, ...policies], auth.policies)) throw renewalRefused('policies have changed, not renewing');
  return { ...renewedBy(config), groupAliases: [...new Set([...localGroups, ...groups])] };
}

async function presentUser(
  setup: Setup,
  internal: LoginInternal,
  name: LoginName,
  now: number,
  trace: Trace,
  signal: AbortSignal,
): Promise<FoundUser> {
  let found: FoundUser;
  try {
    found = await findUser(setup, setup.searcher!, name.typed, [...identityAttributes, ...accountAttributes], trace, signal);
  } catch (error) {
    throw error instanceof BadRequest ? renewalRefused('the user is no longer in the directory') : error;
  }
  const { entry } = found;
  const since = trace.start();
  const identity = identityOf(entry);
  const another = internal.identity !== undefined && identity !== undefined && identity !== internal.identity;
  const problem = another ? 'the name belongs to another entry now' : await problemOf(setup, setup.searcher!, entry, now, trace, signal);
  if (problem !== undefined)
    throw trace.failed('account', since, { name: entry.dn }, problem, renewalRefused('the user may no longer log in'));
  return found;
}

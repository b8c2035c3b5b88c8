import { escapeFilterValue, LdapError, resultCode, type LdapEntry, type ServiceBinding } from '@strongroom/ldap-client';
import { credentialsRefused, directoryFailed, unreachable } from './failures.ts';
import type { Setup } from './setup.ts';
import type { Trace } from './trace.ts';

/**
 * The one entry that the user filter finds.
 * @throws BadRequest when there is none or more than one, UpstreamFailed when the search is not possible.
 */
export async function findUser(
  setup: Setup,
  searcher: ServiceBinding,
  username: string,
  attributes: readonly string[],
  trace: Trace,
  signal?: AbortSignal,
): Promise<LdapEntry> {
  const { config, directory } = setup;
  let since = trace.start();
  let facts: { base: string; filter?: string } = { base: config.userdn };
  let bound = false;
  let entries: LdapEntry[];
  try {
    const filter = setup.renderUserFilter(filterData(setup, username));
    facts = { base: config.userdn, filter };
    entries = await directory.withServiceConnection(
      searcher,
      (connection) => {
        bound = true;
        since = trace.start();
        return connection.search({ base: config.userdn, filter, attributes, sizeLimit: 2, derefAliases: setup.dereference, signal });
      },
      { signal, idempotent: true },
    );
  } catch (error) {
    if (error instanceof LdapError && error.code === resultCode.sizeLimitExceeded) {
      throw trace.failed('user search', since, facts, 'more than two entries', credentialsRefused());
    }
    if (unreachable(error)) throw trace.failed('connect', since, {}, error, directoryFailed(error));
    const unbound = facts.filter !== undefined && !bound;
    throw trace.failed(
      unbound ? 'service bind' : 'user search',
      since,
      unbound ? { name: searcher.dn } : facts,
      error,
      directoryFailed(error),
    );
  }
  const count = entries.length;
  if (count !== 1) throw trace.failed('user search', since, { ...facts, count }, `${count} entries instead of one`, credentialsRefused());
  trace.passed('user search', since, { ...facts, count });
  return entries[0]!;
}

function filterData({ config, userAttribute }: Setup, username: string): { UserAttr: string; Username: string } {
  if (config.upndomain === '') return { UserAttr: userAttribute, Username: escapeFilterValue(username) };
  return { UserAttr: 'userPrincipalName', Username: escapeFilterValue(`${username}@${config.upndomain}`) };
}

import {
  escapeFilterValue,
  LdapError,
  parseFilter,
  resultCode,
  type Filter,
  type LdapEntry,
  type ServiceBinding,
} from '@strongroom/ldap-client';
import { credentialsRefused, directoryFailed, unreachable } from './failures.ts';
import type { Setup } from './setup.ts';
import type { Trace } from './trace.ts';

export interface FoundUser {
  readonly entry: LdapEntry;
  /** The attributes that the filter compared with the name. */
  readonly namedBy: readonly string[];
}

interface SearchNotes {
  /** The filter is made. */
  filtered?(filter: string): void;
  /** The connection is bound; the search begins. */
  bound?(): void;
}

/** At most two entries that the user filter finds for a name, with these attributes and those that hold the name. */
export async function searchUsers(
  { config, directory, dereference, ...setup }: Setup,
  searcher: ServiceBinding,
  username: string,
  attributes: readonly string[],
  signal: AbortSignal | undefined,
  notes: SearchNotes = {},
): Promise<{ entries: LdapEntry[]; namedBy: string[] }> {
  const names = namesSearched(config, setup.userAttribute, username);
  const texts = names.map(({ attribute, value }) => setup.renderUserFilter({ UserAttr: attribute, Username: escapeFilterValue(value) }));
  const text = texts.length === 1 ? texts[0]! : `(|${texts.join('')})`;
  notes.filtered?.(text);
  const parsed = parsedFilter(text);
  // The principal name is what the person is called, whichever name found the entry.
  const namedBy = parsed === undefined ? [] : attributesWith(parsed, Buffer.from(names[0]!.value));
  const filter = parsed ?? text;
  const request = { base: config.userdn, filter, sizeLimit: 2, derefAliases: dereference, signal };
  const asked = [...new Set([...attributes, setup.userAttribute, ...namedBy])];
  const entries = await directory.withServiceConnection(
    searcher,
    (connection) => {
      notes.bound?.();
      return connection.search({ ...request, attributes: asked });
    },
    { signal, idempotent: true },
  );
  return { entries, namedBy };
}

/** What the user filter is rendered with: an entry that any of these finds is meant. */
function namesSearched(
  { upndomain, enable_samaccountname_login }: Setup['config'],
  userAttribute: string,
  username: string,
): readonly { readonly attribute: string; readonly value: string }[] {
  if (upndomain === '') return [{ attribute: userAttribute, value: username }];
  const principal = { attribute: 'userPrincipalName', value: `${username}@${upndomain}` };
  return enable_samaccountname_login ? [principal, { attribute: 'sAMAccountName', value: username }] : [principal];
}

/** Undefined for what does not parse: the search refuses it. */
function parsedFilter(text: string): Filter | undefined {
  try {
    return parseFilter(text);
  } catch {
    return undefined;
  }
}

function attributesWith(whole: Filter, value: Buffer): string[] {
  const found = new Set<string>();
  const visit = (filter: Filter): void => {
    if (filter.kind === 'and' || filter.kind === 'or') filter.filters.forEach(visit);
    else if (filter.kind === 'equal' || filter.kind === 'approx' || filter.kind === 'extensible') {
      if (filter.attribute !== undefined && filter.value.equals(value)) found.add(filter.attribute);
    }
  };
  visit(whole);
  return [...found];
}

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
): Promise<FoundUser> {
  let since = trace.start();
  let facts: { base: string; filter?: string } = { base: setup.config.userdn };
  let bound = false;
  let result: { entries: LdapEntry[]; namedBy: string[] };
  try {
    result = await searchUsers(setup, searcher, username, attributes, signal, {
      filtered: (filter) => (facts = { ...facts, filter }),
      bound: () => {
        bound = true;
        since = trace.start();
      },
    });
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
  const { entries, namedBy } = result;
  const count = entries.length;
  if (count !== 1) throw trace.failed('user search', since, { ...facts, count }, `${count} entries instead of one`, credentialsRefused());
  const entry = entries[0]!;
  trace.passed('user search', since, { ...facts, count, ...(entry.server === undefined ? {} : { url: entry.server }) });
  return { entry, namedBy };
}

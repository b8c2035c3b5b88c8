import { BadRequest, foldName, type EngineRequest, type LoginAlias } from '@strongroom/engine-sdk';
import {
  escapeDnValue,
  escapeFilterValue,
  type Connection,
  type LdapEntry,
  type SearchRequest,
  type ServiceBinding,
} from '@strongroom/ldap-client';
import { identityAttributes, identityOf } from './account-state.ts';
import { credentialsRefused, directoryFailed, refusesUser, unreachable } from './failures.ts';
import { searchGroups, type GroupMember } from './group-search.ts';
import type { LoginName } from './login-name.ts';
import { isTypedSo, nameOfBound, nameOfFound, recall, settledName, tellsNothing, type PersonName } from './person.ts';
import type { RememberedNames } from './remembered-names.ts';
import type { Setup } from './setup.ts';
import type { Trace } from './trace.ts';
import { findUser, type FoundUser } from './user-search.ts';
import { onPool, type Lender } from './lender.ts';

/** Who logged in. */
export interface DirectoryUser {
  readonly dn: string;
  readonly name: PersonName;
  readonly alias: LoginAlias;
  /** In the directory's variant. */
  readonly groups: readonly string[];
  /** See `identityOf`. */
  readonly identity: string | undefined;
}

export interface Credentials {
  readonly name: LoginName;
  readonly password: string;
}

export interface LoginOptions {
  readonly signal?: AbortSignal | undefined;
  /** See `EngineRequest.countAs`. */
  readonly countAs?: EngineRequest['countAs'] | undefined;
  /** Where to note by which name people with several are known; nothing is noted without. */
  readonly names?: RememberedNames | undefined;
}

/**
 * Finds the user, checks the password and collects the groups.
 * @throws BadRequest when the credentials are refused, UpstreamFailed when the directory or the configuration stands in the way.
 */
export async function directoryLogin(
  setup: Setup,
  credentials: Credentials,
  trace: Trace,
  options: LoginOptions = {},
): Promise<DirectoryUser> {
  return setup.searcher
    ? loginWithSearch(setup, setup.searcher, credentials, trace, options)
    : loginByName(setup, credentials, trace, options);
}

interface Known {
  readonly person: PersonName;
  readonly groups: readonly string[];
}

/** A search finds the entry that is bound. */
async function loginWithSearch(
  setup: Setup,
  searcher: ServiceBinding,
  { name, password }: Credentials,
  trace: Trace,
  { signal, countAs, names }: LoginOptions,
): Promise<DirectoryUser> {
  const found = await recall(setup, await findOrPretend(setup, searcher, { name, password }, trace, signal), names);
  const { entry } = found;
  const known = async (connection?: Connection): Promise<Known> => {
    const person = await settledName(setup, searcher, found, name, names, signal);
    return {
      person,
      groups: await groupsOf(setup, connection, { dn: entry.dn, server: entry.server, username: person.verbatim }, trace, signal),
    };
  };
  const bound = async (): Promise<Known> => {
    // Only what the user searches for keeps the user's connection.
    const done = await bindAs(setup, entry, password, trace, signal, async (connection) =>
      setup.searchesGroups && !setup.groupSearcher ? known(connection) : undefined,
    );
    return done ?? known();
  };
  // What the person is called without a doubt is asked for once the password is known to be right: a refusal costs the same for all.
  const supposed = nameOfFound(setup, found, name);
  const proven = (done: Known): boolean => done.person.anyVariant && foldName(done.person.folded) === foldName(supposed);
  const { person, groups } = await (countAs ? countAs(supposed, bound, proven) : bound());
  return { dn: entry.dn, name: person, groups, alias: aliasOfFound(setup, found, person, name, trace), identity: identityOf(entry) };
}

/** The name that is bound is put together from the one given at login. */
async function loginByName(setup: Setup, { name, password }: Credentials, trace: Trace, { signal }: LoginOptions): Promise<DirectoryUser> {
  const bindName = constructedName(setup, name.typed);
  return bindAs(setup, { dn: bindName }, password, trace, signal, async (connection) => {
    const entry = await ownEntry(setup, connection, bindName, name, trace, signal);
    const person = await nameOfBound(setup, connection, entry, name, signal);
    const dn = entry?.dn ?? (setup.config.upndomain === '' ? bindName : '');
    const groups = await groupsOf(setup, connection, { dn, username: person.verbatim }, trace, signal);
    return { dn, name: person, groups, alias: aliasOfBound(setup, person, name), identity: entry && identityOf(entry) };
  });
}

/** `connection` is bound as the user; needed only where the user searches. */
async function groupsOf(
  setup: Setup,
  connection: Connection | undefined,
  user: GroupMember,
  trace: Trace,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  if (!setup.searchesGroups) return [];
  const lend: Lender = setup.groupSearcher ? onPool(setup, setup.groupSearcher, signal) : (work) => work(connection!);
  return searchGroups(setup, lend, user, trace, signal);
}

/** Who is not found has the password checked as well, of an entry that does not exist: the refusal comes after the same requests. */
async function findOrPretend(
  setup: Setup,
  searcher: ServiceBinding,
  { name, password }: Credentials,
  trace: Trace,
  signal: AbortSignal | undefined,
): Promise<FoundUser> {
  try {
    return await findUser(setup, searcher, name.typed, identityAttributes, trace, signal);
  } catch (error) {
    if (error instanceof BadRequest) await bindAsNobody(setup, password, trace, signal);
    throw error;
  }
}

/** @throws UpstreamFailed where a bind of a user would. */
async function bindAsNobody({ config, directory, nobodyDn }: Setup, password: string, trace: Trace, signal?: AbortSignal): Promise<void> {
  const since = trace.start();
  try {
    await directory.verifyUser(nobodyDn, password, { signal, allowUnauthenticated: !config.deny_null_bind });
  } catch (error) {
    if (refusesUser(error)) return;
    throw trace.failed(unreachable(error) ? 'connect' : 'user bind', since, { name: nobodyDn }, error, directoryFailed(error));
  }
}

/** The name that a user binds with when nobody searches for it. */
function constructedName({ config, userAttribute }: Setup, username: string): string {
  if (config.upndomain !== '') return `${escapeDnValue(username)}@${config.upndomain}`;
  const own = `${userAttribute}=${escapeDnValue(username)}`;
  return config.userdn === '' ? own : `${own},${config.userdn}`;
}

/** The password goes to the server where the entry was found. @throws what the work throws; BadRequest where the directory refuses the user. */
async function bindAs<T>(
  setup: Setup,
  { dn: bindName, server }: { readonly dn: string; readonly server?: string | undefined },
  password: string,
  trace: Trace,
  signal: AbortSignal | undefined,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  let since = trace.start();
  let bound = false;
  try {
    return await setup.directory.verifyUser(
      bindName,
      password,
      async (connection) => {
        bound = true;
        trace.passed('user bind', since, { name: bindName, url: connection.url });
        return work(connection);
      },
      { signal, server, allowUnauthenticated: !setup.config.deny_null_bind, onConnection: () => (since = trace.start()) },
    );
  } catch (error) {
    if (bound) throw error;
    const answer = refusesUser(error) ? credentialsRefused() : directoryFailed(error);
    throw trace.failed(unreachable(error) ? 'connect' : 'user bind', since, { name: bindName }, error, answer);
  }
}

/** The entry of who is bound, where the directory shows it. */
async function ownEntry(
  setup: Setup,
  connection: Connection,
  bindName: string,
  { typed }: LoginName,
  trace: Trace,
  signal: AbortSignal | undefined,
): Promise<LdapEntry | undefined> {
  const { config, dereference } = setup;
  const since = trace.start();
  const attributes = ['userPrincipalName', 'sAMAccountName', ...identityAttributes];
  const search = async (request: SearchRequest): Promise<LdapEntry | undefined> => {
    try {
      return (await connection.search({ derefAliases: dereference, ...request, attributes, signal })).at(-1);
    } catch (error) {
      // Without the entry of a principal name no groups can be searched for.
      const needed = config.upndomain !== '' && setup.searchesGroups;
      if (tellsNothing(error) && !needed) return undefined;
      const { base, filter } = request as { base: string; filter?: string };
      const answer = directoryFailed(error, `LDAP search failed for detecting user: ${(error as Error).message}`);
      throw trace.failed('user name search', since, filter === undefined ? { base } : { base, filter }, error, answer);
    }
  };
  if (config.upndomain === '') return search({ base: bindName, scope: 'base', derefAliases: 'never' });
  const by = (attribute: string, value: string) => ({ base: config.userdn, filter: `(${attribute}=${escapeFilterValue(value)})` });
  const principal = by('userPrincipalName', `${typed}@${config.upndomain}`);
  // The last one found counts. An account without a principal name of its own is called so by its account name.
  const entry = (await search(principal)) ?? (await search(by('sAMAccountName', typed)));
  trace.passed('user name search', since, { ...principal, count: entry ? 1 : 0 });
  return entry;
}

/** Names by which a login may find who was known so before: the one that was typed, where this login has proven it. */
function othersOf(name: LoginName, person: PersonName, toAlias: (folded: string) => string): { others?: readonly string[] } {
  return isTypedSo(name, name.folded) && name.folded !== person.folded ? { others: [toAlias(name.folded)] } : {};
}

function aliasOfFound(setup: Setup, { entry }: FoundUser, person: PersonName, name: LoginName, trace: Trace): LoginAlias {
  if (setup.config.username_as_alias) {
    return { name: person.folded, anyVariant: person.anyVariant, ...othersOf(name, person, (folded) => folded) };
  }
  const values = entry.values(setup.userAttribute);
  if (values.length === 1 && values[0] !== '') {
    return { name: values[0]!, anyVariant: person.anyVariant && foldName(values[0]!) === foldName(person.folded) };
  }
  const text =
    values.length === 0
      ? 'LDAP attribute missing for entity alias mapping'
      : `LDAP entity alias attribute ${setup.userAttribute} empty or not unique for entity alias mapping`;
  throw trace.failed('alias', trace.start(), { name: entry.dn, count: values.length }, text, new BadRequest(text));
}

function aliasOfBound(setup: Setup, person: PersonName, name: LoginName): LoginAlias {
  const toAlias = setup.config.username_as_alias ? (folded: string) => folded : (folded: string) => constructedName(setup, folded);
  return { name: toAlias(person.folded), anyVariant: true, ...othersOf(name, person, toAlias) };
}

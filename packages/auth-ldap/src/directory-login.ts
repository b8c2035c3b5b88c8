import { BadRequest } from '@strongroom/engine-sdk';
import { escapeDnValue, escapeFilterValue, type Connection, type LdapEntry, type ServiceBinding } from '@strongroom/ldap-client';
import { identityAttributes, identityOf } from './account-state.ts';
import { credentialsRefused, directoryFailed, refusesUser, unreachable } from './failures.ts';
import { searchGroups } from './group-search.ts';
import type { Setup } from './setup.ts';
import type { Trace } from './trace.ts';
import { findUser } from './user-search.ts';

/** A name as given at login, without spaces around it, and as the mount spells it in mappings. */
export interface LoginName {
  readonly typed: string;
  readonly mapped: string;
}

export function loginName(setup: Setup, username: string): LoginName {
  const typed = username.trim();
  return { typed, mapped: setup.config.case_sensitive_names ? typed : typed.toLowerCase() };
}

/** Who logged in. */
export interface DirectoryUser {
  readonly dn: string;
  readonly alias: string;
  /** In the directory's spelling. */
  readonly groups: readonly string[];
  /** See `identityOf`. */
  readonly identity: string | undefined;
}

export interface Credentials {
  readonly name: LoginName;
  readonly password: string;
}

/**
 * Finds the user, checks the password and collects the groups.
 * @throws BadRequest when the credentials are refused, UpstreamFailed when the directory or the configuration stands in the way.
 */
export async function logIn(setup: Setup, { name, password }: Credentials, trace: Trace, signal?: AbortSignal): Promise<DirectoryUser> {
  const { config } = setup;
  const found = setup.searcher && (await findOrPretend(setup, setup.searcher, { name, password }, trace, signal));
  const bindName = found?.dn ?? constructedName(setup, name.typed);
  const username = spelling(setup, found, name.typed);
  const asUser = setup.searchesGroups && (!setup.groupSearcher || (config.upndomain !== '' && !found));
  let dn = bindName;
  let groups: string[] = [];
  await bindAs(setup, bindName, password, trace, signal, async (connection) => {
    if (!asUser) return;
    if (config.upndomain !== '' && !found) dn = await nameOfPrincipal(setup, connection, name.typed, trace, signal);
    if (!setup.groupSearcher) groups = await searchGroups(setup, onConnection(connection), { dn, username }, trace, signal);
  });
  if (setup.searchesGroups && setup.groupSearcher)
    groups = await searchGroups(setup, onPool(setup, setup.groupSearcher, signal), { dn, username }, trace, signal);
  return { dn, groups, alias: aliasOf(setup, found, name, trace), identity: found && identityOf(found) };
}

/** Who is not found has the password checked as well, of an entry that does not exist: the refusal comes after the same requests. */
async function findOrPretend(
  setup: Setup,
  searcher: ServiceBinding,
  { name, password }: Credentials,
  trace: Trace,
  signal: AbortSignal | undefined,
): Promise<LdapEntry> {
  try {
    return await findUser(setup, searcher, name.typed, [setup.userAttribute, ...identityAttributes], trace, signal);
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

/** How a step gets a connection to search over. */
export type Lender = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

function onConnection(connection: Connection): Lender {
  return (work) => work(connection);
}

export function onPool(setup: Setup, binding: ServiceBinding, signal: AbortSignal | undefined): Lender {
  return (work) => setup.directory.withServiceConnection(binding, work, { signal, idempotent: true });
}

/** The name that a user binds with when nobody searches for it. */
function constructedName({ config, userAttribute }: Setup, username: string): string {
  if (config.upndomain !== '') return `${escapeDnValue(username)}@${config.upndomain}`;
  const own = `${userAttribute}=${escapeDnValue(username)}`;
  return config.userdn === '' ? own : `${own},${config.userdn}`;
}

/** The directory's own spelling of the name, since memberUid and the like differ by case. */
export function spelling(setup: Setup, entry: LdapEntry | undefined, typed: string): string {
  const lower = typed.toLowerCase();
  return entry?.values(setup.userAttribute).find((value) => value.toLowerCase() === lower) ?? typed;
}

async function bindAs(
  setup: Setup,
  bindName: string,
  password: string,
  trace: Trace,
  signal: AbortSignal | undefined,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  let since = trace.start();
  let bound = false;
  try {
    await setup.directory.verifyUser(
      bindName,
      password,
      async (connection) => {
        bound = true;
        trace.passed('user bind', since, { name: bindName, url: connection.url });
        await work(connection);
      },
      { signal, allowUnauthenticated: !setup.config.deny_null_bind, onConnection: () => (since = trace.start()) },
    );
  } catch (error) {
    if (bound) throw error;
    const answer = refusesUser(error) ? credentialsRefused() : directoryFailed(error);
    throw trace.failed(unreachable(error) ? 'connect' : 'user bind', since, { name: bindName }, error, answer);
  }
}

/** The entry of a user principal name; the last one found counts, and none gives an empty name. */
async function nameOfPrincipal(
  { config, dereference }: Setup,
  connection: Connection,
  username: string,
  trace: Trace,
  signal: AbortSignal | undefined,
): Promise<string> {
  const since = trace.start();
  const facts = { base: config.userdn, filter: `(userPrincipalName=${escapeFilterValue(`${username}@${config.upndomain}`)})` };
  try {
    const entries = await connection.search({ ...facts, attributes: ['1.1'], derefAliases: dereference, signal });
    trace.passed('user name search', since, { ...facts, count: entries.length });
    return entries.at(-1)?.dn ?? '';
  } catch (error) {
    const answer = directoryFailed(error, `LDAP search failed for detecting user: ${(error as Error).message}`);
    throw trace.failed('user name search', since, facts, error, answer);
  }
}

function aliasOf(setup: Setup, found: LdapEntry | undefined, name: LoginName, trace: Trace): string {
  if (setup.config.username_as_alias) return name.mapped;
  if (!found) return constructedName(setup, name.mapped);
  const values = found.values(setup.userAttribute);
  if (values.length === 1 && values[0] !== '') return values[0]!;
  const text =
    values.length === 0
      ? 'LDAP attribute missing for entity alias mapping'
      : `LDAP entity alias attribute ${setup.userAttribute} empty or not unique for entity alias mapping`;
  throw trace.failed('alias', trace.start(), { name: found.dn, count: values.length }, text, new BadRequest(text));
}

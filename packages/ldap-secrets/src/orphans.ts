import { noOrphan, removeOrphans, type EngineHost, type Intent, type OrphanRemover, type RemovedOrphans } from '@strongroom/engine-sdk';
import {
  type Connection,
  type LdapEntry,
  LdapError,
  accountIdentity,
  directoryFailed,
  identityAttributes,
  resultCode,
  sameDn,
  serverUrls,
  textOf,
} from '@strongroom/ldap-client';
import { Type, type Static } from 'typebox';
import type { LdapSecretsConfig } from './config.ts';
import type { DynamicAccounts } from './dynamic-accounts.ts';
import { ownEntries, renderSample } from './dynamic-role.ts';
import { existingEntries } from './ldif-run.ts';
import type { AccountMark } from './account-mark.ts';
import { accountKey, recordsIn, type DynamicRoleRecord, type MadeAccount } from './records.ts';
import { isMarked, nameIn, placesOf, type RolePlace } from './role-places.ts';
import { safePart } from './role-templates.ts';
import type { DirectoryService } from './service.ts';

/** Longer than a request with all its deadlines: seconds. */
const INTENT_AGE = 180;
/** Removals at a time. */
const CONCURRENCY = 4;
/** Active Directory shows at most 1,000 entries at a time. */
const PAGE = 500;

/** When an entry was made, by the directory's own clock. */
const CREATED = ['createTimestamp', 'whenCreated'];

const Removal = Type.Object({ username: Type.String(), entries: Type.Array(Type.String()), deletion_ldif: Type.String() });

/** An account that this mount made and that no record keeps. */
export interface Orphan extends Static<typeof Removal> {
  /** Whether a record says so, or only the mark in the name does. */
  readonly known_by: 'record' | 'mark';
  /** Undefined where several roles, or none, can have made it. */
  readonly role?: string;
  /** ISO 8601, where the directory says. */
  readonly created?: string;
}

export interface FoundOrphans {
  /** Sorted by name. */
  readonly orphans: readonly Orphan[];
  /** The bases that were searched. */
  readonly searched: readonly string[];
  /** Roles whose names carry no mark. */
  readonly unmarked: readonly string[];
}

interface KnownRole {
  readonly name: string;
  readonly record: DynamicRoleRecord;
  readonly places: readonly RolePlace[];
  /** Whether its names hold its own name. */
  readonly named: boolean;
}

/**
 * Accounts of dynamic roles that nothing keeps: those whose lease was revoked by force, which are recorded as such, and those that the store has never
 * seen since it was restored from a backup, which are known by the mark of this mount in their names.
 */
export class OrphanedAccounts {
  readonly intent: Intent<typeof Removal>;
  readonly #host: EngineHost;
  readonly #service: DirectoryService;
  readonly #accounts: DynamicAccounts;
  readonly #mark: AccountMark;

  constructor(host: EngineHost, service: DirectoryService, accounts: DynamicAccounts, mark: AccountMark) {
    this.#host = host;
    this.#service = service;
    this.#accounts = accounts;
    this.#mark = mark;
    this.intent = {
      kind: 'remove-orphan',
      entry: Removal,
      minAgeSeconds: INTENT_AGE,
      target: () => service.target,
      takesBack: true,
      rollback: async (orphan, _storage, signal) => accounts.remove(orphan, signal),
      outside: ({ username, entries }) => ({
        kind: 'directory account',
        name: entries[0] ?? username,
        detail: 'an orphan that is being removed',
      }),
    };
  }

  /** @throws InvalidRequest without a configuration, DirectoryFailed. */
  async find(signal: AbortSignal): Promise<FoundOrphans> {
    const { roles, unmarked } = await this.#roles();
    return this.#service.work(
      async (connection, { config }) => {
        try {
          // First the entries of the directory, then the records: an account is recorded before it is made, so that a new one is never taken for an orphan.
          const marked = await this.#marked(connection, roles, signal);
          const made = new Map(await recordsIn(this.#host.storage).made.entries());
          const orphans: Orphan[] = [];
          for (const [username, entries] of marked) {
            if (made.has(accountKey(username)) || (await this.#isManaged(entries, config))) continue;
            orphans.push(this.#ofMark(username, entries, roles));
          }
          for (const [key, record] of made) {
            if (record.dropped) orphans.push(...(await this.#ofRecord(connection, config, key, record, signal)));
          }
          orphans.sort((a, b) => (a.username < b.username ? -1 : 1));
          return { orphans, searched: [...new Set(roles.flatMap(({ places }) => places.map(({ base }) => base)))].sort(), unmarked };
        } catch (error) {
          throw directoryFailed(error, 'unsent');
        }
      },
      { signal, idempotent: true },
    );
  }

  /** Removes these, or all. What is not there counts as removed. @throws InvalidRequest, and removes none, where one is no orphan. */
  async remove(asked: readonly string[] | 'all', signal: AbortSignal): Promise<RemovedOrphans> {
    const orphans = new Map((await this.find(signal)).orphans.map((orphan) => [accountKey(orphan.username), orphan]));
    const wanted = asked === 'all' ? [...orphans.keys()] : [...new Set(asked.map(accountKey))];
    const gone: string[] = [];
    for (const key of wanted.filter((name) => !orphans.has(name))) {
      const name = asked === 'all' ? key : asked.find((one) => accountKey(one) === key)!;
      if (await this.#isThere(name, signal)) {
        throw noOrphan(name);
      }
      gone.push(name);
    }
    const there = wanted.flatMap((key) => orphans.get(key) ?? []);
    return { ...(await removeOrphans(this.#host.storage, there, CONCURRENCY, this.#remover(signal))), gone: gone.sort() };
  }

  #remover(signal: AbortSignal): OrphanRemover<Orphan, Static<typeof Removal>> {
    return {
      nameOf: ({ username }) => username,
      note: async (tx, { username, entries, deletion_ldif, role = '' }) => {
        const removal = { username, entries, deletion_ldif };
        const { made } = recordsIn(tx);
        const key = accountKey(username);
        const known = await made.get(key);
        if (known && !known.dropped) throw noOrphan(username, 'it is in use');
        // The name is reserved until the account is gone.
        await made.put(key, { role, ...removal, dropped: true, removing: true });
        return { intent: await tx.intend(this.intent, removal), removal };
      },
      remove: async (removal) => this.#accounts.remove(removal, signal),
      textOf,
    };
  }

  async #roles(): Promise<{ roles: KnownRole[]; unmarked: string[] }> {
    const { environment } = this.#accounts;
    const roles: KnownRole[] = [];
    const unmarked: string[] = [];
    for (const [name, record] of await recordsIn(this.#host.storage).roles.entries()) {
      const places = placesOf(record, name, environment);
      if (places.length === 0 || !isMarked(record, name, this.#mark, environment)) unmarked.push(name);
      const named = renderSample(record, { roleName: name, displayName: '' }, environment).username.includes(safePart(name));
      roles.push({ name, record, places, named });
    }
    return { roles, unmarked };
  }

  /** The entries that carry the mark in their names, by the generated name. */
  async #marked(connection: Connection, roles: readonly KnownRole[], signal: AbortSignal): Promise<Map<string, LdapEntry[]>> {
    const found = new Map<string, LdapEntry[]>();
    const searched = new Set<string>();
    for (const place of roles.flatMap(({ places }) => places)) {
      const { base, scope, filter } = place;
      const search = JSON.stringify(place);
      if (searched.has(search)) continue;
      searched.add(search);
      for (const entry of await entriesOf(connection, { base, scope, filter }, signal)) {
        const name = nameIn(entry.dn, place);
        if (name === undefined || !this.#mark.isOn(name)) continue;
        const entries = found.get(name) ?? [];
        if (entries.every(({ dn }) => !sameDn(dn, entry.dn))) found.set(name, [...entries, entry]);
      }
    }
    return found;
  }

  #ofMark(username: string, found: readonly LdapEntry[], roles: readonly KnownRole[]): Orphan {
    const dns = found.map(({ dn }) => dn);
    // Whoever may name entries there could write a name that means more in LDIF than a name.
    const makers = (safePart(username) === username ? roles : [])
      .filter(({ name, named }) => !named || username.includes(safePart(name)))
      .map(({ name, record }) => ({ name, ...renderSample(record, { roleName: name, username }, this.#accounts.environment) }))
      .map((rendered) => ({ ...rendered, entries: ownEntries(rendered) }))
      .filter(({ entries }) => entries.some((entry) => dns.some((dn) => sameDn(entry, dn))));
    const maker = makers.length === 1 ? makers[0] : undefined;
    const others = dns.filter((dn) => maker?.entries.every((entry) => !sameDn(entry, dn)) ?? true);
    const created = found.map(createdAt).find((time) => time !== undefined);
    return {
      username,
      entries: [...others, ...(maker?.entries ?? [])],
      deletion_ldif: maker?.deletion_ldif ?? '',
      known_by: 'mark',
      ...(maker ? { role: maker.name } : {}),
      ...(created === undefined ? {} : { created }),
    };
  }

  /** The orphan of a lease that was revoked by force; none where its entries are gone, or are managed by somebody since. */
  async #ofRecord(
    connection: Connection,
    config: LdapSecretsConfig,
    key: string,
    { username = key, entries = [], deletion_ldif = '', role }: MadeAccount,
    signal: AbortSignal,
  ): Promise<Orphan[]> {
    const there: LdapEntry[] = [];
    for (const base of entries) there.push(...(await entriesOf(connection, { base, scope: 'base' }, signal)));
    if ((entries.length > 0 && there.length === 0) || (await this.#isManaged(there, config))) return [];
    const created = there.map(createdAt).find((time) => time !== undefined);
    return [{ username, entries, deletion_ldif, known_by: 'record', role, ...(created === undefined ? {} : { created }) }];
  }

  /** Whether a role, a set or a configuration of any mount keeps one of the entries. */
  async #isManaged(entries: readonly LdapEntry[], { binddn, url }: LdapSecretsConfig): Promise<boolean> {
    for (const entry of entries) {
      if (sameDn(entry.dn, binddn)) return true;
      if ((await this.#host.storage.managerOf(accountIdentity(entry, serverUrls(url)))) !== undefined) return true;
    }
    return false;
  }

  /** Whether an entry of any role has the name, or could: a name that is more than one in LDIF is not looked for. */
  async #isThere(name: string, signal: AbortSignal): Promise<boolean> {
    const key = accountKey(name);
    const record = await recordsIn(this.#host.storage).made.get(key);
    if (record) return !record.dropped;
    if (safePart(name) !== name) return true;
    const { roles } = await this.#roles();
    const entries = roles.flatMap((role) =>
      ownEntries(renderSample(role.record, { roleName: role.name, username: name }, this.#accounts.environment)),
    );
    try {
      return await this.#service.work(async (connection) => (await existingEntries(connection, entries, signal)).length > 0, {
        signal,
        idempotent: true,
      });
    } catch (error) {
      throw directoryFailed(error, 'unsent');
    }
  }
}

/** Entries with their identity and time; none where the base is not there. @throws LdapError */
async function entriesOf(
  connection: Connection,
  search: { readonly base: string; readonly scope: 'base' | 'one' | 'sub'; readonly filter?: string },
  signal: AbortSignal,
): Promise<LdapEntry[]> {
  try {
    const pages = search.scope === 'base' ? {} : { pageSize: PAGE };
    return await connection.search({ ...search, ...pages, attributes: [...identityAttributes, ...CREATED], signal });
  } catch (error) {
    if (error instanceof LdapError && error.code === resultCode.noSuchObject) return [];
    throw error;
  }
}

/** Of a time like `20261122140512Z`, with or without a fraction. */
function createdAt(entry: LdapEntry): string | undefined {
  const text = CREATED.map((name) => entry.first(name)).find((value) => value !== undefined);
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:[.,]\d+)?Z$/.exec(text ?? '') ?? [];
  return year === undefined ? undefined : `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
}

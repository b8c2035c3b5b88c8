import { BadRequest, TooManyRequests, type EngineHost, type Transaction } from '@strongroom/engine-sdk';
import { claimAccount } from '@strongroom/rotation';
import { locate } from './account-entry.ts';
import { DirectoryFailed, outcomeOf, textOf, type LocatedAccount } from '@strongroom/ldap-client';
import { libraryManager, type LibraryAccounts } from './library-accounts.ts';
import { claim, claimsOf, release } from './managed-accounts.ts';
import { accountKey, recordsIn, type LibraryAccountRecord, type LibrarySetRecord, type Records } from './records.ts';
import { requireNotRoot } from './root-address.ts';
import type { DirectoryService } from './service.ts';

/** An account of a set, with the id of its record. */
export interface SetMember {
  readonly key: string;
  readonly account: LibraryAccountRecord;
}

/** The sets of the library: which accounts are lent together, and for how long. */
export class LibrarySets {
  readonly #host: EngineHost;
  readonly #service: DirectoryService;
  readonly #accounts: LibraryAccounts;
  readonly #records: Records;

  constructor(host: EngineHost, service: DirectoryService, accounts: LibraryAccounts) {
    this.#host = host;
    this.#service = service;
    this.#accounts = accounts;
    this.#records = recordsIn(host.storage);
  }

  /**
   * Stores what `change` makes of a set: accounts that are new to it must exist, and get a password that nobody else knows. `change` is asked
   * again where somebody else was faster. `adopt` takes the accounts over, or back, from whoever manages them. @throws before anything is stored, but
   * for the passwords.
   */
  async write(
    name: string,
    change: (before: LibrarySetRecord | undefined) => LibrarySetRecord,
    signal: AbortSignal,
    adopt = false,
  ): Promise<void> {
    const located = new Map<string, LocatedAccount>();
    let stored: LibrarySetRecord | undefined;
    while (stored === undefined) {
      const wanted = change(await this.#records.sets.get(name));
      await this.#locate(await newAccounts(this.#records, name, wanted), located, signal);
      stored = await this.#host.storage.transaction(async (tx) => this.#store(tx, name, change, { located, adopt }));
    }
    await this.#renewAll(stored, signal);
    this.#accounts.onFree();
  }

  /** @throws BadRequest while accounts of the set are out. */
  async delete(name: string): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const inside = recordsIn(tx);
      const set = await inside.sets.get(name);
      for (const account of set?.service_account_names ?? []) await this.#drop(tx, account);
      await inside.sets.delete(name);
    });
  }

  async require(name: string): Promise<LibrarySetRecord> {
    const set = await this.#records.sets.get(name);
    if (!set) throw new BadRequest(`"${name}" doesn't exist`);
    return set;
  }

  /** The accounts of a set, in its order; only those in `only` where it is given. */
  async accountsOf(set: LibrarySetRecord, only?: ReadonlySet<string>): Promise<SetMember[]> {
    const keys = set.service_account_names.map(accountKey);
    const found = await Promise.all(
      (only ? keys.filter((key) => only.has(key)) : keys).map(async (key) => ({ key, account: await this.#records.accounts.get(key) })),
    );
    return found.flatMap(({ key, account }) => (account ? [{ key, account }] : []));
  }

  /** Undefined where there are accounts that were not searched yet. */
  async #store(
    tx: Transaction,
    name: string,
    change: (stored: LibrarySetRecord | undefined) => LibrarySetRecord,
    { located, adopt }: { readonly located: ReadonlyMap<string, LocatedAccount>; readonly adopt: boolean },
  ): Promise<LibrarySetRecord | undefined> {
    const inside = recordsIn(tx);
    const stored = await inside.sets.get(name);
    const next = change(stored);
    const added = await newAccounts(inside, name, next);
    if (added.some((account) => !located.has(accountKey(account)))) return undefined;
    const kept = new Set(next.service_account_names.map(accountKey));
    for (const account of stored?.service_account_names ?? []) if (!kept.has(accountKey(account))) await this.#drop(tx, account);
    for (const account of added) await this.#take(tx, name, account, located.get(accountKey(account))!, adopt);
    if (adopt) for (const key of kept) await this.#accounts.rotation.takeBack(tx, key);
    await inside.sets.put(name, next);
    return next;
  }

  /** Adds where the accounts are. @throws DirectoryMisused for one that is not there, or that the mount logs in with. */
  async #locate(names: readonly string[], located: Map<string, LocatedAccount>, signal: AbortSignal): Promise<void> {
    if (names.length === 0) return;
    await this.#service.work(
      async (connection, { config }) => {
        for (const username of names) {
          const found = await locate(connection, config, { username }, signal);
          await requireNotRoot(connection, config, username, found, signal);
          located.set(accountKey(username), found);
        }
      },
      { signal, idempotent: true },
    );
  }

  async #take(tx: Transaction, set: string, name: string, { dn, account }: LocatedAccount, adopt: boolean): Promise<void> {
    const key = accountKey(name);
    const known = await recordsIn(tx).accounts.get(key);
    if (known && known.set !== set) {
      throw new BadRequest(
        `"${name}" is already managed by the secrets engine: it is in the set "${known.set}" of this mount; take it from that set first`,
      );
    }
    const claims = claimsOf(name, [dn]);
    await claim(tx, name, claims, { kind: 'library', owner: key }, { adopt });
    await claimAccount(tx, { account, by: libraryManager(key), called: name, adopt });
    await this.#accounts.rotation.demand(tx, key, { name, set, claims, last_rotation: 0, next_rotation: 0, managed_account: account });
  }

  /** @throws BadRequest while it is out. */
  async #drop(tx: Transaction, name: string): Promise<void> {
    const key = accountKey(name);
    const account = await recordsIn(tx).accounts.get(key);
    if (!account) return;
    // The apostrophe at the end belongs to the text that clients know.
    if (account.loan) throw new BadRequest(`"${account.name}" can't be deleted because it is currently checked out'`);
    await this.#accounts.rotation.remove(tx, key);
    await release(tx, account.claims, { kind: 'library', owner: key });
  }

  /** Gives new accounts a password. A failure is reported and retried in the background. */
  async #renewAll(set: LibrarySetRecord, signal: AbortSignal): Promise<void> {
    const added = (await this.accountsOf(set)).filter(({ account }) => account.current === undefined);
    await Promise.all(
      added.map(async ({ key, account }) => {
        try {
          await this.#accounts.renew(key, signal);
        } catch (error) {
          // Another caller works on it.
          if (error instanceof TooManyRequests) return;
          const text = `the set is stored, but the password of "${account.name}" could not be changed: ${textOf(error)}`;
          throw new DirectoryFailed(`${text}; this is retried, and the account is not lent until then`, outcomeOf(error), error);
        }
      }),
    );
  }
}

/** Those that the set has not had so far. */
async function newAccounts(records: Records, set: string, { service_account_names }: LibrarySetRecord): Promise<string[]> {
  const added: string[] = [];
  for (const account of service_account_names) {
    const known = await records.accounts.get(accountKey(account));
    if (known?.set !== set) added.push(account);
  }
  return added;
}

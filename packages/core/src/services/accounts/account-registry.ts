import { createHash } from 'node:crypto';
import { BadRequest, type AccountManager, type Log, type ManagedAccount } from '@strongroom/engine-sdk';
import { requireIssuing } from '../../kernel/mounts/mount-record.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';

const ACCOUNTS = 'core/account/';

interface AccountRecord {
  mount: string;
  by: string;
  system: string;
  name: string;
}

interface Reader {
  get<T>(key: string): Promise<T | undefined>;
}

/** Which mount manages which account outside: one account has one manager, across roles and mounts. */
export class AccountRegistry {
  readonly #store: Store;
  readonly #log: Log;
  readonly #mount: (uuid: string) => { readonly path: string } | undefined;

  constructor(parts: { store: Store; log: Log; mount: (uuid: string) => { readonly path: string } | undefined }) {
    this.#store = parts.store;
    this.#log = parts.log;
    this.#mount = parts.mount;
  }

  async managerOf(reader: Reader, asking: string, account: ManagedAccount): Promise<AccountManager | undefined> {
    const record = await reader.get<AccountRecord>(keyOf(account));
    const path = record && this.#mount(record.mount)?.path;
    // A record of a mount that is gone manages nothing.
    return record && path !== undefined ? { mount: path, by: record.by, own: record.mount === asking } : undefined;
  }

  /** @throws BadRequest that names the present manager; Unavailable where the mount is being removed and does not manage the account yet */
  async manage(tx: StoreTransaction, mount: string, claim: { account: ManagedAccount; by: string; adopt: boolean }): Promise<void> {
    const { account, by, adopt } = claim;
    const present = await this.managerOf(tx, mount, account);
    if (present?.own && present.by === by) return;
    await requireIssuing(tx, mount);
    if (present && !adopt) {
      const where = present.own ? 'this mount' : present.mount;
      throw new BadRequest(
        `the account ${JSON.stringify(account.name)} is already managed by ${present.by} of ${where}; remove it there first, or send adopt=true to take the account over`,
      );
    }
    const record: AccountRecord = { mount, by, system: account.system, name: account.name };
    tx.put(keyOf(account), record);
  }

  async release(tx: StoreTransaction, mount: string, account: ManagedAccount, by: string): Promise<void> {
    const key = keyOf(account);
    const record = await tx.get<AccountRecord>(key);
    if (record?.mount === mount && record.by === by) tx.delete(key);
  }

  /** The accounts that a mount manages. */
  async ofMount(mount: string): Promise<ManagedAccount[]> {
    const found: ManagedAccount[] = [];
    for await (const page of this.#store.pages<AccountRecord>(ACCOUNTS, (error) => this.#log.error(error.message))) {
      for (const [, record] of page) if (record.mount === mount) found.push({ system: record.system, name: record.name });
    }
    return found;
  }

  /** A mount is removed: its accounts have no manager any more. */
  async forgetMount(mount: string): Promise<void> {
    for await (const page of this.#store.pages<AccountRecord>(ACCOUNTS, (error) => this.#log.error(error.message))) {
      const own = page.filter(([, record]) => record.mount === mount);
      if (own.length === 0) continue;
      await this.#store.transaction(async (tx) => {
        for (const [key] of own) if ((await tx.get<AccountRecord>(key))?.mount === mount) tx.delete(key);
      });
    }
  }
}

/** A digest: names of accounts are long, and hold what keys may not. */
function keyOf({ system, name }: ManagedAccount): string {
  return (
    ACCOUNTS +
    createHash('sha256')
      .update(JSON.stringify([system, name]))
      .digest('base64url')
  );
}

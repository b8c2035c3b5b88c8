import { createHash } from 'node:crypto';
import { BadRequest, type AccountManager, type Log, type ManagedAccount } from '@strongroom/engine-sdk';
import { requireIssuing } from '../../kernel/mounts/mount-record.ts';
import { Type } from 'typebox';
import { Records, type RecordReader } from '../../kernel/storage/records.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';

const AccountRecord = Type.Object({ mount: Type.String(), by: Type.String(), system: Type.String(), name: Type.String() });

/** By a digest of system and name: names of accounts are long, and hold what keys may not. */
const accountRecords = new Records('core/account/', AccountRecord);

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

  async managerOf(reader: RecordReader, asking: string, account: ManagedAccount): Promise<AccountManager | undefined> {
    const record = await accountRecords.get(reader, idOf(account));
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
    accountRecords.put(tx, idOf(account), { mount, by, system: account.system, name: account.name });
  }

  async release(tx: StoreTransaction, mount: string, account: ManagedAccount, by: string): Promise<void> {
    const id = idOf(account);
    const record = await accountRecords.get(tx, id);
    if (record?.mount === mount && record.by === by) accountRecords.delete(tx, id);
  }

  /** The accounts that a mount manages. */
  async ofMount(mount: string): Promise<ManagedAccount[]> {
    const found: ManagedAccount[] = [];
    for await (const page of accountRecords.pages(this.#store, (error) => this.#log.error(error.message))) {
      for (const [, record] of page) if (record.mount === mount) found.push({ system: record.system, name: record.name });
    }
    return found;
  }

  /** A mount is removed: its accounts have no manager any more. */
  async forgetMount(mount: string): Promise<void> {
    for await (const page of accountRecords.pages(this.#store, (error) => this.#log.error(error.message))) {
      const own = page.filter(([, record]) => record.mount === mount);
      if (own.length === 0) continue;
      await this.#store.transaction(async (tx) => {
        for (const [id] of own) if ((await accountRecords.get(tx, id))?.mount === mount) accountRecords.delete(tx, id);
      });
    }
  }
}

function idOf({ system, name }: ManagedAccount): string {
  return createHash('sha256')
    .update(JSON.stringify([system, name]))
    .digest('base64url');
}

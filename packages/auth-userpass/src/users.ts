import { RoleTokens } from '@strongroom/auth-sdk';
import type { Collection, StorageView, Transaction } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { kindOf, PasswordHash } from './password-hash.ts';

/** The record of a user; its id is the canonical name. */
export const User = Type.Object({
  ...RoleTokens.properties,
  password: PasswordHash,
  /** New with each password that is written. A stronger hash of the same password keeps it. */
  password_id: Type.String(),
});
export type User = Static<typeof User>;

const Known = Type.Object({});

/** The users of a mount, and which kinds of hashes their passwords have. */
export class Users {
  readonly records: Collection<User>;
  readonly #storage: StorageView;

  constructor(storage: StorageView) {
    this.#storage = storage;
    this.records = usersIn(storage);
  }

  /** Whether the user still has the password that was written under this id. */
  async hasPassword(tx: Transaction, name: string, passwordId: string): Promise<boolean> {
    return (await usersIn(tx).get(name))?.password_id === passwordId;
  }

  /** Creates or changes a user, as `change` makes of the stored one; undefined leaves it as it is. */
  async change(name: string, change: (stored: User | undefined) => User | undefined): Promise<void> {
    await this.#storage.transaction(async (tx) => {
      const stored = await usersIn(tx).get(name);
      const next = change(stored);
      if (next === undefined) return;
      await this.#file(tx, name, stored, next);
      await usersIn(tx).put(name, next);
    });
  }

  /** Succeeds if there is no such user. */
  async delete(name: string): Promise<void> {
    await this.#storage.transaction(async (tx) => {
      await this.#file(tx, name, await usersIn(tx).get(name), undefined);
      await usersIn(tx).delete(name);
    });
  }

  /** Every kind of hash that a user of the mount has. */
  async kinds(): Promise<string[]> {
    const filed = kindsIn(this.#storage);
    const kinds: string[] = [];
    for (let after = ''; ;) {
      const [next] = await filed.list({ limit: 1, ...(after === '' ? {} : { after }) });
      if (next === undefined) return kinds;
      const kind = next.slice(0, next.indexOf('/'));
      kinds.push(kind);
      // The slash is followed by the digit 0: past every user of this kind.
      after = `${kind}0`;
    }
  }

  async #file(tx: Transaction, name: string, before: User | undefined, after: User | undefined): Promise<void> {
    const [was, is] = [before, after].map((user) => user && kindOf(user.password));
    if (was === is) return;
    if (was !== undefined) await kindsIn(tx).delete(`${was}/${name}`);
    if (is !== undefined) await kindsIn(tx).put(`${is}/${name}`, {});
  }
}

function usersIn(view: Pick<StorageView, 'collection'>): Collection<User> {
  return view.collection('user/', User);
}

/** Users by the kind of their hash: `<kind>/<name>`. */
function kindsIn(view: Pick<StorageView, 'collection'>): Collection<Static<typeof Known>> {
  return view.collection('kind/', Known);
}

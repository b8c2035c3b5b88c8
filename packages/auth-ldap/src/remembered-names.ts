import type { Collection, StorageView } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

const PREFIX = 'name/';
const RememberedName = Type.Object({ name: Type.String() });

/** By which of their names people are known whose entry has several: the first one that they logged in with, for as long as it is theirs. */
export class RememberedNames {
  readonly #storage: StorageView;
  readonly #names: Collection<Static<typeof RememberedName>>;

  constructor(storage: StorageView) {
    this.#storage = storage;
    this.#names = storage.collection(PREFIX, RememberedName);
  }

  /** `identity`: see `identityOf`. Undefined for who has never logged in. */
  async of(identity: string): Promise<string | undefined> {
    return (await this.#names.get(identity))?.name;
  }

  /** The name that counts from now on: the remembered one, unless it is not among the names that the person has. */
  async settle(identity: string, name: string, has: (name: string) => boolean): Promise<string> {
    const known = await this.of(identity);
    if (known !== undefined && has(known)) return known;
    return this.#storage.transaction(async (tx) => {
      const names = tx.collection(PREFIX, RememberedName);
      const stored = (await names.get(identity))?.name;
      if (stored !== undefined && has(stored)) return stored;
      await names.put(identity, { name });
      return name;
    });
  }
}

import type { Collection, StorageView } from '@strongroom/engine-sdk';
import { TokenRole } from './token-role.ts';

/** The roles of `auth/token/roles/`. */
export class TokenRoles {
  readonly #records: Collection<TokenRole>;

  constructor(storage: StorageView) {
    this.#records = storage.collection('role/', TokenRole);
  }

  get(name: string): Promise<TokenRole | undefined> {
    return this.#records.get(name);
  }
  list(query: { after?: string; limit?: number }): Promise<string[]> {
    return this.#records.list(query);
  }
  put(role: TokenRole): Promise<void> {
    return this.#records.put(role.name, role);
  }
  delete(name: string): Promise<void> {
    return this.#records.delete(name);
  }
}

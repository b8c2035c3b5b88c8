import sodium from 'libsodium-wrappers';

/** A secret of the GitHub of the tests. */
export interface GithubSecret {
  readonly name: string;
  value: string;
  readonly createdAt: Date;
  updatedAt: Date;
  visibility?: 'all' | 'private' | 'selected';
  /** Ids of repositories, where the visibility is `selected`. */
  selected?: readonly number[];
}

/** A repository of the GitHub of the tests. */
export interface GithubRepository {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  readonly environments: readonly string[];
}

/** A repository, one of its environments, or an organization: each has secrets and a key of its own. */
export class GithubSecretScope {
  readonly limit: number;
  readonly keyId: string;
  /** Base64, as it is published. */
  readonly publicKey: string;
  readonly #privateKey: Uint8Array;
  readonly #rawPublicKey: Uint8Array;
  readonly #secrets = new Map<string, GithubSecret>();
  readonly #now: () => number;

  constructor(limit: number, keyId: string, now: () => number) {
    const pair = sodium.crypto_box_keypair();
    this.limit = limit;
    this.keyId = keyId;
    this.#rawPublicKey = pair.publicKey;
    this.#privateKey = pair.privateKey;
    this.publicKey = sodium.to_base64(pair.publicKey, sodium.base64_variants.ORIGINAL);
    this.#now = now;
  }

  all(): GithubSecret[] {
    return [...this.#secrets.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(name: string): GithubSecret | undefined {
    return this.#secrets.get(name.toUpperCase());
  }

  /** The text inside a sealed box; undefined if it was not sealed for this scope's key. */
  open(sealed: string): string | undefined {
    try {
      const box = sodium.from_base64(sealed, sodium.base64_variants.ORIGINAL);
      return sodium.to_string(sodium.crypto_box_seal_open(box, this.#rawPublicKey, this.#privateKey));
    } catch {
      return undefined;
    }
  }

  /** Creates or replaces; says whether it was created. */
  put(name: string, write: Pick<GithubSecret, 'value' | 'visibility' | 'selected'>): boolean {
    const key = name.toUpperCase();
    const now = new Date(Math.floor(this.#now() / 1000) * 1000);
    const old = this.#secrets.get(key);
    this.#secrets.set(key, { ...write, name: key, createdAt: old?.createdAt ?? now, updatedAt: now });
    return old === undefined;
  }

  delete(name: string): boolean {
    return this.#secrets.delete(name.toUpperCase());
  }
}

export const sodiumReady: Promise<void> = sodium.ready;

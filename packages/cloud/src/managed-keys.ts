import { BadRequest, type AccountManager, type EngineHost, type ManagedAccount, type Transaction } from '@strongroom/engine-sdk';
import type { CloudProvider } from './cloud-provider.ts';
import type { ManagedUser } from './records.ts';

/** A root credential whose key stays as it is: several mounts may use one. */
export const USED_ROOT = 'the root credential';
/** One that its mount replaces. */
export const ROTATED_ROOT = 'the rotated root credential';

/** Mounts that use one root credential; of more than these, the others are not known to each other. */
const MOST_SHARERS = 8;

const isRoot = (by: string): boolean => by === USED_ROOT || by === ROTATED_ROOT;

/** In whose name an account is claimed, and whether it may be taken from somebody else. */
export interface Claim {
  readonly by: string;
  readonly adopt: boolean;
}

/**
 * Who changes which keys, over all mounts: one user has one manager. Users are known by their account and name; keys by their id, which says
 * nothing of its user but is known without asking the provider.
 */
export class ManagedKeys {
  readonly #host: EngineHost;
  readonly #provider: CloudProvider;

  constructor(host: EngineHost, provider: CloudProvider) {
    this.#host = host;
    this.#provider = provider;
  }

  /** @throws BadRequest that names who manages the user */
  async claimUser(tx: Transaction, user: ManagedUser, { by, adopt }: Claim): Promise<void> {
    await named('username', async () => tx.manage(this.#userAccount(user), by, { adopt }));
  }

  /** What was never claimed is nobody else's. */
  async isOwn(tx: Transaction, user: ManagedUser | undefined, by: string): Promise<boolean> {
    if (!user) return true;
    const manager = await tx.managerOf(this.#userAccount(user));
    return manager?.own === true && manager.by === by;
  }

  async isTaken(tx: Transaction, user: ManagedUser): Promise<boolean> {
    return (await tx.managerOf(this.#userAccount(user))) !== undefined;
  }

  async releaseUser(tx: Transaction, user: ManagedUser | undefined, by: string): Promise<void> {
    if (user) await tx.release(this.#userAccount(user), by);
  }

  /** Who manages the user, or the key, now, where that is not `by` of this mount: then its keys are none of ours any more. */
  async lostTo(user: ManagedUser | undefined, key: string | undefined, by: string): Promise<AccountManager | undefined> {
    const accounts = [...(user ? [this.#userAccount(user)] : []), ...(key === undefined ? [] : [this.#keyAccount(key)])];
    for (const account of accounts) {
      const manager = await this.#host.storage.managerOf(account);
      if (manager && !(manager.own && manager.by === by)) return manager;
    }
    return undefined;
  }

  /** Inside the transaction that puts a new key in the place of the one before. */
  async moveKey(tx: Transaction, { from, to }: { readonly from: string | undefined; readonly to: string }, by: string): Promise<void> {
    if (from !== undefined) await this.releaseKey(tx, from, by);
    await tx.manage(this.#keyAccount(to), by, { adopt: true });
  }

  async releaseKey(tx: Transaction, id: string, by: string): Promise<void> {
    await tx.release(this.#keyAccount(id), by);
    if (by === ROTATED_ROOT) await this.#unshare(tx, id);
  }

  /** The key is a root credential that stays as it is. @throws BadRequest that names who replaces it */
  async useRootKey(tx: Transaction, id: string, adopt: boolean): Promise<void> {
    const account = this.#keyAccount(id);
    const manager = await tx.managerOf(account);
    if (manager?.own && isRoot(manager.by)) await tx.release(account, manager.by);
    else if (manager) await named('access_key', async () => tx.manage(account, USED_ROOT, { adopt }));
    for (const place of this.#shares(id)) {
      if ((await tx.managerOf(place))?.own === true) return;
      if ((await tx.managerOf(place)) === undefined) return tx.manage(place, USED_ROOT);
    }
  }

  /** The key is a root credential that is replaced here. @throws BadRequest that names who replaces it, or who would lose it */
  async rotateRootKey(tx: Transaction, id: string, adopt: boolean): Promise<void> {
    const account = this.#keyAccount(id);
    const manager = await tx.managerOf(account);
    const own = manager?.own === true && isRoot(manager.by);
    await named('access_key', async () => tx.manage(account, ROTATED_ROOT, { adopt: adopt || own }));
    for (const place of this.#shares(id)) {
      const other = await tx.managerOf(place);
      if (!other || other.own || adopt) continue;
      throw new BadRequest(
        `access_key: ${id} is also ${USED_ROOT} of ${other.mount}, which would lose it with a rotation; give each mount a user of its own, or send adopt=true`,
      );
    }
  }

  async isKeyTaken(tx: Transaction, id: string): Promise<boolean> {
    return (await tx.managerOf(this.#keyAccount(id))) !== undefined;
  }

  /** The configuration has another root credential now, or none. */
  async forgetRootKey(tx: Transaction, id: string): Promise<void> {
    for (const by of [USED_ROOT, ROTATED_ROOT]) await tx.release(this.#keyAccount(id), by);
    await this.#unshare(tx, id);
  }

  /** The paths of the other mounts that use this key as their root credential. */
  async sharersOf(id: string): Promise<string[]> {
    const managers = await Promise.all(this.#shares(id).map(async (place) => this.#host.storage.managerOf(place)));
    return managers.flatMap((manager) => (manager && !manager.own ? [manager.mount] : [])).sort();
  }

  /** Whose root credential one of these keys is, by the configuration of another mount. */
  async rootOfAnother(ids: readonly string[]): Promise<{ readonly id: string; readonly manager: AccountManager } | undefined> {
    for (const id of ids) {
      for (const account of [this.#keyAccount(id), ...this.#shares(id)]) {
        const manager = await this.#host.storage.managerOf(account);
        if (manager && !manager.own && isRoot(manager.by)) return { id, manager };
      }
    }
    return undefined;
  }

  /** As operators and the registry call the place that users are in. */
  systemOf(account: string): string {
    return account === '' ? `${this.#provider.name}:mount ${this.#host.mount.uuid}` : `${this.#provider.name}:${account}`;
  }

  async #unshare(tx: Transaction, id: string): Promise<void> {
    for (const place of this.#shares(id)) if ((await tx.managerOf(place))?.own === true) await tx.release(place, USED_ROOT);
  }

  #userAccount({ account, user }: ManagedUser): ManagedAccount {
    return { system: this.systemOf(account), name: this.#provider.canonicalUser?.(user) ?? user };
  }

  #keyAccount(id: string): ManagedAccount {
    return { system: this.#provider.name, name: `access key ${id}` };
  }

  /** Where the mounts that use a key as it is say so, each at the first place that is free. */
  #shares(id: string): ManagedAccount[] {
    return Array.from({ length: MOST_SHARERS }, (_, i) => ({ system: this.#provider.name, name: `access key ${id}, user ${i + 1}` }));
  }
}

/** What became of a record whose user somebody else manages, as its status says it. */
export function lostText(user: string, { by, mount, own }: AccountManager): string {
  const where = own ? 'this mount' : mount;
  return (
    `the keys of ${JSON.stringify(user)} are managed by ${by} of ${where} now, and are not rotated here any more; ` +
    'delete this one, or write it with adopt=true to take the user over'
  );
}

async function named(field: string, claim: () => Promise<void>): Promise<void> {
  try {
    await claim();
  } catch (error) {
    if (error instanceof BadRequest) throw new BadRequest(`${field}: ${error.message}`);
    throw error;
  }
}

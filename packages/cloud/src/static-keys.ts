import { BadRequest, UpstreamFailed, type EngineHost, type Transaction } from '@strongroom/engine-sdk';
import { during, isCloudError } from './cloud-error.ts';
import type { CloudProvider } from './cloud-provider.ts';
import { keysToRemove, type KeyRemoval } from './key-removal.ts';
import { KeyRotation } from './key-rotation.ts';
import { recordsIn, type StaticRoleRecord } from './records.ts';
import type { Root } from './root.ts';

/** Keys of users that exist already, replaced by plan. */
export class StaticKeys {
  readonly rotation: KeyRotation<StaticRoleRecord>;
  readonly #host: EngineHost;
  readonly #root: Root;
  readonly #removal: KeyRemoval;

  constructor(host: EngineHost, provider: CloudProvider, root: Root, removal: KeyRemoval) {
    this.#host = host;
    this.#root = root;
    this.#removal = removal;
    this.rotation = new KeyRotation<StaticRoleRecord>(host, {
      kind: 'rotate-static-role',
      called: (name) => `static role ${JSON.stringify(name)}`,
      keysPerUser: provider.keysPerUser,
      records: (storage) => recordsIn(storage).staticRoles,
      state: (role) => role,
      withState: (role, state) => {
        const { current: _c, pending: _p, made_for: _m, retiring: _r, last_error: _e, ...rest } = role;
        const { last_rotation, next_rotation, current, pending, made_for, retiring, last_error } = state;
        return {
          ...rest,
          last_rotation,
          next_rotation,
          ...(current === undefined ? {} : { current }),
          ...(pending === undefined ? {} : { pending }),
          ...(made_for === undefined ? {} : { made_for }),
          ...(retiring === undefined || retiring.length === 0 ? {} : { retiring }),
          ...(last_error === undefined ? {} : { last_error }),
        };
      },
      plan: (role) => role,
      grace: (role) => role.grace_period,
      session: async ({ username, account }, signal) => {
        await root.requireAccount(username, account, signal);
        return (await root.require()).session;
      },
      user: async (role) => role.username,
      check: async ({ username }, _user, keys) => {
        const { record } = await root.require();
        if (record.access_key === '' || !keys.includes(record.access_key)) return;
        throw new BadRequest(`username: ${JSON.stringify(username)} is the user of config/root; its key is replaced by config/rotate-root`);
      },
      makesRoom: true,
      missing: (name) => new BadRequest(`no static role found for role name ${JSON.stringify(name)}`),
    });
  }

  /** Stores a new role and makes its first key. @throws BadRequest for a user that another role has, or that does not exist. */
  async create(name: string, role: StaticRoleRecord, signal: AbortSignal): Promise<void> {
    const creation = this.#create(name, role, signal);
    await during(`unable to manage the access keys of ${JSON.stringify(role.username)}`, creation);
  }

  async #create(name: string, role: StaticRoleRecord, signal: AbortSignal): Promise<void> {
    const { session } = await this.#root.require();
    const account = await session.ownAccount(signal);
    await this.rotation.create(
      name,
      account === '' ? role : { ...role, account },
      signal,
      async (tx: Transaction) => {
        const { staticUsers } = recordsIn(tx);
        const owner = await staticUsers.get(role.username);
        if (owner)
          throw new BadRequest(`username: ${JSON.stringify(role.username)} is managed by the static role ${JSON.stringify(owner.role)}`);
        await staticUsers.put(role.username, { role: name });
      },
      async (tx) => recordsIn(tx).staticUsers.delete(role.username),
    );
  }

  /** Deletes a role and the keys that it made. Resolves with why they are still there, where the provider could not be asked. */
  async delete(name: string, signal: AbortSignal): Promise<string | undefined> {
    const open = await this.#host.storage.transaction(async (tx) => {
      const { staticRoles, staticUsers } = recordsIn(tx);
      const role = await staticRoles.get(name);
      if (!role) return undefined;
      await this.rotation.remove(tx, name);
      await staticUsers.delete(role.username);
      const left = keysToRemove(role.username, role);
      const keys = left && (role.account === undefined ? left : { ...left, account: role.account });
      return keys && { keys, intent: await this.#removal.intend(tx, keys), underWay: role.pending !== undefined };
    });
    if (!open) return undefined;
    const { intent, keys, underWay } = open;
    try {
      await this.#removal.run(keys, signal);
    } catch (error) {
      if (!isCloudError(error) && !(error instanceof UpstreamFailed)) throw error;
      await this.#host.storage.transaction(async (tx) => tx.abandon(intent));
      return error.message;
    }
    // A rotation that is under way may still make a key: the journal looks again later.
    if (!underWay) await this.#host.storage.transaction(async (tx) => tx.settle(intent));
    return undefined;
  }
}

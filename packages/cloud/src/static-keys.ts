import { BadRequest, UpstreamFailed, type EngineHost, type OutsideThing, type Transaction } from '@strongroom/engine-sdk';
import type { AssumedRoleRecord } from './assumed-role.ts';
import { during, isCloudError } from './cloud-error.ts';
import type { CloudProvider } from './cloud-provider.ts';
import { keysToRemove, type KeyRemoval, type KeysToRemove } from './key-removal.ts';
import { KeyRotation, ownKeyState } from './key-rotation.ts';
import type { ManagedKeys } from './managed-keys.ts';
import { recordsIn, type StaticRoleRecord } from './records.ts';
import type { Root } from './root.ts';

/** Keys of users that exist already, replaced by plan. */
export class StaticKeys {
  readonly rotation: KeyRotation<StaticRoleRecord>;
  readonly #host: EngineHost;
  readonly #root: Root;
  readonly #removal: KeyRemoval;
  readonly #managed: ManagedKeys;

  constructor(
    host: EngineHost,
    provider: CloudProvider,
    { root, removal, managed }: { root: Root; removal: KeyRemoval; managed: ManagedKeys },
  ) {
    this.#host = host;
    this.#root = root;
    this.#removal = removal;
    this.#managed = managed;
    this.rotation = new KeyRotation<StaticRoleRecord>(host, managed, {
      kind: 'rotate-static-role',
      called: managerOf,
      about: (name) => ({ noun: 'static role', name, path: `static-roles/${name}`, retry: `rotate-role/${name}` }),
      reported: (name) => ({ name, paths: [`static-creds/${name}`, `static-roles/${name}`] }),
      keysPerUser: provider.keysPerUser,
      records: (storage) => recordsIn(storage).staticRoles,
      lens: ownKeyState(),
      plan: (role) => role,
      grace: (role) => role.grace_period,
      session: async (role, signal) => root.sessionFor({ user: role.username, account: role.account, assumed: role }, signal),
      user: async ({ username, account }, session, signal) => ({ user: username, account: account ?? (await session.ownAccount(signal)) }),
      manager: managerOf,
      check: async ({ username }, _user, keys, adopt) => {
        const { record } = await root.require();
        if (record.access_key !== '' && keys.includes(record.access_key))
          throw new BadRequest(
            `username: ${JSON.stringify(username)} is the user of config/root; its key is replaced by config/rotate-root`,
          );
        const other = adopt ? undefined : await managed.rootOfAnother(keys);
        if (!other) return;
        throw new BadRequest(
          `username: ${JSON.stringify(username)} has the key ${other.id}, which is ${other.manager.by} of ${other.manager.mount} and could be deleted ` +
            'to make room; give that mount a user of its own, or send adopt=true to take the user over',
        );
      },
      makesRoom: true,
      missing: (name) => new BadRequest(`no static role found for role name ${JSON.stringify(name)}`),
    });
  }

  /** Stores a new role and makes its first key. @throws BadRequest for a user that another role has, or that does not exist. */
  async create(name: string, role: StaticRoleRecord, options: { readonly signal: AbortSignal; readonly adopt: boolean }): Promise<void> {
    const creation = this.#create(name, role, options);
    await during(`unable to manage the access keys of ${JSON.stringify(role.username)}`, creation);
  }

  async #create(
    name: string,
    role: StaticRoleRecord,
    { signal, adopt }: { readonly signal: AbortSignal; readonly adopt: boolean },
  ): Promise<void> {
    const session = await this.#root.sessionAs(role);
    const account = await session.ownAccount(signal);
    const made = account === '' ? role : { ...role, account };
    await this.rotation.create(name, made, {
      signal,
      adopt,
      check: async (tx) => {
        const { staticUsers } = recordsIn(tx);
        // A role of an older version, which has claimed nothing yet.
        const owner = adopt ? undefined : await staticUsers.get(userEntry(made));
        if (owner)
          throw new BadRequest(`username: ${JSON.stringify(role.username)} is managed by the static role ${JSON.stringify(owner.role)}`);
        await staticUsers.put(userEntry(made), { role: name });
      },
      undo: async (tx) => forgetUser(tx, made, name),
    });
  }

  /** Tries whether the keys of a role can be changed as it says. @throws BadRequest where the provider does not let the mount in */
  async tryAccess({ username: user, account, ...role }: StaticRoleRecord, signal: AbortSignal): Promise<void> {
    await this.#root.sessionFor({ user, account, assumed: role }, signal);
  }

  /** At the start: roles of versions that claimed nothing claim their users, where nobody else has them. */
  async claimAll(): Promise<void> {
    for (const [name, role] of await recordsIn(this.#host.storage).staticRoles.entries()) {
      if (role.managed || role.account === undefined) continue;
      await this.rotation.claim(name, { user: role.username, account: role.account });
    }
  }

  /** At unmount: deletes all keys that static roles made here, and the roles with them. May be repeated. */
  async retire(signal: AbortSignal): Promise<void> {
    for (const [name, role] of await recordsIn(this.#host.storage).staticRoles.entries()) {
      signal.throwIfAborted();
      const keys = await this.#keysOf(name, role);
      if (keys) await during(`deleting the keys of the static role ${JSON.stringify(name)}`, this.#removal.run(keys, signal));
      await this.#host.storage.transaction(async (tx) => {
        await this.rotation.remove(tx, name);
        await forgetUser(tx, role, name);
      });
    }
  }

  /** The keys that static roles made here, as they stand at the provider. */
  async outside(): Promise<OutsideThing[]> {
    const things: OutsideThing[] = [];
    for (const [name, role] of await recordsIn(this.#host.storage).staticRoles.entries()) {
      const left = await this.#keysOf(name, role);
      if (!left) continue;
      const system = this.#managed.systemOf(role.managed?.account ?? role.account ?? '');
      const detail = `of user ${JSON.stringify(role.username)}, made by static role ${JSON.stringify(name)}`;
      for (const key of left.keys) things.push({ kind: 'access key', name: key, system, detail });
      if (left.known === null) continue;
      const unsure = `static role ${JSON.stringify(name)} was asking for a key whose id is not known: any of its keys but ${left.known.join(', ') || 'none'}`;
      things.push({ kind: 'access key', name: role.username, system, detail: unsure });
    }
    return things;
  }

  /** What a role has made. Where somebody else manages the user now, keys whose id is not known for certain are that one's. */
  async #keysOf(name: string, role: StaticRoleRecord): Promise<KeysToRemove | undefined> {
    const lost = await this.rotation.lostTo(name, role);
    const { pending, ...settled } = role;
    const left = keysToRemove(role.username, lost && pending && !pending.made ? settled : role);
    if (left === undefined) return undefined;
    const { account, assume_role_arn } = role;
    return {
      ...left,
      ...(account === undefined ? {} : { account }),
      ...(assume_role_arn === undefined ? {} : { assumed: assumedOf(role) }),
    };
  }

  /** Deletes a role and the keys that it made. Resolves with why they are still there, where the provider could not be asked. */
  async delete(name: string, signal: AbortSignal): Promise<string | undefined> {
    const open = await this.#host.storage.transaction(async (tx) => {
      const role = await recordsIn(tx).staticRoles.get(name);
      if (!role) return undefined;
      const keys = await this.#keysOf(name, role);
      await this.rotation.remove(tx, name);
      await forgetUser(tx, role, name);
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

/** In messages, and in the registry of managed accounts. */
export const managerOf = (name: string): string => `static role ${JSON.stringify(name)}`;

/** A role that took the user over has its own entry. */
async function forgetUser(tx: Transaction, role: StaticRoleRecord, name: string): Promise<void> {
  const { staticUsers } = recordsIn(tx);
  const entry = userEntry(role);
  if ((await staticUsers.get(entry))?.role === name) await staticUsers.delete(entry);
}

/** Users of two accounts may have one name. */
function userEntry({ username, account = '', assume_role_arn }: StaticRoleRecord): string {
  return assume_role_arn === undefined ? username : `${account}:${username}`;
}

function assumedOf({ assume_role_arn, assume_role_session_name, external_id }: StaticRoleRecord): AssumedRoleRecord {
  return {
    ...(assume_role_arn === undefined ? {} : { assume_role_arn }),
    ...(assume_role_session_name === undefined ? {} : { assume_role_session_name }),
    ...(external_id === undefined ? {} : { external_id }),
  };
}

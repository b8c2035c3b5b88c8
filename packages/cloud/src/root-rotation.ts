import { BadRequest, InvalidRequest, type EngineHost, type OutsideThing, type Transaction } from '@strongroom/engine-sdk';
import { rotatesByItself, type Lens } from '@strongroom/rotation';
import { during } from './cloud-error.ts';
import type { CloudProvider } from './cloud-provider.ts';
import { keysToRemove, type KeyRemoval, type KeysToRemove } from './key-removal.ts';
import { KeyRotation, ownKeyState, type KeyState } from './key-rotation.ts';
import { ROTATED_ROOT, type ManagedKeys } from './managed-keys.ts';
import { recordsIn, ROOT, type RootRecord } from './records.ts';
import type { Root } from './root.ts';

/** In messages. */
export const ROOT_CALLED = 'config/root';

/** The key is the one that the mount is configured with. */
const rootState: Lens<RootRecord, KeyState> = {
  state: ({ access_key, secret_key, ...record }) => ({ ...record, ...(access_key === '' ? {} : { current: { access_key, secret_key } }) }),
  withState: ({ access_key, secret_key, ...record }, { current, ...state }) =>
    ownKeyState<RootRecord>().withState({ ...record, access_key, secret_key, ...current }, state),
};

/** The key of the root user, which replaces itself. */
export class RootRotation {
  readonly rotation: KeyRotation<RootRecord>;
  readonly #host: EngineHost;
  readonly #removal: KeyRemoval;
  readonly #managed: ManagedKeys;

  constructor(
    host: EngineHost,
    provider: CloudProvider,
    { root, removal, managed }: { root: Root; removal: KeyRemoval; managed: ManagedKeys },
  ) {
    this.#host = host;
    this.#removal = removal;
    this.#managed = managed;
    this.rotation = new KeyRotation<RootRecord>(host, managed, {
      kind: 'rotate-root',
      called: () => ROOT_CALLED,
      about: () => ({ noun: 'root credential', name: 'root', path: 'config/root', retry: 'config/rotate-root' }),
      reported: () => ({ name: ROOT_CALLED, paths: ['config/root'] }),
      keysPerUser: provider.keysPerUser,
      records: (storage) => recordsIn(storage).root,
      lens: rootState,
      plan: (record) => record,
      grace: () => 0,
      session: async () => (await root.require()).session,
      user: async (_record, session, signal) => {
        const { name: user, account } = await during('error calling GetUser', session.ownUser(signal));
        if (user === '')
          throw new BadRequest('the key of config/root is not that of a user, and cannot be rotated: give the server a user of its own');
        return { user, account };
      },
      manager: () => ROTATED_ROOT,
      adopts: ({ adopt = false }) => adopt,
      claimKey: async (tx, key, adopt) => managed.rotateRootKey(tx, key, adopt),
      check: ({ access_key }, user, keys) => {
        const others = keys.filter((id) => id !== access_key);
        if (others.length === 0) return;
        throw new BadRequest(
          `the configured access key must be the only one of user ${JSON.stringify(user)} to be rotated, which also has ${others.join(', ')}`,
        );
      },
      makesRoom: false,
      switched: () => root.changed(),
      missing: () => new InvalidRequest('no configuration found for config/root'),
    });
  }

  /** Replaces the key. Resolves with the id of the new one. */
  async rotate(signal: AbortSignal, adopt: boolean): Promise<string> {
    const { root } = recordsIn(this.#host.storage);
    const record = await root.get(ROOT);
    if (!record) throw new InvalidRequest('no configuration found for config/root');
    if (record.access_key === '' || record.secret_key === '') {
      throw new BadRequest('Cannot call config/rotate-root when either access_key or secret_key is empty');
    }
    await this.rotation.rotate(ROOT, signal, adopt);
    return (await root.get(ROOT))!.access_key;
  }

  /**
   * Stores a configuration in place of the one there is. Keys that were being replaced, or were not deleted yet, are left to the journal, and so is
   * one that was made here and whose secret nobody else has.
   */
  async overwrite(tx: Transaction, record: RootRecord): Promise<void> {
    const before = await recordsIn(tx).root.get(ROOT);
    const left = before && keysLeft(before, record);
    if (left) await this.#removal.intend(tx, left);
    const { access_key, adopt = false } = record;
    const rotates = rotatesByItself(record);
    const stays = before !== undefined && before.access_key === access_key && rotates;
    if (before && !stays) {
      await this.#managed.releaseUser(tx, before.managed, ROTATED_ROOT);
      if (before.access_key !== '') await this.#managed.forgetRootKey(tx, before.access_key);
    }
    if (access_key !== '')
      await (rotates ? this.#managed.rotateRootKey(tx, access_key, adopt) : this.#managed.useRootKey(tx, access_key, adopt));
    const next = stays && before.managed ? { ...record, managed: before.managed } : record;
    await this.rotation.update(tx, ROOT, next, { replan: true, adopt });
  }

  /** The warning of a mount whose key is the root credential of others, too: none of them can rotate it. */
  async sharingWarnings({ access_key }: RootRecord): Promise<string[]> {
    const others = access_key === '' ? [] : await this.#managed.sharersOf(access_key);
    return others.map(
      (mount) => `access_key: ${mount} is configured with the same key, and neither mount can rotate it: give each a user of its own`,
    );
  }

  /** At the start: a configuration of a version that claimed nothing says that it uses its key, where nobody minds. */
  async claimKey(): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const record = await recordsIn(tx).root.get(ROOT);
      if (record && record.access_key !== '' && !(await this.#managed.isKeyTaken(tx, record.access_key)))
        await this.#managed.useRootKey(tx, record.access_key, false);
    });
  }

  /** The root key, where it was made here: nobody else knows its secret. Replaced ones that are still there, too. */
  async outside(): Promise<OutsideThing[]> {
    const record = await recordsIn(this.#host.storage).root.get(ROOT);
    if (!record) return [];
    const { made_for, managed, access_key, pending, retiring = [] } = record;
    const system = this.#managed.systemOf(managed?.account ?? '');
    const thing = (name: string, detail: string): OutsideThing => ({ kind: 'access key', name, system, detail });
    const root = `of user ${JSON.stringify(made_for ?? pending?.user ?? '')}`;
    return [
      ...(made_for === undefined ? [] : [thing(access_key, `${root}, ${ROTATED_ROOT}: its secret is known to this mount alone`)]),
      ...(pending?.made ? [thing(pending.made.access_key, `${root}, of a rotation that is under way`)] : []),
      ...retiring.map((key) => thing(key.access_key, `of user ${JSON.stringify(key.user)}, replaced and not deleted yet`)),
    ];
  }
}

function keysLeft(before: RootRecord, next: RootRecord): KeysToRemove | undefined {
  const { pending, retiring, made_for, region, iam_endpoint, sts_endpoint, max_retries, access_key, secret_key } = before;
  const current = { access_key, secret_key };
  const ours = made_for !== undefined && access_key !== next.access_key;
  const user = pending?.user ?? made_for ?? retiring?.[0]?.user ?? '';
  const state = { ...(ours ? { current } : {}), ...(pending ? { pending } : {}), ...(retiring ? { retiring } : {}) };
  const keys = [...(pending?.made ? [pending.made] : []), current];
  return keysToRemove(user, state, { keys, region, iam_endpoint, sts_endpoint, max_retries });
}

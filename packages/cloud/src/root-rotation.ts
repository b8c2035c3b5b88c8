import { BadRequest, InvalidRequest, type EngineHost, type Transaction } from '@strongroom/engine-sdk';
import { planOf, type RotationPlan } from '@strongroom/rotation';
import { during } from './cloud-error.ts';
import type { CloudProvider } from './cloud-provider.ts';
import { keysToRemove, type KeyRemoval, type KeysToRemove } from './key-removal.ts';
import { KeyRotation, type KeyState } from './key-rotation.ts';
import { recordsIn, ROOT, type RootRecord } from './records.ts';
import type { Root } from './root.ts';

/** Seconds. */
export const SHORTEST_ROOT_PERIOD = 60;

/** The key of the root user, which replaces itself. */
export class RootRotation {
  readonly rotation: KeyRotation<RootRecord>;
  readonly #host: EngineHost;
  readonly #removal: KeyRemoval;

  constructor(host: EngineHost, provider: CloudProvider, root: Root, removal: KeyRemoval) {
    this.#host = host;
    this.#removal = removal;
    this.rotation = new KeyRotation<RootRecord>(host, {
      kind: 'rotate-root',
      called: () => 'config/root',
      keysPerUser: provider.keysPerUser,
      records: (storage) => recordsIn(storage).root,
      state: stateOf,
      withState,
      plan: (record) => record,
      grace: () => 0,
      session: async () => (await root.require()).session,
      user: async (_record, session, signal) => {
        const user = await during('error calling GetUser', session.ownUser(signal));
        if (user === '')
          throw new BadRequest('the key of config/root is not that of a user, and cannot be rotated: give the server a user of its own');
        return user;
      },
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
  async rotate(signal: AbortSignal): Promise<string> {
    const { root } = recordsIn(this.#host.storage);
    const record = await root.get(ROOT);
    if (!record) throw new InvalidRequest('no configuration found for config/root');
    if (record.access_key === '' || record.secret_key === '') {
      throw new BadRequest('Cannot call config/rotate-root when either access_key or secret_key is empty');
    }
    await this.rotation.rotate(ROOT, signal);
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
    await this.rotation.update(tx, ROOT, record, true);
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

/** The plan of a configuration: none, where nothing of it was sent. @throws BadRequest */
export function rootPlan(sent: Parameters<typeof planOf>[1]): RotationPlan {
  const wanted = (sent.rotation_period ?? 0) > 0 || (sent.rotation_schedule ?? '') !== '';
  if (!wanted) {
    if (sent.rotation_window) throw new BadRequest('rotation_window is only valid with rotation_schedule');
    return { rotation_period: 0, rotation_schedule: '', rotation_window: 0, disable_automated_rotation: true };
  }
  const { rotation_period: period, ...rest } = sent;
  return planOf(undefined, period ? sent : rest, { shortestPeriod: SHORTEST_ROOT_PERIOD });
}

function stateOf({ access_key, secret_key, ...record }: RootRecord): KeyState {
  return { ...record, ...(access_key === '' ? {} : { current: { access_key, secret_key } }) };
}

function withState(record: RootRecord, state: KeyState): RootRecord {
  const { pending: _p, made_for: _m, retiring: _r, last_error: _e, ...rest } = record;
  const { last_rotation, next_rotation, current, pending, made_for, retiring, last_error } = state;
  return {
    ...rest,
    ...(current ?? { access_key: record.access_key, secret_key: record.secret_key }),
    last_rotation,
    next_rotation,
    ...(pending === undefined ? {} : { pending }),
    ...(made_for === undefined ? {} : { made_for }),
    ...(retiring === undefined || retiring.length === 0 ? {} : { retiring }),
    ...(last_error === undefined ? {} : { last_error }),
  };
}

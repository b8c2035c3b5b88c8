import { UpstreamFailed, type EngineHost, type Intent, type OpenIntent, type Transaction } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { AssumedRoleRecord } from './assumed-role.ts';
import { isCloudError } from './cloud-error.ts';
import type { CloudSession } from './cloud-provider.ts';
import type { ManagedKeys } from './managed-keys.ts';
import type { KeyState } from './key-rotation.ts';
import { StoredKey } from './records.ts';
import type { Root } from './root.ts';
import { accountTarget, formerRootTarget } from './targets.ts';

/** Longer than a rotation that was under way can go on: seconds. */
const INTENT_AGE = 180;

/** What another root credential needs to be used once more. */
const FormerRoot = Type.Object({
  keys: Type.Array(StoredKey),
  region: Type.String(),
  iam_endpoint: Type.String(),
  sts_endpoint: Type.String(),
  max_retries: Type.Integer(),
});

const Entry = Type.Object({
  user: Type.String(),
  /** Ids of keys. */
  keys: Type.Array(Type.String()),
  /** Where a new key was asked for whose id is not known: the keys that the user had before. All others go. */
  known: Type.Union([Type.Array(Type.String()), Type.Null()]),
  /** The account that the user is in. */
  account: Type.Optional(Type.String()),
  /** Who removes them, where that is not the root credential itself. */
  assumed: Type.Optional(AssumedRoleRecord),
  /** The keys are those of a root credential that is not configured any more. */
  former: Type.Optional(FormerRoot),
});
export type KeysToRemove = Static<typeof Entry>;

/** Takes away keys whose record is gone: the journal knows them until they are. */
export class KeyRemoval {
  readonly intent: Intent<typeof Entry>;
  readonly #host: EngineHost;
  readonly #root: Root;

  constructor(host: EngineHost, root: Root, managed: ManagedKeys) {
    this.#host = host;
    this.#root = root;
    this.intent = {
      kind: 'remove-keys',
      entry: Entry,
      minAgeSeconds: INTENT_AGE,
      takesBack: true,
      outside: ({ user, keys, known, account }) => ({
        kind: 'access key',
        name: keys.length > 0 ? keys.join(', ') : `of ${user}, its id is not known`,
        ...(account === undefined ? {} : { system: managed.systemOf(account) }),
        detail: `of user ${JSON.stringify(user)}, to be deleted${known === null ? '' : `; so is any other of its keys but ${known.join(', ') || 'none'}`}`,
      }),
      // One that can never be done must not hold up the others.
      target: ({ former, account }) => (former ? formerRootTarget(host) : accountTarget(host, account)),
      rollback: async (entry, _storage, signal) => this.run(entry, signal),
    };
  }

  /** Stores these keys to be removed. Inside the engine's transaction. */
  async intend(tx: Transaction, keys: KeysToRemove): Promise<OpenIntent> {
    return tx.intend(this.intent, keys);
  }

  /** Removes them. May be repeated. */
  async run({ user, keys, known, account, assumed, former }: KeysToRemove, signal: AbortSignal): Promise<void> {
    if (!former) {
      const session = await this.#root.sessionFor({ user, account, assumed }, signal);
      return remove(session, user, { keys, known }, signal);
    }
    // A key that the operator configured since is not touched, whatever was known before.
    const configured = (await this.#root.require().catch(() => undefined))?.record.access_key ?? '';
    let reason = 'no key is left to do it with';
    let formerly: string | undefined;
    for (const key of former.keys) {
      const session = this.#root.apart({ ...former, ...key });
      try {
        await remove(session, user, { keys, known, except: configured }, signal);
        return;
      } catch (error) {
        if (!isCloudError(error)) throw error;
        reason = error.message;
        formerly ??= await session.ownAccount(signal).catch(() => undefined);
      } finally {
        session.close();
      }
    }
    try {
      const session = await this.#root.sessionFor({ user, account: formerly }, signal);
      await remove(session, user, { keys, known, except: configured }, signal);
    } catch (error) {
      this.#host.log.warn('keys of the former root credential could not be removed yet', { user, keys });
      throw new UpstreamFailed(
        `the keys ${keys.join(', ')} of the former root user ${user} could not be removed: ${reason}; ${(error as Error).message}`,
      );
    }
  }
}

/** What there is to remove when this state is forgotten; undefined for nothing. */
export function keysToRemove(user: string, state: Partial<KeyState>, former?: Static<typeof FormerRoot>): KeysToRemove | undefined {
  const { current, pending, retiring = [] } = state;
  const ids = [current?.access_key, pending?.made?.access_key, ...retiring.map(({ access_key }) => access_key)];
  const keys = ids.filter((id) => id !== undefined);
  const known = pending && !pending.made ? pending.known : null;
  if (keys.length === 0 && known === null) return undefined;
  return { user, keys, known, ...(former ? { former } : {}) };
}

async function remove(
  session: CloudSession,
  user: string,
  { keys, known, except = '' }: { keys: readonly string[]; known: readonly string[] | null; except?: string },
  signal: AbortSignal,
): Promise<void> {
  const strays = known === null ? [] : (await session.listKeys(user, signal)).map(({ id }) => id).filter((id) => !known.includes(id));
  for (const id of new Set([...keys, ...strays])) {
    if (id === except) continue;
    await session.deactivateKey(user, id, signal);
    await session.deleteKey(user, id, signal);
  }
}

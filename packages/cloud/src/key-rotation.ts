import {
  BadRequest,
  InternalError,
  TooManyRequests,
  UpstreamFailed,
  type AccountManager,
  type Collection,
  type EngineHost,
  type StorageView,
  type Subject,
  type Transaction,
} from '@strongroom/engine-sdk';
import {
  nextRotation,
  ownFields,
  RotationMachine,
  rotationStatus,
  type Asked,
  type Beginning,
  type Claim,
  type Lens,
  type RotationPlan,
  type RotationStatus,
  type Tried,
  type Work,
  type Reported,
} from '@strongroom/rotation';
import { during, isCloudError, outcomeOf } from './cloud-error.ts';
import type { AccessKey, CloudSession } from './cloud-provider.ts';
import { waitUntilAccepted } from './propagation.ts';
import { lostText, type ManagedKeys } from './managed-keys.ts';
import type { ManagedUser, PendingKey, StaticRoleRecord } from './records.ts';
import { rotationTarget } from './targets.ts';

/** So long a key that was made may not be listed. Milliseconds. */
const SETTLING = 60_000;
/** How long a new key is tried before the work is postponed. Milliseconds. */
const PATIENCE = 30_000;

/** What is stored of a user's keys, wherever in a record. */
export type KeyState = { readonly last_rotation: number; readonly next_rotation: number } & Undefinable<
  Pick<StaticRoleRecord, 'last_error' | 'pending' | 'managed' | 'made_for' | 'retiring' | 'current'>
>;
type Undefinable<T> = { readonly [K in keyof T]?: T[K] | undefined };

const fields: Readonly<Record<keyof KeyState, true>> = {
  last_rotation: true,
  next_rotation: true,
  last_error: true,
  pending: true,
  managed: true,
  made_for: true,
  retiring: true,
  current: true,
};

/** For records that have the fields of `KeyState` themselves. */
export function ownKeyState<R extends KeyState>(): Lens<R, KeyState> {
  return ownFields<R, KeyState>(fields);
}

export interface KeyRotationOptions<R> {
  /** Of the scheduled jobs; never renamed. */
  readonly kind: string;
  /** A record in messages: `static role "app"`. */
  called(id: string): string;
  /** A record, as operators know it where its rotation fails. */
  about(id: string): Subject;
  /** How events name a record, and the paths of the mount that show it. */
  reported(id: string): Reported;
  /** The most keys that a user may have. */
  readonly keysPerUser: number;
  records(storage: Pick<StorageView, 'collection'>): Collection<R>;
  readonly lens: Lens<R, KeyState>;
  plan(record: R): RotationPlan;
  /** Seconds for which a replaced key stays good. */
  grace(record: R): number;
  /** What the keys of this record are changed with. */
  session(record: R, signal: AbortSignal): Promise<CloudSession>;
  user(record: R, session: CloudSession, signal: AbortSignal): Promise<ManagedUser>;
  /** In whose name the user is claimed. */
  manager(id: string): string;
  /** Whether the first rotation of the record takes its user from whoever manages it. */
  adopts?(record: R): boolean;
  /** Part of the commit that begins to replace a key that is there. @throws BadRequest where others would lose it */
  claimKey?(tx: Transaction, key: string, adopt: boolean): Promise<void>;
  /** Looks at the keys that are there before anything is begun; a throw refuses. Ids, oldest first. */
  check?(record: R, user: string, keys: readonly string[], adopt: boolean): void | Promise<void>;
  /** Where the user has as many keys as it may: the oldest is deleted. Otherwise that is refused by `check`. */
  readonly makesRoom: boolean;
  /** A new key is stored and in use. */
  switched?(): void;
  /** What is thrown for a record that is not there. */
  missing(id: string): Error;
}

/** What is seen at the provider before a change is claimed. */
interface Prepared {
  readonly session: CloudSession;
  /** Absent where a replacement is open already. */
  readonly fresh?: { readonly managed: ManagedUser; readonly keys: readonly string[] };
  readonly managed: ManagedUser;
}

type KeyWork<R> = Work<R, KeyState, Prepared>;

/**
 * Keys of users that are replaced: create, try the new key, switch, deactivate, delete. The provider makes the key, so it cannot be stored before: the
 * ids of the keys that are there are, and a key that is not among them later was made by us and is known to nobody. Each step is stored before the next
 * begins, and whoever comes after a crash goes on from there. The machine decides by its table; a key is `acknowledged` once its secret is stored.
 */
export class KeyRotation<R> {
  readonly #host: EngineHost;
  readonly #managed: ManagedKeys;
  readonly #options: KeyRotationOptions<R>;
  readonly #machine: RotationMachine<R, KeyState, Prepared>;

  constructor(host: EngineHost, managed: ManagedKeys, options: KeyRotationOptions<R>) {
    this.#host = host;
    this.#managed = managed;
    this.#options = options;
    this.#machine = new RotationMachine(host, {
      kind: options.kind,
      lens: options.lens,
      records: (storage) => options.records(storage),
      plan: (record) => options.plan(record),
      called: (id) => options.called(id),
      about: (id) => options.about(id),
      reported: (id) => options.reported(id),
      busy: (id) => `the key of ${options.called(id)}`,
      missing: (id) => options.missing(id),
      messageOf,
      // One user whose keys cannot be changed must not hold up the others.
      target: { live: (id) => rotationTarget(host, options.called(id)) },
      insists: false,
      prepare: async (id, _seen, signal, asked) => this.#prepare(id, signal, asked),
      begin: async (tx, beginning, claim) => this.#begin(tx, beginning, claim),
      carryOut: async (work) => this.#carryOut(work),
      promoted: (state, pending, record, now) => this.#switched(state, pending, options.grace(record), now),
      switching: async (tx, id, before, pending) => this.#switching(tx, id, before, pending),
      dropped: withoutRoom,
      heldUntil: ({ made, begun }) => (made ? 0 : begun + SETTLING),
      after: async (work) => this.#after(work),
      retire: async (id, signal) => this.#retire(id, signal),
      lost: async (_storage, id, record) => {
        const lost = await this.lostTo(id, record);
        return lost && this.#lostText(record, lost);
      },
      stopped: ({ retiring = [], ...state }, at) => {
        const { pending } = state;
        const made = pending?.made ? [{ user: pending.user, access_key: pending.made.access_key, at }] : [];
        return { ...state, retiring: someOf([...retiring, ...made]) };
      },
      release: async (tx, id, record) => {
        const { managed: user, current } = options.lens.state(record);
        const by = options.manager(id);
        await managed.releaseUser(tx, user, by);
        if (current) await managed.releaseKey(tx, current.access_key, by);
      },
    });
  }

  /** To be listed among the engine's schedules. */
  get job() {
    return this.#machine.job;
  }

  /**
   * Stores a new record and makes its first key. What is refused is not stored. `check` may refuse in the same transaction; `adopt` takes the user
   * from whoever manages it.
   */
  async create(
    id: string,
    record: R,
    {
      signal,
      adopt,
      check,
      undo,
    }: {
      readonly signal: AbortSignal;
      readonly adopt: boolean;
      check(tx: Transaction): Promise<void>;
      undo(tx: Transaction): Promise<void>;
    },
  ): Promise<void> {
    await this.#machine.create(id, record, {
      signal,
      adopt,
      prepared: async () => {
        const session = await this.#options.session(record, signal);
        const fresh = await this.#look(session, record, signal, adopt);
        return { session, fresh, managed: fresh.managed };
      },
      state: (before) => {
        if (before !== undefined) throw this.#machine.busy(id);
        return { last_rotation: 0, next_rotation: this.#now() };
      },
      stored: check,
      undone: undo,
    });
  }

  /**
   * Stores a changed record, whose period counts from now. Inside the engine's transaction. `adopt`: takes the user back from whoever manages it now,
   * and replaces the key as soon as may be, since that one may have deleted it.
   */
  async update(
    tx: Transaction,
    id: string,
    record: R,
    { replan, adopt }: { readonly replan: boolean; readonly adopt: boolean },
  ): Promise<void> {
    const { lens, plan, records } = this.#options;
    const state = lens.state(record);
    const by = this.#options.manager(id);
    const again = adopt && state.managed !== undefined && !(await this.#managed.isOwn(tx, state.managed, by));
    if (again) {
      await this.#managed.claimUser(tx, state.managed!, { by, adopt });
      if (state.current) await this.#managed.moveKey(tx, { from: undefined, to: state.current.access_key }, by);
    }
    const planned = replan ? nextRotation(plan(record), this.#now()) : state.next_rotation;
    const next = again ? { ...state, last_error: undefined, next_rotation: this.#now() } : { ...state, next_rotation: planned };
    const stored = lens.withState(record, next);
    await records(tx).put(id, stored);
    // Work under way has its own time to come back at.
    if (!state.pending) await this.#machine.plan(tx, id, stored, 0);
  }

  /** The user and the key are nobody's from then on. */
  async remove(tx: Transaction, id: string): Promise<void> {
    await this.#machine.remove(tx, id);
  }

  /**
   * Replaces the key now. Several calls at a time are one. A failure is reported and shown in the status, and not tried again by itself, unless the
   * replacement has begun at the provider: that is completed in any case. @throws TooManyRequests while another process rotates it.
   */
  async rotate(id: string, signal: AbortSignal, adopt = false): Promise<void> {
    try {
      await this.#machine.rotate(id, signal, { adopt });
    } catch (error) {
      if (!(error instanceof TooManyRequests)) await this.#note(id, error);
      throw error;
    }
  }

  /**
   * At the start of the engine: a record of a version that claimed nothing claims its user, if nobody else has it. Where its account is not stored
   * either, its next rotation claims it.
   */
  async claim(id: string, managed: ManagedUser): Promise<void> {
    const { lens } = this.#options;
    await this.#host.storage.transaction(async (tx) => {
      const records = this.#options.records(tx);
      const record = await records.get(id);
      const state = record === undefined ? undefined : lens.state(record);
      if (record === undefined || state === undefined || state.managed) return;
      const by = this.#options.manager(id);
      if (!(await this.#managed.isTaken(tx, managed))) {
        await this.#managed.claimUser(tx, managed, { by, adopt: false });
        if (state.current) await this.#managed.moveKey(tx, { from: undefined, to: state.current.access_key }, by);
      }
      await records.put(id, lens.withState(record, { ...state, managed }));
    });
  }

  /** Who has the user of this record now, where that is not this record. */
  async lostTo(id: string, record: R): Promise<AccountManager | undefined> {
    const { managed, current } = this.#options.lens.state(record);
    return managed && this.#managed.lostTo(managed, current?.access_key, this.#options.manager(id));
  }

  /** Resolves once nothing is under way in this process. */
  async settled(id: string): Promise<void> {
    await this.#machine.settled(id);
  }

  async status(id: string, record: R): Promise<RotationStatus> {
    const state = this.#options.lens.state(record);
    const status = rotationStatus(state, await this.#machine.jobStatus(id));
    const lost = await this.lostTo(id, record);
    if (!lost) return status;
    const message = this.#lostText(record, lost);
    const at = state.last_error?.message === message ? state.last_error.at : this.#now();
    return { ...status, state: 'failed', last_error: { message, time: new Date(at).toISOString() } };
  }

  /** What a rotation that was asked for failed at; a failure that the machine has stored itself stays as it is. */
  async #note(id: string, error: unknown): Promise<void> {
    const message = messageOf(error);
    const noted = this.#machine.change(id, undefined, (state) =>
      state.last_error?.message === message ? state : { ...state, last_error: { message, at: this.#now() } },
    );
    await noted.catch((failure: unknown) =>
      this.#host.log.warn('the failure of a rotation could not be stored', { id, error: String(failure) }),
    );
  }

  async #prepare(id: string, signal: AbortSignal, { adopt }: Asked): Promise<Prepared> {
    const { lens, missing } = this.#options;
    const records = this.#options.records(this.#host.storage);
    const before = await records.get(id);
    const lost = before === undefined ? undefined : await this.lostTo(id, before);
    if (before !== undefined && lost && !adopt) throw new BadRequest(this.#lostText(before, lost));
    // What was replaced before must not take the place of the new key.
    if (!this.#options.makesRoom) await this.#retire(id, signal, true);
    const seen = await records.get(id);
    if (seen === undefined) throw missing(id);
    const session = await this.#options.session(seen, signal);
    const { pending, managed } = lens.state(seen);
    if (!pending) {
      const fresh = await this.#look(session, seen, signal, adopt);
      return { session, fresh, managed: fresh.managed };
    }
    if (managed) return { session, managed };
    return { session, managed: { user: pending.user, account: await during('error asking for the account', session.ownAccount(signal)) } };
  }

  async #begin(
    tx: Transaction,
    { id, record, state, prepared, adopt }: Beginning<R, KeyState, Prepared>,
    claim: Claim,
  ): Promise<KeyState | undefined> {
    const { managed, fresh } = prepared;
    if (!state.pending && !fresh) return undefined;
    const adopts = adopt || (state.managed === undefined && this.#options.adopts?.(record) === true);
    await this.#managed.claimUser(tx, managed, { by: this.#options.manager(id), adopt: adopts });
    if (state.current) await this.#options.claimKey?.(tx, state.current.access_key, adopts);
    const { begun } = state.pending ?? claim;
    const open = state.pending ?? { user: managed.user, known: [...fresh!.keys], made: null };
    return { ...state, managed, pending: { ...open, ...claim, begun } };
  }

  /** Sees the user and its keys, oldest first, and whether a replacement may begin. */
  async #look(session: CloudSession, record: R, signal: AbortSignal, adopt: boolean): Promise<{ managed: ManagedUser; keys: string[] }> {
    const managed = await this.#options.user(record, session, signal);
    const keys = await oldestFirst(session, managed.user, signal);
    await this.#options.check?.(record, managed.user, keys, adopt);
    return { managed, keys };
  }

  /** Makes a key, unless an earlier try has, and tries it. A provider that refuses to make one has made none. */
  async #carryOut(work: KeyWork<R>): Promise<Tried> {
    const { pending, prepared, signal } = work;
    const { session } = prepared;
    let { made } = pending;
    let { attempt } = work;
    try {
      let keys = await oldestFirst(session, pending.user, signal);
      const isGone = made !== null && !keys.includes(made.access_key) && this.#now() >= pending.begun + SETTLING;
      if (made === null || isGone) {
        if (made === null && attempt === 'again') keys = await withoutStrays(session, pending, keys, signal);
        made = null;
        attempt = 'first';
        await this.#makeRoom(work, keys);
        made = await this.#make(work);
      }
      await this.#verify(session, made, signal);
      return { effect: 'acknowledged', login: { proof: 'candidate' } };
    } catch (error) {
      if (made) return { effect: 'acknowledged', login: { proof: 'untried', reason: error }, error };
      return { effect: outcomeOf(error) === 'unknown' ? 'unknown' : 'unsent', attempt, error };
    }
  }

  async #makeRoom({ id, pending, prepared: { session }, signal }: KeyWork<R>, keys: readonly string[]): Promise<void> {
    const { keysPerUser, makesRoom } = this.#options;
    const [oldest] = keys;
    if (oldest === undefined || keys.length < keysPerUser || !makesRoom) return;
    const note = (made: { room?: string }): Promise<void> =>
      this.#machine.change(id, pending.claim, (state) => {
        const { room: _, ...open } = state.pending!;
        return { ...state, pending: { ...open, ...made } };
      });
    await note({ room: oldest });
    try {
      await session.deactivateKey(pending.user, oldest, signal);
    } catch (error) {
      // The key stays in use where it certainly was not deactivated.
      if (outcomeOf(error) !== 'unknown') await note({});
      throw error;
    }
    await session.deleteKey(pending.user, oldest, signal);
  }

  /** A new key, which is stored when this resolves. */
  async #make({ id, pending: { user, claim }, prepared: { session }, signal }: KeyWork<R>): Promise<AccessKey> {
    const begun = this.#now();
    await this.#machine.change(id, claim, (state) => ({ ...state, pending: { ...state.pending!, made: null, begun } }));
    const key = await during('Error creating access keys', session.createKey(user, signal));
    try {
      await this.#machine.change(id, claim, (state) => ({ ...state, pending: { ...state.pending!, made: key } }));
    } catch (error) {
      // Whoever took over does not know of it. The store may be at fault too: then it is found among the keys later.
      await session.deleteKey(user, key.access_key, signal).catch(() => undefined);
      throw error;
    }
    return key;
  }

  async #verify(session: CloudSession, key: AccessKey, signal: AbortSignal): Promise<void> {
    const accepted = waitUntilAccepted(session, key, { clock: this.#host.clock, atMost: PATIENCE, signal });
    if (await during('Error trying the new access key', accepted)) return;
    throw new UpstreamFailed(`the new access key ${key.access_key} is not accepted yet; it will be tried again`);
  }

  /** The new key is the current one, and the previous one stays good for `grace` seconds. */
  #switched({ current, retiring = [], ...state }: KeyState, { made, user, room }: PendingKey, grace: number, now: number): KeyState {
    const previous = current === undefined ? [] : [{ user, access_key: current.access_key, at: now + grace * 1_000 }];
    const left = [...retiring, ...previous].filter(({ access_key }) => access_key !== room);
    return { ...state, retiring: someOf(left), current: made ?? undefined, made_for: user };
  }

  /** Where the user was taken over meanwhile, the new key goes again, as what is not in use. */
  async #switching(tx: Transaction, id: string, { managed, current }: KeyState, { made }: PendingKey): Promise<void> {
    const by = this.#options.manager(id);
    if (!made || !(await this.#managed.isOwn(tx, managed, by))) {
      throw new InternalError(`the rotation of ${this.#options.called(id)} took too long, or it was changed meanwhile`);
    }
    await this.#managed.moveKey(tx, { from: current?.access_key, to: made.access_key }, by);
  }

  /** Takes away what was replaced and has no grace, and plans what comes next. */
  async #after({ id, byJob, signal }: KeyWork<R>): Promise<void> {
    this.#options.switched?.();
    try {
      await this.#retire(id, signal);
    } catch (error) {
      if (byJob) throw error;
      this.#host.log.warn('a replaced key could not be deleted yet', { id, error: (error as Error).message });
      const message = `the replaced key could not be deleted yet: ${messageOf(error)}`;
      await this.#machine.change(id, undefined, (state) => ({ ...state, last_error: { message, at: this.#now() } }));
      return;
    }
    if (byJob) return;
    await this.#host.storage.transaction(async (tx) => {
      const record = await this.#options.records(tx).get(id);
      if (record !== undefined && !this.#options.lens.state(record).pending) await this.#machine.plan(tx, id, record, 0);
    });
  }

  /** Deactivates and deletes the replaced keys whose time has come, or all. */
  async #retire(id: string, signal: AbortSignal, all = false): Promise<void> {
    const record = await this.#options.records(this.#host.storage).get(id);
    if (record === undefined) return;
    const due = (this.#options.lens.state(record).retiring ?? []).filter(({ at }) => all || at <= this.#now());
    if (due.length === 0) return;
    const session = await this.#options.session(record, signal);
    for (const { user, access_key } of due) {
      await during('Error deactivating the replaced access key', session.deactivateKey(user, access_key, signal));
      await during('Error deleting the replaced access key', session.deleteKey(user, access_key, signal));
      await this.#machine.change(id, undefined, ({ retiring = [], ...state }) => ({
        ...state,
        last_error: undefined,
        retiring: someOf(retiring.filter((key) => key.access_key !== access_key)),
      }));
    }
  }

  #lostText(record: R, lost: AccountManager): string {
    return lostText(this.#options.lens.state(record).managed!.user, lost);
  }

  #now(): number {
    return this.#host.clock.millis();
  }
}

/**
 * A key that made room for one that never came may be deactivated and not yet deleted, so it is deleted once more. A current key that made room is replaced
 * as soon as may be.
 */
function withoutRoom({ retiring = [], ...state }: KeyState, { room, user }: PendingKey, now: number): KeyState {
  if (room === undefined) return { ...state, retiring: someOf(retiring) };
  const others = retiring.filter(({ access_key }) => access_key !== room);
  const left = { ...state, retiring: [...others, { user, access_key: room, at: now }] };
  return state.current?.access_key === room ? { ...left, current: undefined, next_rotation: now } : left;
}

/** The keys that were there before. The others are deleted: their secrets were never stored. */
async function withoutStrays(session: CloudSession, { user, known }: PendingKey, keys: string[], signal: AbortSignal): Promise<string[]> {
  for (const stray of keys.filter((key) => !known.includes(key))) await session.deleteKey(user, stray, signal);
  return keys.filter((key) => known.includes(key));
}

async function oldestFirst(session: CloudSession, user: string, signal: AbortSignal): Promise<string[]> {
  const keys = await during('Error listing the access keys of the user', session.listKeys(user, signal));
  return [...keys].sort((a, b) => a.created.getTime() - b.created.getTime() || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
}

/** The list, unless it is empty. */
function someOf<T>(list: T[]): T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** The text without the words of an answer around it. */
function messageOf(error: unknown): string {
  return isCloudError(error) || error instanceof Error ? error.message : String(error);
}

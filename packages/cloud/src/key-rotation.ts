import { randomUUID } from 'node:crypto';
import {
  BadRequest,
  InternalError,
  TooManyRequests,
  UpstreamFailed,
  type AccountManager,
  type Collection,
  type EngineHost,
  type Schedule,
  type StorageView,
  type Transaction,
} from '@strongroom/engine-sdk';
import { nextRotation, OneAtATime, rotationStatus, windowHasPassed, type RotationPlan, type RotationStatus } from '@strongroom/rotation';
import { Type } from 'typebox';
import { during, isCloudError, outcomeOf } from './cloud-error.ts';
import type { AccessKey, CloudSession } from './cloud-provider.ts';
import { waitUntilAccepted } from './propagation.ts';
import { lostText, type ManagedKeys } from './managed-keys.ts';
import type { ManagedUser, PendingKey, StaticRoleRecord } from './records.ts';
import { rotationTarget } from './targets.ts';

/** How long a replacement is nobody else's, in milliseconds: longer than a request or a job may take. */
const CLAIM = 105_000;
/** When a job takes up what a request left. Milliseconds. */
const SOON = 10_000;
/** So long a key that was made may not be listed. Milliseconds. */
const SETTLING = 60_000;
/** How long a new key is tried before the work is put off. Milliseconds. */
const PATIENCE = 30_000;

const Job = Type.Object({ id: Type.String() });

/** What is stored of a user's keys, wherever in a record. */
export type KeyState = Pick<
  StaticRoleRecord,
  'last_rotation' | 'next_rotation' | 'last_error' | 'pending' | 'managed' | 'made_for' | 'retiring' | 'current'
>;

export interface KeyRotationOptions<R> {
  /** Of the scheduled jobs; never renamed. */
  readonly kind: string;
  /** A record in messages: `static role "app"`. */
  called(id: string): string;
  /** The most keys that a user may have. */
  readonly keysPerUser: number;
  records(storage: Pick<StorageView, 'collection'>): Collection<R>;
  state(record: R): KeyState;
  /** The record with this state in place of its own; what the state lacks, the record then lacks too. */
  withState(record: R, state: KeyState): R;
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

interface Claimed<R> {
  readonly record: R;
  readonly pending: PendingKey;
  /** Begun before, by somebody who did not come to an end. */
  readonly resumed: boolean;
}

/**
 * Keys of users that are replaced: create, verify with the new key, switch, deactivate, delete. The provider makes the key, so it cannot be stored
 * before: the ids of the keys that are there are, and a key that is not among them later was made by us and is known to nobody. Each step is stored
 * before the next begins, and whoever comes after a crash goes on from there.
 */
export class KeyRotation<R> {
  /** To be listed among the engine's schedules. */
  readonly job: Schedule<typeof Job>;
  readonly #host: EngineHost;
  readonly #managed: ManagedKeys;
  readonly #options: KeyRotationOptions<R>;
  readonly #work = new OneAtATime((id) => this.#busy(id));
  /** Of those under way, the ones that delete replaced keys and make none. */
  readonly #retiring = new Set<string>();

  constructor(host: EngineHost, managed: ManagedKeys, options: KeyRotationOptions<R>) {
    this.#host = host;
    this.#managed = managed;
    this.#options = options;
    this.job = {
      kind: options.kind,
      entry: Job,
      // One user whose keys cannot be changed must not hold up the others.
      target: ({ id }) => rotationTarget(host, options.called(id)),
      run: async ({ id }, _storage, signal) => this.#due(id, signal),
    };
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
  ) {
    await this.#work.alone(id, async () => {
      const { managed, keys, session } = await this.#look(record, signal, adopt);
      const pending = this.#newPending(managed.user, keys);
      await this.#host.storage.transaction(async (tx) => {
        const records = this.#options.records(tx);
        if (await records.has(id)) throw this.#busy(id);
        await this.#managed.claimUser(tx, managed, { by: this.#options.manager(id), adopt });
        await check(tx);
        const stored = this.#options.withState(record, { last_rotation: 0, next_rotation: this.#now(), managed, pending });
        await records.put(id, stored);
        await tx.schedule(this.job, id, new Date(pending.until), { id });
      });
      try {
        await this.#replace(id, { record, pending, resumed: false }, session, signal, false);
      } catch (error) {
        const left = await this.#options.records(this.#host.storage).get(id);
        // Nothing was made, and nothing will be.
        if (left !== undefined && this.#options.state(left).pending === undefined) {
          await this.#host.storage.transaction(async (tx) => {
            await this.remove(tx, id);
            await undo(tx);
          });
        }
        throw error;
      }
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
    const { last_error, ...known } = this.#options.state(record);
    const by = this.#options.manager(id);
    const again = adopt && known.managed !== undefined && !(await this.#managed.isOwn(tx, known.managed, by));
    if (again) {
      await this.#managed.claimUser(tx, known.managed!, { by, adopt });
      if (known.current) await this.#managed.moveKey(tx, { from: undefined, to: known.current.access_key }, by);
    }
    const state: KeyState = again || last_error === undefined ? known : { ...known, last_error };
    const planned = replan ? nextRotation(this.#options.plan(record), this.#now()) : state.next_rotation;
    const next = { ...state, next_rotation: again ? this.#now() : planned };
    await this.#options.records(tx).put(id, this.#options.withState(record, next));
    // Work under way has its own time to come back at.
    if (!state.pending) await this.#schedule(tx, id, next, 0);
  }

  /** The user and the key are nobody's from then on. */
  async remove(tx: Transaction, id: string): Promise<void> {
    const records = this.#options.records(tx);
    const record = await records.get(id);
    if (record !== undefined) {
      const { managed, current } = this.#options.state(record);
      const by = this.#options.manager(id);
      await this.#managed.releaseUser(tx, managed, by);
      if (current) await this.#managed.releaseKey(tx, current.access_key, by);
    }
    await records.delete(id);
    await tx.unschedule(this.job, id);
  }

  /**
   * Replaces the key now. Several calls at a time are one. A failure is told and shown in the status, and not tried again by itself, unless the
   * replacement has begun at the provider: that is brought to an end in any case. @throws TooManyRequests while another process is at it.
   */
  async rotate(id: string, signal: AbortSignal, adopt = false): Promise<void> {
    if (this.#retiring.has(id)) await this.settled(id);
    await this.#work.join(id, async () => {
      try {
        await this.#rotate(id, signal, { byJob: false, adopt });
      } catch (error) {
        if (!(error instanceof TooManyRequests)) await this.#note(id, error);
        throw error;
      }
    });
  }

  /**
   * At the start of the engine: a record of a version that claimed nothing claims its user, if nobody else has it. Where its account is not stored
   * either, its next rotation claims it.
   */
  async claim(id: string, managed: ManagedUser): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const records = this.#options.records(tx);
      const record = await records.get(id);
      const state = record === undefined ? undefined : this.#options.state(record);
      if (record === undefined || state === undefined || state.managed) return;
      const by = this.#options.manager(id);
      if (!(await this.#managed.isTaken(tx, managed))) {
        await this.#managed.claimUser(tx, managed, { by, adopt: false });
        if (state.current) await this.#managed.moveKey(tx, { from: undefined, to: state.current.access_key }, by);
      }
      await records.put(id, this.#options.withState(record, { ...state, managed }));
    });
  }

  /** Who has the user of this record now, where that is not this record. */
  async lostTo(id: string, record: R): Promise<AccountManager | undefined> {
    const { managed, current } = this.#options.state(record);
    return managed && this.#managed.lostTo(managed, current?.access_key, this.#options.manager(id));
  }

  /** Resolves once nothing is under way in this process. */
  async settled(id: string): Promise<void> {
    await this.#work.underWay(id)?.catch(() => undefined);
  }

  async status(id: string, record: R): Promise<RotationStatus> {
    const state = this.#options.state(record);
    const status = rotationStatus(state, await this.#host.storage.jobStatus(this.job, id));
    const lost = await this.lostTo(id, record);
    if (!lost) return status;
    const message = lostText(state.managed!.user, lost);
    const at = state.last_error?.message === message ? state.last_error.at : this.#now();
    return { ...status, state: 'failed', last_error: { message, time: new Date(at).toISOString() } };
  }

  async #due(id: string, signal: AbortSignal): Promise<Date | undefined> {
    const records = this.#options.records(this.#host.storage);
    const record = await records.get(id);
    if (record === undefined) return undefined;
    const { pending, next_rotation, current } = this.#options.state(record);
    const now = this.#now();
    if (pending && pending.until > now) return new Date(pending.until);
    const running = this.#work.underWay(id);
    if (running) {
      await running;
      return this.#due(id, signal);
    }
    const due = next_rotation > 0 && next_rotation <= now;
    const lost = await this.lostTo(id, record);
    if (lost) await this.#stop(id, lost);
    if (lost) {
      this.#retiring.add(id);
      await this.#work.alone(id, async () => this.#retire(id, signal)).finally(() => this.#retiring.delete(id));
    } else if (!pending && due && current !== undefined && windowHasPassed(this.#options.plan(record), next_rotation, now)) {
      await this.#skip(id, next_rotation);
    } else if (pending || due) {
      await this.#work.alone(id, async () => this.#rotate(id, signal, { byJob: true, adopt: false }));
    } else {
      this.#retiring.add(id);
      await this.#work.alone(id, async () => this.#retire(id, signal)).finally(() => this.#retiring.delete(id));
    }
    const after = await records.get(id);
    const at = after === undefined ? 0 : timeOf(this.#options.state(after));
    return at === 0 ? undefined : new Date(at);
  }

  /** The window is over: waits for the next time. */
  async #skip(id: string, missed: number): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const records = this.#options.records(tx);
      const record = await records.get(id);
      if (record === undefined || this.#options.state(record).next_rotation !== missed) return;
      const next_rotation = nextRotation(this.#options.plan(record), this.#now());
      await records.put(id, this.#options.withState(record, { ...this.#options.state(record), next_rotation }));
    });
    this.#host.log.warn(`${this.#options.called(id)} was not rotated within its window`);
  }

  /** Somebody else has the user: nothing of it is replaced here any more, and the status says so. Own keys that were to go still go. */
  async #stop(id: string, lost: AccountManager): Promise<void> {
    await this.#change(id, undefined, ({ pending, ...state }) => ({
      ...state,
      next_rotation: 0,
      retiring: [
        ...(state.retiring ?? []),
        ...(pending?.made ? [{ user: pending.user, access_key: pending.made.access_key, at: this.#now() }] : []),
      ],
      last_error: { message: lostText(state.managed!.user, lost), at: this.#now() },
    }));
    this.#host.log.warn(`${this.#options.called(id)} is not rotated any more: another manages its user`, {
      by: lost.by,
      mount: lost.mount,
    });
  }

  /** What a rotation that was asked for failed at; a failure that the rotation has stored itself stays as it is. */
  async #note(id: string, error: unknown): Promise<void> {
    const message = messageOf(error);
    await this.#change(id, undefined, (state) =>
      state.last_error?.message === message ? state : { ...state, last_error: { message, at: this.#now() } },
    ).catch((failure: unknown) => this.#host.log.warn('the failure of a rotation could not be stored', { id, error: String(failure) }));
  }

  async #rotate(id: string, signal: AbortSignal, { byJob, adopt }: { readonly byJob: boolean; readonly adopt: boolean }): Promise<void> {
    const before = await this.#options.records(this.#host.storage).get(id);
    const lost = before === undefined ? undefined : await this.lostTo(id, before);
    if (lost && !adopt) throw new BadRequest(lostText(this.#options.state(before!).managed!.user, lost));
    // What was replaced before must not take the place of the new key.
    if (!this.#options.makesRoom) await this.#retire(id, signal, true);
    const seen = await this.#options.records(this.#host.storage).get(id);
    if (seen === undefined) throw this.#options.missing(id);
    const session = await this.#options.session(seen, signal);
    const claimed = await this.#claim(id, session, signal, { byJob, adopt });
    await this.#replace(id, claimed, session, signal, byJob);
  }

  async #claim(
    id: string,
    session: CloudSession,
    signal: AbortSignal,
    { byJob, adopt }: { readonly byJob: boolean; readonly adopt: boolean },
  ): Promise<Claimed<R>> {
    const seen = await this.#options.records(this.#host.storage).get(id);
    if (seen === undefined) throw this.#options.missing(id);
    const before = this.#options.state(seen);
    const fresh = before.pending ? undefined : await this.#look(seen, signal, adopt);
    const managed = fresh?.managed ??
      before.managed ?? { user: before.pending!.user, account: await during('error asking for the account', session.ownAccount(signal)) };
    return this.#host.storage.transaction(async (tx) => {
      const records = this.#options.records(tx);
      const record = await records.get(id);
      if (record === undefined) throw this.#options.missing(id);
      const state = this.#options.state(record);
      if (state.pending && state.pending.until > this.#now()) throw this.#busy(id, state.pending.until);
      // Somebody rotated it since it was looked at: what is asked for has just been done.
      if ((!state.pending && !fresh) || state.last_rotation !== before.last_rotation) throw this.#busy(id);
      const by = this.#options.manager(id);
      const adopts = adopt || (state.managed === undefined && this.#options.adopts?.(record) === true);
      await this.#managed.claimUser(tx, managed, { by, adopt: adopts });
      if (state.current) await this.#options.claimKey?.(tx, state.current.access_key, adopts);
      const claim = { claim: randomUUID(), until: this.#now() + CLAIM };
      const pending = state.pending ? { ...state.pending, ...claim } : { ...this.#newPending(managed.user, fresh!.keys), ...claim };
      await records.put(id, this.#options.withState(record, { ...state, managed, pending }));
      // A job that is running has a claim of its own, and comes back by itself.
      if (!byJob) await tx.schedule(this.job, id, new Date(pending.until), { id });
      return { record, pending, resumed: state.pending !== undefined };
    });
  }

  /** Sees the user and its keys, oldest first, and whether a replacement may begin. */
  async #look(record: R, signal: AbortSignal, adopt: boolean): Promise<{ managed: ManagedUser; keys: string[]; session: CloudSession }> {
    const session = await this.#options.session(record, signal);
    const managed = await this.#options.user(record, session, signal);
    const keys = await oldestFirst(session, managed.user, signal);
    await this.#options.check?.(record, managed.user, keys, adopt);
    return { managed, keys, session };
  }

  async #replace(id: string, claimed: Claimed<R>, session: CloudSession, signal: AbortSignal, byJob: boolean): Promise<void> {
    const { claim } = claimed.pending;
    try {
      const key = await this.#newKey(id, claimed, session, signal);
      await this.#verify(session, key, signal);
      await this.#switch(id, claim, byJob);
    } catch (error) {
      await this.#failed(id, claim, error, byJob);
      throw error;
    }
    this.#options.switched?.();
    try {
      await this.#retire(id, signal);
    } catch (error) {
      if (byJob) throw error;
      this.#host.log.warn('a replaced key could not be deleted yet', { id, error: (error as Error).message });
      await this.#change(id, undefined, (state) => ({
        ...state,
        last_error: { message: `the replaced key could not be deleted yet: ${messageOf(error)}`, at: this.#now() },
      }));
      return;
    }
    if (!byJob) await this.#host.storage.transaction(async (tx) => this.#replan(tx, id));
  }

  /** The key that was made before, if it is still there, or a new one, which is stored when this resolves. */
  async #newKey(id: string, { pending, resumed }: Claimed<R>, session: CloudSession, signal: AbortSignal): Promise<AccessKey> {
    const { user, claim, known } = pending;
    let keys = await oldestFirst(session, user, signal);
    const { made } = pending;
    if (made) {
      if (keys.includes(made.access_key) || this.#now() < pending.begun + SETTLING) return made;
    } else if (resumed) {
      // The secret of such a key was never stored, and nobody has it.
      for (const stray of keys.filter((key) => !known.includes(key))) await session.deleteKey(user, stray, signal);
      keys = keys.filter((key) => known.includes(key));
    }
    const [oldest] = keys;
    if (oldest !== undefined && keys.length >= this.#options.keysPerUser && this.#options.makesRoom) {
      await this.#change(id, claim, (state) => ({ ...state, pending: { ...state.pending!, room: oldest } }));
      await session.deactivateKey(user, oldest, signal);
      await session.deleteKey(user, oldest, signal);
    }
    await this.#change(id, claim, (state) => ({ ...state, pending: { ...state.pending!, made: null, begun: this.#now() } }));
    const key = await during('Error creating access keys', session.createKey(user, signal));
    try {
      await this.#change(id, claim, (state) => ({ ...state, pending: { ...state.pending!, made: key } }));
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

  async #switch(id: string, claim: string, byJob: boolean): Promise<void> {
    const now = this.#now();
    await this.#host.storage.transaction(async (tx) => {
      const records = this.#options.records(tx);
      const record = await records.get(id);
      const state: KeyState = record === undefined ? { last_rotation: 0, next_rotation: 0 } : this.#options.state(record);
      const { pending, last_error: _past, current, ...rest } = state;
      if (record === undefined || !pending?.made || pending.claim !== claim) throw this.#overtaken(id);
      const by = this.#options.manager(id);
      // Taken over meanwhile: the new key goes again, as what is not in use.
      if (!(await this.#managed.isOwn(tx, rest.managed, by))) throw this.#overtaken(id);
      const before =
        current === undefined
          ? []
          : [{ user: pending.user, access_key: current.access_key, at: now + this.#options.grace(record) * 1_000 }];
      const retiring = [...(rest.retiring ?? []), ...before].filter(({ access_key }) => access_key !== pending.room);
      const next: KeyState = {
        ...rest,
        retiring,
        current: pending.made,
        made_for: pending.user,
        last_rotation: now,
        next_rotation: nextRotation(this.#options.plan(record), now, state.last_rotation === 0),
      };
      await this.#managed.moveKey(tx, { from: current?.access_key, to: pending.made.access_key }, by);
      await records.put(id, this.#options.withState(record, next));
      if (!byJob) await this.#schedule(tx, id, next, now + SOON);
    });
  }

  /** Deactivates and deletes the replaced keys whose time has come, or all. */
  async #retire(id: string, signal: AbortSignal, all = false): Promise<void> {
    const record = await this.#options.records(this.#host.storage).get(id);
    if (record === undefined) return;
    const due = (this.#options.state(record).retiring ?? []).filter(({ at }) => all || at <= this.#now());
    if (due.length === 0) return;
    const session = await this.#options.session(record, signal);
    for (const { user, access_key } of due) {
      await during('Error deactivating the replaced access key', session.deactivateKey(user, access_key, signal));
      await during('Error deleting the replaced access key', session.deleteKey(user, access_key, signal));
      await this.#change(id, undefined, ({ last_error: _past, ...state }) => ({
        ...state,
        retiring: (state.retiring ?? []).filter((key) => key.access_key !== access_key),
      }));
    }
  }

  /** Decides what of a failed replacement stays to be taken up. */
  async #failed(id: string, claim: string, error: unknown, byJob: boolean): Promise<void> {
    const nothingMade = outcomeOf(error) !== 'unknown';
    const now = this.#now();
    await this.#host.storage.transaction(async (tx) => {
      const records = this.#options.records(tx);
      const record = await records.get(id);
      const state = record === undefined ? undefined : this.#options.state(record);
      if (record === undefined || state?.pending?.claim !== claim) return;
      const { pending, ...rest } = state;
      const failed = { ...rest, last_error: { message: messageOf(error), at: now } };
      const next = pending.made
        ? { ...failed, pending: { ...pending, until: 0 } }
        : nothingMade
          ? withoutRoom(failed, pending.room, now)
          : { ...failed, pending: { ...pending, until: pending.begun + SETTLING } };
      await records.put(id, this.#options.withState(record, next));
      if (!byJob) await this.#schedule(tx, id, next, now + SOON);
    });
  }

  /** Changes the state as long as the claim stands; without a claim, in any case. */
  async #change(id: string, claim: string | undefined, change: (state: KeyState) => KeyState): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const records = this.#options.records(tx);
      const record = await records.get(id);
      const state = record === undefined ? undefined : this.#options.state(record);
      if (claim !== undefined && state?.pending?.claim !== claim) throw this.#overtaken(id);
      if (record !== undefined && state) await records.put(id, this.#options.withState(record, change(state)));
    });
  }

  async #replan(tx: Transaction, id: string): Promise<void> {
    const record = await this.#options.records(tx).get(id);
    const state = record === undefined ? undefined : this.#options.state(record);
    if (state && !state.pending) await this.#schedule(tx, id, state, 0);
  }

  /** Plans the job for what comes next, but not before `earliest`. */
  async #schedule(tx: Transaction, id: string, state: KeyState, earliest: number): Promise<void> {
    const at = timeOf(state);
    if (at === 0) await tx.unschedule(this.job, id);
    else await tx.schedule(this.job, id, new Date(Math.max(at, earliest)), { id });
  }

  #newPending(user: string, known: readonly string[]): PendingKey {
    const now = this.#now();
    return { user, known: [...known], made: null, begun: now, claim: randomUUID(), until: now + CLAIM };
  }

  /** `until`: when the claim of another process ends, which may have died. */
  #busy(id: string, until?: number): TooManyRequests {
    const otherwise = until === undefined ? '' : `; if it was cut off, it is taken up at ${new Date(until).toISOString()}`;
    return new TooManyRequests(`the key of ${this.#options.called(id)} is being rotated${otherwise}`, { headers: { 'Retry-After': '1' } });
  }

  #overtaken(id: string): InternalError {
    return new InternalError(`the rotation of ${this.#options.called(id)} took too long, or it was changed meanwhile`);
  }

  #now(): number {
    return this.#host.clock.millis();
  }
}

/** When there is something to do next. Milliseconds; 0 for never. */
function timeOf({ pending, next_rotation, retiring }: KeyState): number {
  if (pending) return Math.max(1, pending.until);
  const times = [next_rotation, ...(retiring ?? []).map(({ at }) => at)].filter((time) => time > 0);
  return times.length === 0 ? 0 : Math.min(...times);
}

/** A current key that made room for one that never came is gone; it is replaced as soon as may be. */
function withoutRoom(state: KeyState, room: string | undefined, now: number): KeyState {
  const retiring = (state.retiring ?? []).filter(({ access_key }) => access_key !== room);
  const { current, ...rest } = { ...state, retiring };
  if (current === undefined) return rest;
  return current.access_key === room ? { ...rest, next_rotation: now } : { ...rest, current };
}

async function oldestFirst(session: CloudSession, user: string, signal: AbortSignal): Promise<string[]> {
  const keys = await during('Error listing the access keys of the user', session.listKeys(user, signal));
  return [...keys].sort((a, b) => a.created.getTime() - b.created.getTime() || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
}

/** The text without the words of an answer around it. */
function messageOf(error: unknown): string {
  return isCloudError(error) || error instanceof Error ? error.message : String(error);
}

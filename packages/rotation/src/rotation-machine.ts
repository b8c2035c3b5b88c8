import { randomUUID } from 'node:crypto';
import {
  EngineError,
  InternalError,
  requestOf,
  TooManyRequests,
  type Collection,
  type EngineHost,
  type Report,
  type JobStatus,
  type JobTry,
  type Schedule,
  type StorageView,
  type Subject,
  type Transaction,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { loginOf, type Finding, type Login } from './login.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { nextRotation, windowHasPassed, type RotationPlan } from './rotation-plan.ts';
import { stageOf, verdictOn, type Attempt, type Effect, type Kind, type Move } from './rotation-table.ts';

/** How long a claim lasts, in milliseconds: longer than a request or a job may take. */
const CLAIM = 105_000;
/** When a job takes up what a request left open. Milliseconds. */
const SOON = 10_000;

const Job = Type.Object({ id: Type.String(), target: Type.Optional(Type.String()) });

/** Who is at work on a change until when. Milliseconds. */
export interface Claim {
  /** When the change was last asked for outside. */
  readonly begun: number;
  readonly claim: string;
  readonly until: number;
}

/** What every stored rotation has, whatever is rotated. What is undefined is not stored. */
export interface StoredRotation {
  /** Milliseconds; 0 before the first rotation. */
  readonly last_rotation: number;
  /** Milliseconds; 0 where none is planned. */
  readonly next_rotation: number;
  readonly demanded?: number | undefined;
  readonly current?: unknown;
  readonly pending?: Claim | undefined;
  readonly shelved?: unknown;
  /** Replaced credentials that are still good, and until when. */
  readonly retiring?: readonly { readonly at: number }[] | undefined;
  readonly last_error?: { readonly message: string; readonly at: number } | undefined;
  readonly login?: Login | undefined;
}

/** The open change of a stored rotation. */
export type Pending<S extends StoredRotation> = NonNullable<S['pending']>;

/** Where in a record its rotation is stored. */
export interface Lens<R, S> {
  state(record: R): S;
  /** The record with this state in place of its own; what is absent or undefined in the state, the record then lacks too. */
  withState(record: R, state: S): R;
}

/** Who asked for a rotation, and what for. */
export interface Asked {
  /** The schedule; otherwise a request. */
  readonly byJob: boolean;
  /** Takes the account over from whoever manages it now. */
  readonly adopt: boolean;
}

/**
 * Part of the commit that claims a rotation on demand: what else ends with it, and the record as it is then. A throw refuses the rotation. May run again on a
 * conflict, so it touches nothing but `tx`.
 */
export type Claiming<R> = (tx: Transaction, record: R) => Promise<R>;

/** What a change begins from. */
export interface Beginning<R, S, B> extends Asked {
  readonly id: string;
  readonly record: R;
  readonly state: S;
  /** What `prepare` resolved with. */
  readonly prepared: B;
}

/** One change that is claimed. */
export interface Work<R, S extends StoredRotation, B> {
  readonly id: string;
  /** As it was stored with the claim. */
  readonly record: R;
  readonly pending: Pending<S>;
  readonly kind: Kind;
  readonly attempt: Attempt;
  /** What `prepare` resolved with. */
  readonly prepared: B;
  readonly byJob: boolean;
  readonly signal: AbortSignal;
}

/** What a try came to. */
export interface Tried {
  readonly effect: Effect;
  readonly login?: Finding | undefined;
  /** `first`: this try has made sure that nothing of an earlier one is left outside. Default: as the work says. */
  readonly attempt?: Attempt;
  /** What failed. Set unless the candidate is promoted. */
  readonly error?: unknown;
}

/** How one kind of credential is changed. `S` is what is stored of it, and `B` what is looked up before a change is claimed. */
export interface Method<R, S extends StoredRotation, B> {
  /** Of the scheduled jobs; never renamed. */
  readonly kind: string;
  readonly lens: Lens<R, S>;
  records(storage: Pick<StorageView, 'collection'>): Collection<R>;
  plan(record: R): RotationPlan;
  /** A record in messages: `the static role app`. */
  called(id: string): string;
  /** A record, as operators know it where its rotation fails. */
  about?(id: string, record: R): Subject;
  /** How events name a record, and the paths of the mount that show it, most useful first. Default: as messages do, and `failing`. */
  reported?(id: string, record: R): Reported;
  /** What is being rotated, in the answer to whoever asks meanwhile. */
  busy(id: string): string;
  /** What is thrown for a record that is not there. */
  missing(id: string): Error;
  messageOf(error: unknown): string;
  /** What callers get for the error of a try. */
  shown?(work: Work<R, S, B>, error: unknown): unknown;

  /** What a circuit breaker guards: stored with the job, or found again for each run. */
  readonly target: { readonly stored: (id: string, record: R) => string } | { readonly live: (id: string) => string };
  /** What is rotated on demand is due until it is through. Otherwise a failure before anything was changed is not tried again. */
  readonly insists: boolean;

  /** Before anything is claimed; changes nothing. A throw refuses the rotation. */
  prepare(id: string, seen: R, signal: AbortSignal, asked: Asked): Promise<B>;
  /** The state that is stored before anything is changed outside. Undefined where another process has rotated it since `prepare`. */
  begin(tx: Transaction, beginning: Beginning<R, S, B>, claim: Claim): Promise<S | undefined>;
  /** Makes the change outside, and tries the candidate. Never rejects. */
  carryOut(work: Work<R, S, B>): Promise<Tried>;
  /** Decides about an open change by a login, without changing anything outside. Absent: an open change is brought to its end in any case. */
  prove?(work: Omit<Work<R, S, B>, 'kind' | 'attempt' | 'prepared' | 'byJob'>): Promise<Finding>;

  /** The state with the candidate as the current credential. A throw leaves the change open. */
  promoted(state: S, pending: Pending<S>, record: R, now: number): S;
  /** Part of the commit that promotes. */
  switching?(tx: Transaction, id: string, before: S, pending: Pending<S>): Promise<void>;
  /** The candidate of an open change, to be shelved. */
  shelved?(state: S, pending: Pending<S>): S;
  /** The state after a change that did not happen. */
  dropped?(state: S, pending: Pending<S>, now: number): S;
  /** When a change of unknown outcome may be taken up again. Milliseconds; default: at once. */
  heldUntil?(pending: Pending<S>): number;
  /** After a promotion, outside of its commit. */
  after?(work: Work<R, S, B>): Promise<void>;

  /** Takes away the replaced credentials whose time has come. */
  retire?(id: string, signal: AbortSignal): Promise<void>;
  /** Why the record is not rotated any more: somebody else manages its account. */
  lost?(storage: Pick<StorageView, 'managerOf'>, id: string, record: R): Promise<string | undefined>;
  /** The state of a record that is not rotated any more. */
  stopped?(state: S, now: number): S;
  /** Part of the commit that deletes a record. */
  release?(tx: Transaction, id: string, record: R): Promise<void>;
}

/** A record in events: see `Report` of the SDK. */
export type Reported = Pick<Report, 'name' | 'paths'>;

/** How a record is created. */
export interface Creation<R, S, B> {
  readonly signal: AbortSignal;
  readonly adopt: boolean;
  /** Before anything is claimed; changes nothing outside. A throw refuses. */
  prepared(): Promise<B>;
  /** What the creation begins from. A throw refuses it. */
  state(before: R | undefined): S;
  /** May refuse, before anything is claimed. */
  check?(tx: Transaction): Promise<void>;
  /** Part of the commit that stores the record. */
  stored?(tx: Transaction): Promise<void>;
  /** Part of the commit that removes it, since nothing was changed. */
  undone?(tx: Transaction): Promise<void>;
}

interface Claimed<R, S extends StoredRotation, B> extends Work<R, S, B> {
  /** What was demanded before this call. */
  readonly demanded: number | undefined;
  readonly undone?: ((tx: Transaction) => Promise<void>) | undefined;
}

/**
 * Changes credentials outside by the table in `rotation-table.ts`. A change is stored before it is made, one process at a time works on it, and the
 * table says what happens to the candidate then. How a credential is made, changed and tried is the business of a `Method`.
 */
export class RotationMachine<R, S extends StoredRotation, B> {
  /** To be listed among the engine's schedules. */
  readonly job: Schedule<typeof Job>;
  readonly #host: EngineHost;
  readonly #method: Method<R, S, B>;
  readonly #work = new OneAtATime((id) => this.busy(id));
  /** Of those under way, the ones that only take away replaced credentials. */
  readonly #retiring = new Set<string>();

  constructor(host: EngineHost, method: Method<R, S, B>) {
    this.#host = host;
    this.#method = method;
    const { target } = method;
    this.job = {
      kind: method.kind,
      entry: Job,
      target: (entry) => ('live' in target ? target.live(entry.id) : entry.target!),
      about: async ({ id }, storage) => this.#about(id, storage),
      run: async ({ id }, _storage, signal) => this.#due(id, signal),
    };
  }

  /** Stores a new record and makes its first change. Resolves with a warning where something beside the change failed. */
  async create(id: string, record: R, creation: Creation<R, S, B>): Promise<string | undefined> {
    const { lens, begin } = this.#method;
    const { signal, adopt } = creation;
    return this.#work.alone(id, async () => {
      const prepared = await creation.prepared();
      const work = await this.#host.storage.transaction(async (tx): Promise<Claimed<R, S, B>> => {
        const records = this.#method.records(tx);
        const state = creation.state(await records.get(id));
        await creation.check?.(tx);
        const begun = await begin.call(this.#method, tx, { id, record, state, prepared, byJob: false, adopt }, this.#newClaim());
        if (begun?.pending === undefined) throw this.busy(id);
        await creation.stored?.(tx);
        const stored = lens.withState(record, begun);
        await records.put(id, stored);
        await this.plan(tx, id, stored, 0);
        const attempt = state.pending === undefined ? 'first' : 'again';
        const { undone } = creation;
        return {
          id,
          record,
          pending: pendingOf(begun),
          kind: 'creation',
          attempt,
          prepared,
          byJob: false,
          signal,
          demanded: undefined,
          undone,
        };
      });
      return this.#attempt(work);
    });
  }

  /**
   * Rotates now. Calls that come together are one rotation, with the `claiming` of the first. Resolves with a warning where something beside the change
   * failed. @throws TooManyRequests while another process rotates it
   */
  async rotate(
    id: string,
    signal: AbortSignal,
    { adopt = false, claiming }: { readonly adopt?: boolean; readonly claiming?: Claiming<R> | undefined } = {},
  ): Promise<string | undefined> {
    if (this.#retiring.has(id)) await this.settled(id);
    let warning: string | undefined;
    await this.#work.join(id, async () => {
      warning = await this.#rotate(id, signal, { byJob: false, adopt }, claiming);
    });
    return warning;
  }

  /** Deletes the record, its job and its claim on the account. */
  async remove(tx: Transaction, id: string): Promise<void> {
    const records = this.#method.records(tx);
    const record = await records.get(id);
    if (record !== undefined) await this.#method.release?.(tx, id, record);
    await records.delete(id);
    await tx.unschedule(this.job, id);
  }

  /** Plans the job for what comes next, but not before `earliest`. Milliseconds. `tried`: what a request did just now. */
  async plan(tx: Transaction, id: string, record: R, earliest: number, tried?: JobTry): Promise<void> {
    const at = timeOf(this.#method.lens.state(record));
    await (at === 0 ? tx.unschedule(this.job, id) : this.planAt(tx, id, record, Math.max(at, earliest), tried));
  }

  /** Plans the job. Milliseconds. */
  async planAt(tx: Transaction, id: string, record: R, at: number, tried?: JobTry): Promise<void> {
    const { target } = this.#method;
    const entry = { id, ...('stored' in target ? { target: target.stored(id, record) } : {}) };
    await tx.schedule(this.job, id, new Date(at), entry, tried);
  }

  /** When a job may take up what a request leaves now. Milliseconds. */
  soon(): number {
    return this.#now() + SOON;
  }

  /** What this process is doing with the record, if anything. */
  underWay(id: string): Promise<unknown> | undefined {
    return this.#work.underWay(id);
  }

  /** Resolves once nothing is under way in this process. */
  async settled(id: string): Promise<void> {
    await this.#work.underWay(id)?.catch(() => undefined);
  }

  async jobStatus(id: string): Promise<JobStatus | undefined> {
    return this.#host.storage.jobStatus(this.job, id);
  }

  /** Changes what is stored. `claim`: only while that claim stands. @throws InternalError where it does not */
  async change(id: string, claim: string | undefined, change: (state: S, record: R) => S): Promise<void> {
    const { lens } = this.#method;
    await this.#host.storage.transaction(async (tx) => {
      const records = this.#method.records(tx);
      const record = await records.get(id);
      if (claim !== undefined && (record === undefined || lens.state(record).pending?.claim !== claim)) throw this.#overtaken(id, record);
      if (record !== undefined) await records.put(id, lens.withState(record, change(lens.state(record), record)));
    });
  }

  /** Stores the candidate of an open change as the current credential, and the next time. Resolves with a warning for `refusal`. */
  async promote(
    id: string,
    claim: string,
    login: Login,
    { byJob, refusal, signal }: { byJob: boolean; refusal?: unknown; signal?: AbortSignal },
  ): Promise<string | undefined> {
    const now = this.#now();
    const asked = askedBy(signal);
    const failed = refusal === undefined ? undefined : this.#method.messageOf(refusal);
    await this.#host.storage.transaction(async (tx) => {
      const records = this.#method.records(tx);
      const record = await records.get(id);
      const state = record === undefined ? undefined : this.#method.lens.state(record);
      if (record === undefined || state?.pending?.claim !== claim) throw this.#overtaken(id, record);
      const next = { ...this.#promoted(state, record, now), login };
      const next_rotation = nextRotation(this.#method.plan(record), now, state.last_rotation === 0);
      const last_error = failed === undefined ? undefined : { message: failed, at: now };
      await this.#method.switching?.(tx, id, state, pendingOf(state));
      const stored = this.#method.lens.withState(record, { ...next, next_rotation, last_error });
      await records.put(id, stored);
      this.#report(tx, 'rotation.done', { id, record: stored, ...asked });
      // What comes after a promotion is done here first.
      const tried = { at: new Date(now), took: now - state.pending.begun, ...asked };
      if (!byJob) await this.plan(tx, id, stored, this.#method.after ? now + SOON : 0, tried);
    });
    return failed === undefined ? undefined : `the credential was changed and is stored, but not all went well: ${failed}`;
  }

  /** `until`: when the claim of another process ends, which may have died. */
  busy(id: string, until?: number): TooManyRequests {
    const otherwise = until === undefined ? '' : `; if it was cut off, it resumes at ${new Date(until).toISOString()}`;
    return new TooManyRequests(`${this.#method.busy(id)} is being rotated${otherwise}`, { headers: { 'Retry-After': '1' } });
  }

  async #about(id: string, storage: StorageView): Promise<Subject | undefined> {
    const { about, records } = this.#method;
    const record = about && (await records.call(this.#method, storage).get(id));
    return record && about?.call(this.#method, id, record);
  }

  async #due(id: string, signal: AbortSignal): Promise<Date | undefined> {
    const records = this.#method.records(this.#host.storage);
    const record = await records.get(id);
    if (record === undefined) return undefined;
    const { plan, lens, lost, prove } = this.#method;
    const state = lens.state(record);
    const now = this.#now();
    if (stageOf(state, now) === 'changing') return new Date(state.pending!.until);
    const running = this.#work.underWay(id);
    if (running) {
      await running;
      return this.#due(id, signal);
    }
    const reason = await lost?.call(this.#method, this.#host.storage, id, record);
    if (reason !== undefined) await this.#stop(id, reason);
    const { pending, demanded, next_rotation, current } = state;
    const isDue = pending !== undefined || demanded !== undefined || (next_rotation > 0 && next_rotation <= now);
    const isLate = demanded === undefined && current !== undefined && windowHasPassed(plan(record), next_rotation, now);
    if (reason !== undefined || !isDue) await this.#retire(id, signal);
    else if (isLate && (!pending || prove)) return this.#skip(id, record, signal);
    else {
      const warning = await this.#work.alone(id, async () => this.#rotate(id, signal, { byJob: true, adopt: false }));
      if (warning !== undefined) this.#host.log.warn(`${this.#method.called(id)} was rotated, with a warning`, { id, warning });
    }
    const after = await records.get(id);
    const at = after === undefined ? 0 : timeOf(lens.state(after));
    return at === 0 ? undefined : new Date(at);
  }

  async #rotate(id: string, signal: AbortSignal, asked: Asked, claiming?: Claiming<R>): Promise<string | undefined> {
    const seen = await this.#method.records(this.#host.storage).get(id);
    if (seen === undefined) throw this.#method.missing(id);
    let work: Claimed<R, S, B>;
    try {
      const prepared = await this.#method.prepare(id, seen, signal, asked);
      work = await this.#claim(id, seen, prepared, signal, asked, claiming);
    } catch (error) {
      if (!isMisuse(error)) await this.#reportFailure(id, seen, signal);
      throw error;
    }
    return this.#attempt(work);
  }

  async #claim(id: string, seen: R, prepared: B, signal: AbortSignal, asked: Asked, claiming?: Claiming<R>): Promise<Claimed<R, S, B>> {
    const { lens, insists } = this.#method;
    const { byJob } = asked;
    return this.#host.storage.transaction(async (tx) => {
      const records = this.#method.records(tx);
      const found = await records.get(id);
      if (found === undefined) throw this.#method.missing(id);
      const record = claiming ? await claiming(tx, found) : found;
      const now = this.#now();
      const state = lens.state(record);
      const stage = stageOf(state, now);
      if (stage === 'changing') throw this.busy(id, state.pending?.until);
      // Somebody rotated it since it was looked at: what is asked for has just been done.
      if (state.last_rotation !== lens.state(seen).last_rotation) throw this.busy(id);
      const begun = await this.#method.begin(tx, { id, record, state, prepared, ...asked }, this.#newClaim());
      if (begun?.pending === undefined) throw this.busy(id);
      // Stored with the candidate, so that what was asked for outlives a crash.
      const claimed = lens.withState(record, insists && !byJob ? { ...begun, demanded: state.demanded ?? now } : begun);
      await records.put(id, claimed);
      // A job that is running has a claim of its own, and comes back by itself.
      if (!byJob) await this.plan(tx, id, claimed, 0);
      const kind = state.current === undefined ? 'first' : 'rotation';
      const attempt = stage === 'unsettled' || stage === 'shelved' ? 'again' : 'first';
      return { id, record: claimed, pending: pendingOf(begun), kind, attempt, prepared, byJob, signal, demanded: state.demanded };
    });
  }

  async #attempt(work: Claimed<R, S, B>): Promise<string | undefined> {
    const tried = await this.#method.carryOut(work);
    const { kind, attempt, id, byJob } = work;
    const { effect, login, error } = tried;
    const move = verdictOn({ kind, attempt, ...tried, login: login?.proof });
    if (move !== 'promote') {
      await this.#settle(work, tried, move);
      await this.#reportFailure(id, work.record, work.signal);
      throw this.#method.shown ? this.#method.shown(work, error) : error;
    }
    let warning: string | undefined;
    try {
      warning = await this.promote(id, work.pending.claim, loginOf(login), {
        byJob,
        refusal: effect === 'refused' ? error : undefined,
        signal: work.signal,
      });
    } catch (failure) {
      await this.#settle(work, { ...tried, error: failure }, 'keep');
      await this.#reportFailure(id, work.record, work.signal);
      throw failure;
    }
    await this.#method.after?.(work);
    return warning;
  }

  #report(
    tx: Pick<Transaction, 'report'>,
    kind: Report['kind'],
    { id, record, request }: { id: string; record: R; request?: string },
  ): void {
    const { name, paths } = this.#method.reported?.(id, record) ?? { name: this.#method.called(id), paths: ['failing'] };
    tx.report({ kind, name, paths, ...(request === undefined ? {} : { request }) });
  }

  async #reportFailure(id: string, record: R, signal: AbortSignal): Promise<void> {
    // Where even that cannot be said, the failure itself is what the caller learns.
    await this.#host.storage
      .transaction(async (tx) => this.#report(tx, 'rotation.failed', { id, record, ...askedBy(signal) }))
      .catch(() => undefined);
  }

  /** Stores what a failed try came to, and when it is tried again. */
  async #settle(work: Claimed<R, S, B>, { error, login }: Tried, move: Exclude<Move, 'promote'>): Promise<void> {
    const { id, byJob } = work;
    const now = this.#now();
    await this.#host.storage.transaction(async (tx) => {
      const records = this.#method.records(tx);
      const record = await records.get(id);
      const state = record === undefined ? undefined : this.#method.lens.state(record);
      if (record === undefined || state?.pending?.claim !== work.pending.claim) return;
      if (work.kind === 'creation' && move === 'drop') {
        await this.remove(tx, id);
        await work.undone?.(tx);
        return;
      }
      const message = this.#method.messageOf(error);
      const stored = this.#method.lens.withState(record, {
        ...this.#moved(state, move, now),
        // What could not be done is tried again until it is; what cannot be done as it was asked for is not.
        demanded: !byJob && isMisuse(error) ? work.demanded : state.demanded,
        last_error: { message, at: now },
        login: loginOf(login),
      });
      await records.put(id, stored);
      if (!byJob)
        await this.plan(tx, id, stored, now + SOON, {
          at: new Date(now),
          took: now - work.pending.begun,
          message,
          ...askedBy(work.signal),
        });
    });
  }

  #moved(state: S, move: Exclude<Move, 'promote'>, now: number): S {
    const pending = pendingOf(state);
    if (move === 'keep') return { ...state, pending: { ...pending, until: this.#method.heldUntil?.(pending) ?? 0 } };
    const without: S = { ...state, pending: undefined };
    if (move === 'shelve') return this.#method.shelved?.(without, pending) ?? without;
    return this.#method.dropped?.(without, pending, now) ?? without;
  }

  #promoted(state: S, record: R, at: number): S {
    const next = this.#method.promoted(state, pendingOf(state), record, at);
    return { ...next, pending: undefined, shelved: undefined, demanded: undefined, last_error: undefined, last_rotation: at };
  }

  async #retire(id: string, signal: AbortSignal): Promise<void> {
    const { retire } = this.#method;
    if (!retire) return;
    this.#retiring.add(id);
    await this.#work.alone(id, async () => retire.call(this.#method, id, signal)).finally(() => this.#retiring.delete(id));
  }

  /** Another manager has the account: nothing more is changed here, and the reason stays when that one goes. */
  async #stop(id: string, message: string): Promise<void> {
    const at = this.#now();
    await this.change(id, undefined, (state) => {
      const stopped = this.#method.stopped?.(state, at) ?? state;
      return { ...stopped, pending: undefined, shelved: undefined, demanded: undefined, next_rotation: 0, last_error: { message, at } };
    });
    this.#host.log.warn(`${this.#method.called(id)} is not rotated any more`, { id, reason: message });
  }

  /** The window is over: waits for the next time. Resolves with it. */
  async #skip(id: string, record: R, signal: AbortSignal): Promise<Date> {
    const { lens, plan, prove } = this.#method;
    const seen = lens.state(record);
    const next_rotation = nextRotation(plan(record), this.#now());
    const login = seen.pending && (await prove?.call(this.#method, { id, record, pending: pendingOf(seen), signal }));
    this.#host.log.warn(`${this.#method.called(id)} was not rotated within its window`, {
      id,
      next: new Date(next_rotation).toISOString(),
    });
    const move = verdictOn({ effect: 'skipped', kind: 'rotation', attempt: 'again', login: login?.proof });
    await this.change(id, undefined, (state, stored) => {
      if (state.pending?.claim !== seen.pending?.claim || state.next_rotation !== seen.next_rotation) return state;
      if (!state.pending || move === 'keep') return { ...state, next_rotation };
      const begun = state.pending.begun;
      return { ...(move === 'promote' ? this.#promoted(state, stored, begun) : this.#moved(state, move, begun)), next_rotation };
    });
    return new Date(next_rotation);
  }

  #newClaim(): Claim {
    const now = this.#now();
    return { begun: now, claim: randomUUID(), until: now + CLAIM };
  }

  #overtaken(id: string, record: R | undefined): InternalError {
    const called = this.#method.called(id);
    if (record === undefined) return new InternalError(`${called} was deleted while its credential was changed`);
    return new InternalError(`the rotation of ${called} took too long, and another one has begun`);
  }

  #now(): number {
    return this.#host.clock.millis();
  }
}

/** When there is something to do next. Milliseconds; 0 for never, 1 for at once. */
function timeOf({ pending, demanded, next_rotation, retiring }: StoredRotation): number {
  if (pending) return Math.max(1, pending.until);
  if (demanded !== undefined) return 1;
  const times = [next_rotation, ...(retiring ?? []).map(({ at }) => at)].filter((time) => time > 0);
  return times.length === 0 ? 0 : Math.min(...times);
}

function pendingOf<S extends StoredRotation>({ pending }: S): Pending<S> {
  if (pending === undefined) throw new InternalError('no change is open');
  return pending;
}

/** The error says what is valid, and a second try would be answered the same. */
function isMisuse(error: unknown): boolean {
  return error instanceof EngineError && error.status < 500;
}

/** The request that asked for it, as reports and tries name it. */
function askedBy(signal: AbortSignal | undefined): { readonly request?: string } {
  const request = signal && requestOf(signal);
  return request === undefined ? {} : { request };
}

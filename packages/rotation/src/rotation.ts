import { randomUUID } from 'node:crypto';
import {
  BadRequest,
  EngineError,
  InternalError,
  TooManyRequests,
  UpstreamFailed,
  type Collection,
  type EngineHost,
  type JobStatus,
  type ManagedAccount,
  type Schedule,
  type StorageView,
  type Transaction,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { claimAccount, otherManager, takenOver, type AccountClaims } from './account-claim.ts';
import { loginOf, Unproven, type Finding, type Login } from './login.ts';
import { OneAtATime } from './one-at-a-time.ts';
import type { Outcome, Proof } from './outcome.ts';
import { nextRotation, samePlan, windowHasPassed, type RotationPlan } from './rotation-plan.ts';
import type { PendingChange, RotationState, StateLens } from './rotation-state.ts';
import { rotationStatus, type RotationStatus } from './rotation-status.ts';

/** How long a rotation is nobody else's, in milliseconds: longer than a request or a job may take. */
const CLAIM = 105_000;
/** When a rotation of unknown outcome is taken up again, in milliseconds. */
const SOON = 10_000;

const Job = Type.Object({ id: Type.String(), target: Type.String() });

/** One change of one credential. */
export interface Change<R, C> {
  readonly id: string;
  readonly record: R;
  readonly candidate: C;
  readonly signal: AbortSignal;
}

/** `R` is the engine's record, `C` the credential as it is stored. */
export interface RotationOptions<R, C> {
  /** Of the scheduled jobs; never renamed. */
  readonly kind: string;
  /** What the records are, for messages: `static role`. */
  readonly noun: string;
  readonly lens: StateLens<R, C>;
  records(storage: Pick<StorageView, 'collection'>): Collection<R>;
  plan(record: R): RotationPlan;
  /** What a circuit breaker guards: a connection, a directory. */
  target(id: string, record: R): string;
  /** A new credential. Nothing is changed outside. */
  make(id: string, record: R): Promise<C>;
  /** Makes the change outside. It may be asked for again with a candidate that is there already. */
  apply(change: Change<R, C>): Promise<void>;
  /** What a throw of `apply` means. */
  outcomeOf(error: unknown): Outcome;
  /** The text of a throw as operators may read it, without secrets. */
  messageOf(error: unknown): string;
  /**
   * Logs in with the candidate, then with `record`'s current credential, without changing anything. Asked after every `apply`: a candidate is stored
   * as the current credential when this says `candidate` or `unprovable`, and the previous one is dropped only then. An answer that says nothing of
   * the credential, such as that of an account that may not log in, is `unprovable`; whoever cannot be asked throws, and that counts as nothing.
   */
  prove(change: Change<R, C>): Promise<Proof>;
  /** The engine's own error for what `prove` found, naming the system. Default: `UpstreamFailed` with the target before the text. */
  unproven?(id: string, record: R, text: string): Error;
  /** How the records stand in the registry of managed accounts; absent: they do not. */
  readonly claims?: AccountClaims<R>;
  /** The credential that is changed is also the one that changes it: while neither is accepted nothing can be changed. */
  readonly ofItself?: boolean;
  /** Keeps the previous credential in `previous`. */
  readonly keepsPrevious?: boolean;
  /** What the credential is of, such as a user: a creation of unknown outcome is begun again for the same alone. */
  subject?(record: R): string;
  /** What is thrown for a record that is not there. */
  missing(id: string): Error;
}

/** The credential that the other side takes now. */
export interface CurrentCredential<R, C> {
  readonly record: R;
  readonly credential: C;
  /** Milliseconds. */
  readonly since: number;
  /** A rotation of unknown outcome stands, and no login could tell which credential is good. */
  readonly doubtful: boolean;
  /** The warning that another manager has taken the account over, so that the credential may not be good any more. */
  readonly takenOver?: string;
}

/** How a record is stored. */
export interface Storing {
  /** May refuse in the transaction that stores the record. */
  readonly check?: (tx: Transaction) => Promise<void>;
  /** Takes the account over from whoever manages it now. */
  readonly adopt?: boolean | undefined;
}

/** What came of a rotation. */
interface Done {
  /** The next one that is planned. */
  readonly next?: Date;
  /** Something failed, although the credential was changed. */
  readonly warning?: string;
}

interface Claimed<R, C> {
  readonly record: R;
  readonly pending: PendingChange<C>;
  /** The change was begun before, and its outcome is not known. */
  readonly resumed: boolean;
  /** What was demanded before this call. */
  readonly demanded: number | undefined;
}

/** What became of a candidate after a failure. */
interface Decided {
  /** It is the one that is accepted, whatever failed. */
  readonly through: boolean;
  readonly login: Login;
}

/**
 * Credentials that are changed outside. The candidate is stored before anything is changed. What has an unknown outcome is begun again with the
 * same candidate, and neither the candidate nor the previous credential is dropped before a login has proven the other. A change that is
 * acknowledged is proven by a login too: what the other side says of itself is not enough.
 */
export class Rotation<R, C> {
  /** To be listed among the engine's schedules. */
  readonly job: Schedule<typeof Job>;
  readonly #host: EngineHost;
  readonly #options: RotationOptions<R, C>;
  readonly #work = new OneAtATime((id) => this.#busy(id));

  constructor(host: EngineHost, options: RotationOptions<R, C>) {
    this.#host = host;
    this.#options = options;
    this.job = {
      kind: options.kind,
      entry: Job,
      target: (entry) => entry.target,
      run: async ({ id }, _storage, signal) => this.#due(id, signal),
    };
  }

  /**
   * Stores a new record and rotates its credential, which nobody else knows then. A rotation that certainly changed nothing is not stored; one whose
   * outcome is unknown throws, is stored, and is finished in the background, since the new credential may be in force: `isStored` tells them apart.
   * A creation that was left with an unknown outcome is begun again with its candidate. Resolves with a warning where the credential was changed but
   * something else was refused. @throws BadRequest where a creation for another subject is open, or the account has another manager
   */
  async create(id: string, record: R, signal: AbortSignal, { check, adopt }: Storing = {}): Promise<string | undefined> {
    return this.#work.alone(id, async () => {
      const { lens } = this.#options;
      const fresh = await this.#options.make(id, record);
      const { managed_account: account } = lens.state(record);
      const { pending, resumed } = await this.#host.storage.transaction(async (tx) => {
        const records = this.#options.records(tx);
        const before = await records.get(id);
        const state = before === undefined ? undefined : lens.state(before);
        if (state?.current !== undefined || (state?.pending && state.pending.until > this.#now()))
          throw this.#busy(id, state.pending?.until);
        if (before !== undefined && state?.pending) this.#requireSameSubject(id, before, record);
        await check?.(tx);
        if (account) await this.#claimAccount(tx, id, record, account, adopt);
        // What was left open may be in force, and nobody else knows it.
        const begun = this.#newPending(state?.pending?.made ?? fresh);
        await records.put(
          id,
          lens.withState(record, { last_rotation: 0, next_rotation: 0, pending: begun, ...(account ? { managed_account: account } : {}) }),
        );
        await this.#plan(tx, id, record, begun.until);
        return { pending: begun, resumed: state?.pending !== undefined };
      });
      const change = { id, record, candidate: pending.made, signal };
      let refusal: unknown;
      let login: Login = 'accepted';
      try {
        if (!resumed || (await this.#prove(change)).proof !== 'candidate') login = await this.#carryOut(change);
      } catch (error) {
        refusal = await this.#afterFailedCreation(change, pending, resumed, error);
      }
      return (await this.#commit(id, pending, true, login, refusal)).warning;
    });
  }

  /** Whether a record is stored: after a `create` that threw, whether its rotation is finished in the background. */
  async isStored(id: string): Promise<boolean> {
    return this.#options.records(this.#host.storage).has(id);
  }

  /**
   * Stores a new record without a rotation: the first one comes by the plan. Inside the engine's transaction. @throws BadRequest where the account
   * has another manager
   */
  async adopt(tx: Transaction, id: string, record: R, { check, adopt }: Storing = {}): Promise<void> {
    const state = this.#options.lens.state(record);
    await check?.(tx);
    if (state.managed_account) await this.#claimAccount(tx, id, record, state.managed_account, adopt);
    const next = nextRotation(this.#options.plan(record), this.#now(), true);
    await this.#options.records(tx).put(id, this.#options.lens.withState(record, { ...state, next_rotation: next }));
    await this.#plan(tx, id, record, next);
  }

  /** Stores a changed record; `next` carries the state of `before`. A period counts from the last rotation; a schedule does not look back. */
  async update(tx: Transaction, id: string, before: R, next: R): Promise<void> {
    const { lens, plan } = this.#options;
    const state = lens.state(before);
    const [was, is] = [plan(before), plan(next)];
    const from = is.rotation_schedule === '' && state.last_rotation > 0 ? state.last_rotation : this.#now();
    const planned = samePlan(was, is) ? state.next_rotation : nextRotation(is, from);
    await this.#options.records(tx).put(id, lens.withState(next, { ...state, next_rotation: planned }));
    // Work under way has its own time to come back at, and so has what was demanded.
    if (planned === state.next_rotation || state.pending || state.demanded !== undefined) return;
    await this.#plan(tx, id, next, planned);
  }

  /**
   * Stores a record whose credential must be changed, whatever its plan says, and is tried again until that is done. Inside the engine's
   * transaction; `rotate` afterwards does it at once.
   */
  async demand(tx: Transaction, id: string, record: R): Promise<void> {
    const { lens } = this.#options;
    const now = this.#now();
    const state = lens.state(record);
    await this.#options.records(tx).put(id, lens.withState(record, { ...state, demanded: state.demanded ?? now }));
    if (!state.pending) await this.#plan(tx, id, record, now + SOON);
  }

  /**
   * Takes back the account of a stored record that another manager has taken over, and demands a rotation, since the other one knows its credential.
   * Nothing happens where the account is its own. Inside the engine's transaction, after the record is written. Resolves with whether it was taken
   * back.
   */
  async takeBack(tx: Transaction, id: string): Promise<boolean> {
    const record = await this.#options.records(tx).get(id);
    const account = record === undefined ? undefined : this.#options.lens.state(record).managed_account;
    if (record === undefined || !account || (await this.#otherManager(tx, id, account)) === undefined) return false;
    await this.#claimAccount(tx, id, record, account, true);
    await this.demand(tx, id, record);
    return true;
  }

  /** Deletes the record, its job and its claim on the account. */
  async remove(tx: Transaction, id: string): Promise<void> {
    const records = this.#options.records(tx);
    const { claims, lens } = this.#options;
    const record = claims && (await records.get(id));
    const account = record === undefined ? undefined : lens.state(record).managed_account;
    if (claims && account) await tx.release(account, claims.by(id));
    await records.delete(id);
    await tx.unschedule(this.job, id);
  }

  /**
   * Rotates now. Several calls at a time are one rotation. What fails is tried again in the background until it is through, also without a plan;
   * but not what is refused with a 4xx, which says what would be right. Resolves with a warning where the credential was changed but something else
   * was refused. @throws TooManyRequests while another process is at it
   */
  async rotate(id: string, signal: AbortSignal): Promise<string | undefined> {
    let warning: string | undefined;
    await this.#work.join(id, async () => ({ warning } = await this.#rotate(id, signal, false)));
    return warning;
  }

  /** The credential that the other side takes now, and whether that is in doubt. Undefined before the first rotation. */
  async current(id: string, signal: AbortSignal): Promise<CurrentCredential<R, C> | undefined> {
    const { lens } = this.#options;
    const records = this.#options.records(this.#host.storage);
    let record = await records.get(id);
    const running = this.#work.underWay(id);
    if (record !== undefined && lens.state(record).pending && running) {
      await running.catch(() => undefined);
      record = await records.get(id);
    }
    if (record === undefined) return undefined;
    const { current, pending, shelved, last_rotation, managed_account: account } = lens.state(record);
    if (current === undefined) return undefined;
    const other = await this.#otherManager(this.#host.storage, id, account);
    const lost = other === undefined ? {} : { takenOver: takenOver(this.#options.claims!.called(record), other) };
    const stored = { record, credential: current, since: last_rotation, ...lost };
    const candidate = pending?.made ?? shelved;
    if (candidate === undefined) return { ...stored, doubtful: false };
    const { proof } = await this.#prove({ id, record, candidate, signal });
    if (proof === 'candidate') return { ...stored, credential: candidate, since: pending?.begun ?? last_rotation, doubtful: false };
    return { ...stored, doubtful: proof !== 'current' };
  }

  /**
   * Decides about a candidate that was left behind, as far as a login can tell now, without changing anything outside. The record as it is then;
   * `proof` says what was found, where something was open; `untried` where there was no answer.
   */
  async settle(id: string, record: R, signal: AbortSignal): Promise<{ record: R; proof?: Finding['proof'] }> {
    const { pending } = this.#options.lens.state(record);
    if (!pending) return { record };
    const { proof } = await this.#prove({ id, record, candidate: pending.made, signal });
    if (proof !== 'candidate') return { record, proof };
    if (!this.#work.underWay(id)) await this.#commit(id, pending, true, 'accepted');
    return { record: (await this.#options.records(this.#host.storage).get(id)) ?? record, proof };
  }

  /** Who manages the account of a record in its place, in words; undefined where nobody does. */
  async managedBy(storage: Pick<StorageView, 'managerOf'>, id: string, record: R): Promise<string | undefined> {
    return this.#otherManager(storage, id, this.#options.lens.state(record).managed_account);
  }

  /** The status block of a record. */
  async status(id: string, record: R): Promise<RotationStatus> {
    const job: JobStatus | undefined = await this.#host.storage.jobStatus(this.job, id);
    const state = this.#options.lens.state(record);
    return rotationStatus(state, job, await this.#otherManager(this.#host.storage, id, state.managed_account));
  }

  async #due(id: string, signal: AbortSignal): Promise<Date | undefined> {
    const record = await this.#options.records(this.#host.storage).get(id);
    if (record === undefined) return undefined;
    const { current, pending, next_rotation, demanded, managed_account: account } = this.#options.lens.state(record);
    const now = this.#now();
    const other = await this.#otherManager(this.#host.storage, id, account);
    if (other !== undefined) return this.#stop(id, record, other);
    if (pending && pending.until > now) return new Date(pending.until);
    // What was demanded is due, whatever the plan says.
    if (demanded === undefined) {
      if (!pending && next_rotation === 0) return undefined;
      if (!pending && next_rotation > now) return new Date(next_rotation);
      if (current !== undefined && windowHasPassed(this.#options.plan(record), next_rotation, now)) return this.#skip(id, record, signal);
    }
    const running = this.#work.underWay(id);
    if (running) {
      await running;
      return this.#due(id, signal);
    }
    const { next, warning } = await this.#work.alone(id, async () => this.#rotate(id, signal, true));
    if (warning !== undefined) this.#host.log.warn(`a ${this.#options.noun} was rotated, but not all went well`, { id, warning });
    return next;
  }

  /** Another manager has the account: there is nothing more to do here, and the reason stays when that one goes. */
  async #stop(id: string, seen: R, other: string): Promise<undefined> {
    const { lens, claims, noun } = this.#options;
    const message = takenOver(claims!.called(seen), other);
    await this.#host.storage.transaction(async (tx) => {
      const records = this.#options.records(tx);
      const record = await records.get(id);
      if (record === undefined) return;
      const { pending: _theirs, shelved: _oursToo, demanded: _met, ...state } = lens.state(record);
      await records.put(id, lens.withState(record, { ...state, next_rotation: 0, last_error: { message, at: this.#now() } }));
    });
    this.#host.log.warn(`a ${noun} is not rotated any more`, { id, reason: message });
    return undefined;
  }

  /** The window is over: waits for the next time. Resolves with it. */
  async #skip(id: string, record: R, signal: AbortSignal): Promise<Date> {
    const { pending } = this.#options.lens.state(record);
    const next = nextRotation(this.#options.plan(record), this.#now());
    const proof = pending && (await this.#prove({ id, record, candidate: pending.made, signal })).proof;
    this.#host.log.warn(`a ${this.#options.noun} was not rotated within its window`, { id, next: new Date(next).toISOString() });
    await this.#change(id, pending?.claim, (state) => {
      if (proof === 'candidate' && pending) return { ...this.#promoted(state, pending.made, pending.begun), next_rotation: next };
      const { pending: _decided, ...rest } = state;
      return { ...(proof === 'current' ? rest : state), next_rotation: next };
    });
    return new Date(next);
  }

  async #rotate(id: string, signal: AbortSignal, byJob: boolean): Promise<Done> {
    const claimed = await this.#claim(id, byJob);
    const { record, pending, resumed } = claimed;
    const change = { id, record, candidate: pending.made, signal };
    let finding: Finding | undefined;
    let refusal: unknown;
    let login: Login = 'accepted';
    try {
      await this.#identify(change, pending);
      finding = resumed ? await this.#prove(change) : undefined;
      if (finding?.proof !== 'candidate') {
        if (this.#options.ofItself) this.#requireTaken(finding);
        login = await this.#carryOut(change);
      }
    } catch (error) {
      const decided = await this.#isThroughAfter(claimed, change, error, finding, byJob);
      if (!decided.through) throw this.#shown(change, error);
      ({ login } = decided);
      refusal = error;
    }
    return this.#commit(id, pending, !byJob, login, refusal);
  }

  /** Claims the account of a record that was stored without one. @throws BadRequest where another manager has it */
  async #identify(change: Change<R, C>, { claim }: PendingChange<C>): Promise<void> {
    const { claims, lens, records } = this.#options;
    const { id } = change;
    if (!claims?.identify || lens.state(change.record).managed_account) return;
    const account = await claims.identify(id, change.record, change.signal);
    if (!account) return;
    await this.#host.storage.transaction(async (tx) => {
      const record = await records(tx).get(id);
      if (record === undefined || lens.state(record).pending?.claim !== claim) return;
      await this.#claimAccount(tx, id, record, account);
      await records(tx).put(id, lens.withState(record, { ...lens.state(record), managed_account: account }));
    });
  }

  /** What changes itself needs a credential that is accepted. @throws Unproven */
  #requireTaken(finding: Finding | undefined): void {
    if (finding?.proof === 'neither') throw new Unproven('neither the old nor the new credential is taken', finding);
    if (finding?.proof !== 'untried') return;
    throw new Unproven(`neither the old nor the new credential could be tried: ${this.#options.messageOf(finding.reason)}`, finding);
  }

  /** Resolves with what a login with the new credential found. @throws Unproven where it is not accepted, and what `apply` throws */
  async #carryOut(change: Change<R, C>): Promise<Login> {
    await this.#options.apply(change);
    const finding = await this.#prove(change);
    if (finding.proof === 'candidate' || finding.proof === 'unprovable') return loginOf(finding);
    if (finding.proof === 'current') {
      throw new Unproven('the change was acknowledged, but the old credential is still the one that is taken', finding);
    }
    if (finding.proof === 'untried') {
      throw new Unproven(
        `the change was acknowledged, but the new credential could not be tried: ${this.#options.messageOf(finding.reason)}`,
        finding,
      );
    }
    const which =
      this.#options.lens.state(change.record).current === undefined
        ? 'the new credential is not taken'
        : 'neither the old nor the new credential is taken';
    throw new Unproven(`the change was acknowledged, but ${which}`, finding);
  }

  /** What callers get for a failure: the engine's own error for what a login found. */
  #shown({ id, record }: Change<R, C>, error: unknown): unknown {
    if (!(error instanceof Unproven)) return error;
    const { unproven, target } = this.#options;
    return unproven ? unproven(id, record, error.message) : new UpstreamFailed(`${target(id, record)}: ${error.message}`, { cause: error });
  }

  async #claim(id: string, byJob: boolean): Promise<Claimed<R, C>> {
    const { lens } = this.#options;
    const seen = await this.#options.records(this.#host.storage).get(id);
    if (seen === undefined) throw this.#options.missing(id);
    const before = lens.state(seen);
    const fresh = before.pending || before.shelved !== undefined ? undefined : await this.#options.make(id, seen);
    return this.#host.storage.transaction(async (tx) => {
      const records = this.#options.records(tx);
      const record = await records.get(id);
      if (record === undefined) throw this.#options.missing(id);
      const state = lens.state(record);
      if (state.pending && state.pending.until > this.#now()) throw this.#busy(id, state.pending.until);
      const { shelved, ...open } = state;
      const made = state.pending?.made ?? shelved ?? fresh;
      // Somebody rotated it since it was looked at: what is asked for has just been done.
      if (made === undefined || state.last_rotation !== before.last_rotation) throw this.#busy(id);
      if (state.managed_account) await this.#claimAccount(tx, id, record, state.managed_account);
      const pending = this.#newPending(made);
      // Stored with the candidate, so that what was asked for outlives a crash.
      const demand = byJob ? {} : { demanded: state.demanded ?? this.#now() };
      const claimed = lens.withState(record, { ...open, ...demand, pending });
      await records.put(id, claimed);
      // A job that is running has a claim of its own, and comes back by itself.
      if (!byJob) await this.#plan(tx, id, record, pending.until);
      return { record: claimed, pending, resumed: state.pending !== undefined || shelved !== undefined, demanded: state.demanded };
    });
  }

  /** Stores the result and the next time. `refusal`: what failed although the credential was changed. */
  async #commit(id: string, { claim, made }: PendingChange<C>, schedule: boolean, login: Login, refusal?: unknown): Promise<Done> {
    const { lens, noun, messageOf } = this.#options;
    const now = this.#now();
    const failed = refusal === undefined || refusal instanceof Unproven ? undefined : messageOf(refusal);
    return this.#host.storage.transaction(async (tx) => {
      const records = this.#options.records(tx);
      const record = await records.get(id);
      if (record === undefined) throw new InternalError(`the ${noun} ${id} was deleted while its credential was changed`);
      const state = lens.state(record);
      if (state.pending?.claim !== claim)
        throw new InternalError(`the rotation of the ${noun} ${id} took too long, and another one has begun`);
      const next = nextRotation(this.#options.plan(record), now, state.last_rotation === 0);
      const last_error = failed === undefined ? {} : { last_error: { message: failed, at: now } };
      await records.put(id, lens.withState(record, { ...this.#promoted(state, made, now), ...last_error, login, next_rotation: next }));
      if (schedule) await this.#plan(tx, id, record, next);
      return {
        ...(next === 0 ? {} : { next: new Date(next) }),
        ...(failed === undefined ? {} : { warning: `the credential was changed and is stored, but not all went well: ${failed}` }),
      };
    });
  }

  #promoted(state: RotationState<C>, made: C, at: number): RotationState<C> {
    const { pending: _done, shelved: _tried, demanded: _met, last_error: _past, previous: _older, current, ...rest } = state;
    const previous = this.#options.keepsPrevious && current !== undefined ? { previous: current } : {};
    return { ...rest, ...previous, current: made, last_rotation: at };
  }

  #outcomeOf(error: unknown): Outcome {
    if (error instanceof Unproven) return error.finding.proof === 'current' ? 'refused' : 'unknown';
    return this.#options.outcomeOf(error);
  }

  #requireSameSubject(id: string, before: R, record: R): void {
    const { subject, noun } = this.#options;
    if (!subject || subject(before) === subject(record)) return;
    throw new BadRequest(
      `the ${noun} ${id} was begun for something else (${subject(before)}), and whether its credential was changed is not known yet: wait, or delete it first`,
    );
  }

  /** Resolves with the failure where the new credential is in force all the same, or undefined where that was the doubt. @throws the failure */
  async #afterFailedCreation(change: Change<R, C>, pending: PendingChange<C>, resumed: boolean, error: unknown): Promise<unknown> {
    const outcome = this.#outcomeOf(error);
    const finding = error instanceof Unproven ? error.finding : outcome === 'unsent' ? undefined : await this.#prove(change);
    if (finding?.proof === 'candidate') return outcome === 'unknown' ? undefined : error;
    const untouched = outcome === 'unsent' || (outcome === 'refused' && finding?.proof !== 'untried');
    await (untouched && !resumed
      ? this.#undoCreation(change.id, pending)
      : this.#keepUnsettled(change.id, pending, loginOf(finding), error));
    throw this.#shown(change, error);
  }

  async #undoCreation(id: string, { claim }: PendingChange<C>): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const stored = await this.#options.records(tx).get(id);
      if (stored === undefined || this.#options.lens.state(stored).pending?.claim !== claim) return;
      await this.remove(tx, id);
    });
  }

  async #keepUnsettled(id: string, { claim }: PendingChange<C>, login: Login, error: unknown): Promise<void> {
    const { lens } = this.#options;
    await this.#host.storage.transaction(async (tx) => {
      const stored = await this.#options.records(tx).get(id);
      if (stored === undefined) return;
      const state = lens.state(stored);
      if (state.pending?.claim !== claim) return;
      const last_error = { message: this.#options.messageOf(error), at: this.#now() };
      await this.#options
        .records(tx)
        .put(id, lens.withState(stored, { ...state, last_error, login, pending: { ...state.pending, until: 0 } }));
      await this.#plan(tx, id, stored, this.#now() + SOON);
    });
  }

  /** Decides about the candidate after a failure. `before`: what a login found before the change was asked for again. */
  async #isThroughAfter(
    { record, pending, resumed, demanded: demandedBefore }: Claimed<R, C>,
    change: Change<R, C>,
    error: unknown,
    before: Finding | undefined,
    byJob: boolean,
  ): Promise<Decided> {
    const { lens } = this.#options;
    const outcome = this.#outcomeOf(error);
    let finding = error instanceof Unproven ? error.finding : before;
    let drop = outcome === 'unsent' && !resumed;
    if (outcome === 'refused' && lens.state(record).current !== undefined) {
      if (!(error instanceof Unproven)) finding = await this.#prove(change);
      if (finding?.proof === 'candidate') return { through: true, login: loginOf(finding) };
      drop = finding?.proof === 'current' || (finding?.proof === 'unprovable' && !resumed);
    }
    const login = loginOf(finding);
    await this.#host.storage.transaction(async (tx) => {
      const records = this.#options.records(tx);
      const stored = await records.get(change.id);
      if (stored === undefined) return;
      const state = lens.state(stored);
      if (state.pending?.claim !== pending.claim) return;
      const { pending: _dropped, demanded: asked, ...rest } = state;
      // What could not be done is tried again until it is; what cannot be done as it was asked for is not.
      const demanded = !byJob && isMisuse(error) ? demandedBefore : asked;
      const soon = this.#now() + SOON;
      const last_error = { message: this.#options.messageOf(error), at: this.#now() };
      const kept = { ...rest, ...(demanded === undefined ? {} : { demanded }), last_error, login };
      const shelved = error instanceof Unproven && drop ? { shelved: pending.made } : {};
      await records.put(change.id, lens.withState(stored, drop ? { ...kept, ...shelved } : { ...kept, pending: { ...pending, until: 0 } }));
      if (byJob) return;
      const open = !drop || demanded !== undefined;
      await this.#plan(tx, change.id, stored, open ? soon : rest.next_rotation && Math.max(rest.next_rotation, soon));
    });
    return { through: false, login };
  }

  async #prove(change: Change<R, C>): Promise<Finding> {
    try {
      return { proof: await this.#options.prove(change) };
    } catch (reason) {
      return { proof: 'untried', reason };
    }
  }

  /** Who manages the account in place of this record. */
  async #otherManager(
    storage: Pick<StorageView, 'managerOf'>,
    id: string,
    account: ManagedAccount | undefined,
  ): Promise<string | undefined> {
    const { claims } = this.#options;
    return claims && otherManager(storage, account, claims.by(id));
  }

  async #claimAccount(tx: Transaction, id: string, record: R, account: ManagedAccount, adopt?: boolean): Promise<void> {
    const { claims } = this.#options;
    if (claims) await claimAccount(tx, { account, by: claims.by(id), called: claims.called(record), adopt });
  }

  async #change(id: string, claim: string | undefined, change: (state: RotationState<C>) => RotationState<C>): Promise<void> {
    const { lens } = this.#options;
    await this.#host.storage.transaction(async (tx) => {
      const records = this.#options.records(tx);
      const record = await records.get(id);
      if (record === undefined) return;
      const state = lens.state(record);
      if (state.pending?.claim === claim) await records.put(id, lens.withState(record, change(state)));
    });
  }

  /** The job at `at`; 0 for none. */
  async #plan(tx: Transaction, id: string, record: R, at: number): Promise<void> {
    if (at === 0) await tx.unschedule(this.job, id);
    else await tx.schedule(this.job, id, new Date(at), { id, target: this.#options.target(id, record) });
  }

  #newPending(made: C): PendingChange<C> {
    const now = this.#now();
    return { made, begun: now, claim: randomUUID(), until: now + CLAIM };
  }

  /** `until`: when a claim ends whose process may be dead. */
  #busy(id: string, until?: number): TooManyRequests {
    const otherwise = until === undefined ? '' : `; if it was cut off, it is taken up at ${new Date(until).toISOString()}`;
    return new TooManyRequests(`the ${this.#options.noun} ${id} is being rotated${otherwise}`, { headers: { 'Retry-After': '1' } });
  }

  #now(): number {
    return this.#host.clock.millis();
  }
}

/** The caller is told what would be right, and a second try would be told the same. */
function isMisuse(error: unknown): boolean {
  return error instanceof EngineError && error.status < 500;
}

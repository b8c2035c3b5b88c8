import {
  BadRequest,
  UpstreamFailed,
  type Collection,
  type EngineHost,
  type ManagedAccount,
  type StorageView,
  type Subject,
  type Transaction,
} from '@strongroom/engine-sdk';
import { claimAccount, otherManager, takenOver, type AccountClaims, type CalledAccount } from './account-claim.ts';
import { Unproven, type Finding } from './login.ts';
import type { Outcome, Proof } from './outcome.ts';
import { RotationMachine, type Beginning, type Claim, type Claiming, type Reported, type Work } from './rotation-machine.ts';
import { nextRotation, samePlan, type RotationPlan } from './rotation-plan.ts';
import type { RotationState, StateLens } from './rotation-state.ts';
import { rotationStatus, type RotationStatus } from './rotation-status.ts';
import { wantsLogin, type Kind } from './rotation-table.ts';

/** One change of one credential. */
export interface Change<R, C> {
  readonly id: string;
  readonly record: R;
  readonly candidate: C;
  readonly signal: AbortSignal;
}

/** How a replaced credential stays good for a while. */
export interface Grace<R, C> {
  /** For how long after a change of this record, in milliseconds; 0: the change ends it. */
  lasts(record: R): number;
  /** Ends it outside. It may be asked for again. A throw is tried again. */
  end(ending: Ending<R, C>): Promise<void>;
}

/** A replaced credential whose time is over. */
export interface Ending<R, C> {
  readonly id: string;
  readonly record: R;
  /** Absent where it was never known. */
  readonly made: C | undefined;
  readonly signal: AbortSignal;
}

/** `R` is the engine's record, `C` the credential as it is stored, `F` what a change finds out that its proof needs too. */
export interface RotationOptions<R, C, F = void> {
  /** Of the scheduled jobs; never renamed. */
  readonly kind: string;
  /** What the records are, for messages: `static role`. */
  readonly noun: string;
  /** A record, as operators know it where its rotation fails. */
  about?(id: string, record: R): Subject;
  readonly lens: StateLens<R, C>;
  records(storage: Pick<StorageView, 'collection'>): Collection<R>;
  plan(record: R): RotationPlan;
  /** What a circuit breaker guards: a connection, a directory. */
  target(id: string, record: R): string;
  /** A new credential. Nothing is changed outside. */
  make(id: string, record: R): Promise<C>;
  /** Makes the change outside. It may be asked for again with a candidate that is there already. */
  apply(change: Change<R, C>): Promise<F>;
  /** What a throw of `apply` means. */
  outcomeOf(error: unknown): Outcome;
  /** Whether a throw of `apply` says that nobody answered, so that no login would be answered either. Default: it does not say. */
  unreached?(error: unknown): boolean;
  /** The text of a throw as operators may read it, without secrets. */
  messageOf(error: unknown): string;
  /**
   * Logs in with the candidate, then with `record`'s current credential, without changing anything. Asked after every `apply`: a candidate is stored
   * as the current credential when this says `candidate` or `unprovable`, and the previous one is dropped only then. An answer that says nothing of
   * the credential, such as that of an account that may not log in, is `unprovable`; whoever cannot be asked throws, and that counts as nothing.
   * `found`: what `apply` resolved with a moment ago, if it did.
   */
  prove(change: Change<R, C>, found?: F): Promise<Proof>;
  /** The engine's own error for what `prove` found, naming the system. Default: `UpstreamFailed` with the target before the text. */
  unproven?(id: string, record: R, text: string): Error;
  /** How the records stand in the registry of managed accounts; absent: they do not. */
  readonly claims?: AccountClaims<R>;
  /** The credential that is changed is also the one that changes it: while neither is accepted nothing can be changed. */
  readonly ofItself?: boolean | ((record: R) => boolean);
  /**
   * Whether a candidate of the record is of another account than its current credential, so that a change leaves the current one in force: it is answered
   * while a change is open, without a login. Default: it is of the same.
   */
  apart?(record: R): boolean;
  /** Absent: a change ends what it replaces. Otherwise `apply` leaves it good where `lasts` says so. */
  readonly grace?: Grace<R, C>;
  /** Keeps the previous credential in `previous`. */
  readonly keepsPrevious?: boolean;
  /** How events name a record, and the paths of the mount that show it: see `Report` of the SDK. Default: as messages do, and `failing`. */
  reported?(id: string, record: R): Reported;
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
  /** A rotation of unknown outcome is open, and no login could tell which credential is good. */
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

/** The candidate; none where one is stored already. */
interface Prepared<C> {
  readonly fresh?: C;
}

/**
 * Credentials that are made here and then installed outside, such as passwords. The candidate is stored before anything is changed. What has an unknown
 * outcome is begun again with the same candidate. A change that is acknowledged is proven by a login too: what the other side says of itself is not
 * enough. `rotation-table.ts` says when the candidate takes the place of the current credential and when it is dropped.
 */
export class Rotation<R, C, F = void> {
  readonly #host: EngineHost;
  readonly #options: RotationOptions<R, C, F>;
  readonly #machine: RotationMachine<R, RotationState<C>, Prepared<C>>;

  constructor(host: EngineHost, options: RotationOptions<R, C, F>) {
    this.#host = host;
    this.#options = options;
    const { kind, noun, lens, claims } = options;
    const called = (id: string): string => `the ${noun} ${id}`;
    this.#machine = new RotationMachine(host, {
      kind,
      lens,
      records: (storage) => options.records(storage),
      plan: (record) => options.plan(record),
      ...(options.about ? { about: (id: string, record: R) => options.about!(id, record) } : {}),
      called,
      busy: called,
      reported: (id, record) => options.reported?.(id, record) ?? { name: called(id), paths: ['failing'] },
      missing: (id) => options.missing(id),
      messageOf: (error) => options.messageOf(error),
      shown: (work, error) => this.#shown(work, error),
      target: { stored: (id, record) => options.target(id, record) },
      insists: true,
      prepare: async (id, seen) => {
        const { pending, shelved } = lens.state(seen);
        return pending || shelved !== undefined ? {} : { fresh: await options.make(id, seen) };
      },
      begin: async (tx, beginning, claim) => this.#begin(tx, beginning, claim),
      carryOut: async (work) => this.#carryOut(work),
      prove: async ({ id, record, pending, signal }) => this.#prove({ id, record, candidate: pending.made, signal }),
      promoted: ({ current, previous: _older, retiring, ...rest }, { made }, record, now) => {
        const lasts = options.grace?.lasts(record) ?? 0;
        return {
          ...rest,
          current: made,
          retiring: lasts > 0 ? [{ at: now + lasts, ...(current === undefined ? {} : { made: current }) }] : retiring,
          ...(options.keepsPrevious ? { previous: current } : {}),
        };
      },
      ...(options.grace ? { retire: async (id: string, signal: AbortSignal) => this.#retire(id, signal) } : {}),
      shelved: (state, { made }) => ({ ...state, shelved: made }),
      lost: async (storage, id, record) => this.#takenOver(storage, id, record),
      release: async (tx, id, record) => {
        for (const { account } of this.#accountsOf(record)) await tx.release(account, claims!.by(id));
      },
    });
  }

  /** To be listed among the engine's schedules. */
  get job() {
    return this.#machine.job;
  }

  /**
   * Stores a new record and rotates its credential, which nobody else knows then. A rotation that certainly changed nothing is not stored; one whose
   * outcome is unknown throws, is stored, and is finished in the background, since the new credential may be in force: `isStored` tells them apart.
   * A creation that was left with an unknown outcome is begun again with its candidate. Resolves with a warning where the credential was changed but
   * something else was refused. @throws BadRequest where a creation for another subject is open, or the account has another manager
   */
  async create(id: string, record: R, signal: AbortSignal, { check, adopt = false }: Storing = {}): Promise<string | undefined> {
    const { lens, make } = this.#options;
    return this.#machine.create(id, record, {
      signal,
      adopt,
      prepared: async () => ({ fresh: await make.call(this.#options, id, record) }),
      state: (before) => {
        const { current, pending } = before === undefined ? ({} as Partial<RotationState<C>>) : lens.state(before);
        if (current !== undefined || (pending && pending.until > this.#now())) throw this.#machine.busy(id, pending?.until);
        if (before !== undefined && pending) this.#requireSameSubject(id, before, record);
        // What was left open may be in force, and nobody else knows it.
        return { last_rotation: 0, next_rotation: 0, pending, managed_account: lens.state(record).managed_account };
      },
      ...(check ? { check } : {}),
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
    const { lens, plan, records } = this.#options;
    const state = lens.state(record);
    await check?.(tx);
    if (state.managed_account) await this.#claimAccount(tx, id, record, state.managed_account, adopt);
    const stored = lens.withState(record, { ...state, next_rotation: nextRotation(plan(record), this.#now(), true) });
    await records(tx).put(id, stored);
    await this.#machine.plan(tx, id, stored, 0);
  }

  /** Stores a changed record; `next` carries the state of `before`. A period counts from the last rotation; a schedule does not look back. */
  async update(tx: Transaction, id: string, before: R, next: R): Promise<void> {
    const { lens, plan } = this.#options;
    const state = lens.state(before);
    const [was, is] = [plan(before), plan(next)];
    const from = is.rotation_schedule === '' && state.last_rotation > 0 ? state.last_rotation : this.#now();
    const planned = samePlan(was, is) ? state.next_rotation : nextRotation(is, from);
    const stored = lens.withState(next, { ...state, next_rotation: planned });
    await this.#options.records(tx).put(id, stored);
    // Work under way has its own time to come back at, and so has what was demanded.
    if (planned === state.next_rotation || state.pending || state.demanded !== undefined) return;
    await this.#machine.plan(tx, id, stored, 0);
  }

  /**
   * Stores a record whose credential must be changed, whatever its plan says, and is tried again until that is done. Inside the engine's
   * transaction; `rotate` afterwards does it at once.
   */
  async demand(tx: Transaction, id: string, record: R): Promise<void> {
    const { lens } = this.#options;
    const state = lens.state(record);
    await this.#options.records(tx).put(id, lens.withState(record, { ...state, demanded: state.demanded ?? this.#now() }));
    if (!state.pending) await this.#machine.planAt(tx, id, record, this.#machine.soon());
  }

  /**
   * Takes back the account of a stored record that another manager has taken over, and demands a rotation, since the other one knows its credential.
   * Nothing happens where the account is its own. Inside the engine's transaction, after the record is written. Resolves with whether it was taken
   * back.
   */
  async takeBack(tx: Transaction, id: string): Promise<boolean> {
    const record = await this.#options.records(tx).get(id);
    const account = record === undefined ? undefined : this.#options.lens.state(record).managed_account;
    if (record === undefined || !account || (await this.managedBy(tx, id, record)) === undefined) return false;
    await this.#claimAccount(tx, id, record, account, true);
    await this.demand(tx, id, record);
    return true;
  }

  /** Deletes the record, its job and its claim on the account. */
  async remove(tx: Transaction, id: string): Promise<void> {
    await this.#machine.remove(tx, id);
  }

  /**
   * Rotates now. Several calls at a time are one rotation, with the `claiming` of the first. What fails is tried again in the background until it is through, also without a plan;
   * but not what is refused with a 4xx, whose error says what is valid. Resolves with a warning where the credential was changed but something else
   * was refused. @throws TooManyRequests while another process rotates it
   */
  async rotate(id: string, signal: AbortSignal, claiming?: Claiming<R>): Promise<string | undefined> {
    return this.#machine.rotate(id, signal, { claiming });
  }

  /** The credential that the other side takes now, and whether that is in doubt. Undefined before the first rotation. */
  async current(id: string, signal: AbortSignal): Promise<CurrentCredential<R, C> | undefined> {
    const { lens } = this.#options;
    const records = this.#options.records(this.#host.storage);
    let record = await records.get(id);
    if (record !== undefined && lens.state(record).pending && !this.#isApart(record) && this.#machine.underWay(id)) {
      await this.#machine.settled(id);
      record = await records.get(id);
    }
    if (record === undefined) return undefined;
    const { current, pending, shelved, last_rotation } = lens.state(record);
    if (current === undefined) return undefined;
    const lost = await this.#takenOver(this.#host.storage, id, record);
    const stored = { record, credential: current, since: last_rotation, ...(lost === undefined ? {} : { takenOver: lost }) };
    const candidate = this.#isApart(record) ? undefined : (pending?.made ?? shelved);
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
    if (!this.#machine.underWay(id)) await this.#machine.promote(id, pending.claim, 'accepted', { byJob: false });
    return { record: (await this.#options.records(this.#host.storage).get(id)) ?? record, proof };
  }

  /** Ends the replaced credentials whose time is over. */
  async #retire(id: string, signal: AbortSignal): Promise<void> {
    const { grace, lens, records } = this.#options;
    const record = await records(this.#host.storage).get(id);
    const ending = record === undefined ? [] : (lens.state(record).retiring ?? []).filter(({ at }) => at <= this.#now());
    if (record === undefined || ending.length === 0) return;
    for (const { made } of ending) await grace?.end({ id, record, made, signal });
    await this.#machine.change(id, undefined, (state) => {
      // A change of another process may have replaced them meanwhile.
      const left = (state.retiring ?? []).filter(({ at }) => !ending.some((ended) => ended.at === at));
      return { ...state, retiring: left.length > 0 ? left : undefined };
    });
  }

  /** Who manages the account of a record in its place, in words; undefined where nobody does. */
  async managedBy(storage: Pick<StorageView, 'managerOf'>, id: string, record: R): Promise<string | undefined> {
    return (await this.#lostTo(storage, id, record))?.other;
  }

  /** The first of the record's accounts that somebody else manages, and who. */
  async #lostTo(storage: Pick<StorageView, 'managerOf'>, id: string, record: R): Promise<{ called: string; other: string } | undefined> {
    for (const { account, called } of this.#accountsOf(record)) {
      const other = await otherManager(storage, account, this.#options.claims!.by(id));
      if (other !== undefined) return { called, other };
    }
    return undefined;
  }

  async #takenOver(storage: Pick<StorageView, 'managerOf'>, id: string, record: R): Promise<string | undefined> {
    const lost = await this.#lostTo(storage, id, record);
    return lost && takenOver(lost.called, lost.other);
  }

  /** The accounts of the record that are known; none where the engine registers none. */
  #accountsOf(record: R): readonly CalledAccount[] {
    const { claims, lens } = this.#options;
    const { managed_account: account } = lens.state(record);
    if (!claims) return [];
    return [...(account ? [{ account, called: claims.called(record) }] : []), ...(claims.beside?.(record) ?? [])];
  }

  #isOfItself(record: R): boolean {
    const { ofItself = false } = this.#options;
    return typeof ofItself === 'function' ? ofItself(record) : ofItself;
  }

  #isApart(record: R): boolean {
    return this.#options.apart?.(record) ?? false;
  }

  /** The status block of a record. */
  async status(id: string, record: R): Promise<RotationStatus> {
    const job = await this.#machine.jobStatus(id);
    return rotationStatus(this.#options.lens.state(record), job, await this.managedBy(this.#host.storage, id, record));
  }

  async #begin(
    tx: Transaction,
    { id, record, state, prepared, adopt }: Beginning<R, RotationState<C>, Prepared<C>>,
    claim: Claim,
  ): Promise<RotationState<C> | undefined> {
    const made = state.pending?.made ?? state.shelved ?? prepared.fresh;
    if (made === undefined) return undefined;
    if (state.managed_account) await this.#claimAccount(tx, id, record, state.managed_account, adopt);
    // What was shelved stays so until it is promoted: a refusal of another try says nothing of the first.
    return { ...state, pending: { made, ...claim } };
  }

  /** Changes the credential, unless an earlier try has done it, and logs in where the table wants that. */
  async #carryOut({ id, record, pending, kind, attempt, signal }: Work<R, RotationState<C>, Prepared<C>>) {
    const change: Change<R, C> = { id, record, candidate: pending.made, signal };
    let login: Finding | undefined;
    let found: F;
    try {
      if (kind !== 'creation') await this.#identify(change, pending);
      if (attempt === 'again') login = await this.#prove(change);
      if (login?.proof === 'candidate') return { effect: 'found', login } as const;
      const untaken = this.#isOfItself(record) && kind !== 'creation' ? this.#untaken(login) : undefined;
      if (untaken) return { effect: 'unknown', login, error: untaken } as const;
      found = await this.#options.apply(change);
    } catch (error) {
      const effect = this.#options.outcomeOf(error);
      if (wantsLogin({ effect, kind, attempt })) login = await this.#prove(change);
      else if (this.#options.unreached?.(error)) login ??= { proof: 'untried', reason: error };
      return { effect, login, error } as const;
    }
    login = await this.#prove(change, found);
    return { effect: 'acknowledged', login, error: this.#unproven(login, kind, record) } as const;
  }

  /** Claims the account of a record that was stored without one. @throws BadRequest where another manager has it */
  async #identify(change: Change<R, C>, { claim }: Claim): Promise<void> {
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

  /** Why what changes itself cannot be changed: neither credential is accepted. */
  #untaken(login: Finding | undefined): Unproven | undefined {
    if (login?.proof === 'neither') return new Unproven('neither the old nor the new credential is taken', login);
    if (login?.proof !== 'untried') return undefined;
    return new Unproven(`neither the old nor the new credential could be tried: ${this.#options.messageOf(login.reason)}`, login);
  }

  /** What a login after an acknowledged change says; undefined where it proves the change, or none can. */
  #unproven(login: Finding, kind: Kind, record: R): Unproven | undefined {
    const but = (text: string): Unproven => new Unproven(`the change was acknowledged, but ${text}`, login);
    switch (login.proof) {
      case 'candidate':
      case 'unprovable':
        return undefined;
      case 'current':
        return but(this.#isApart(record) ? 'the new credential is not taken' : 'the old credential is still the one that is taken');
      case 'untried':
        return but(`the new credential could not be tried: ${this.#options.messageOf(login.reason)}`);
      case 'neither':
        return but(kind === 'rotation' ? 'neither the old nor the new credential is taken' : 'the new credential is not taken');
    }
  }

  /** What callers get for a failure: the engine's own error for what a login found. */
  #shown({ id, record }: Work<R, RotationState<C>, Prepared<C>>, error: unknown): unknown {
    if (!(error instanceof Unproven)) return error;
    const { unproven, target } = this.#options;
    return unproven ? unproven(id, record, error.message) : new UpstreamFailed(`${target(id, record)}: ${error.message}`, { cause: error });
  }

  #requireSameSubject(id: string, before: R, record: R): void {
    const { subject, noun } = this.#options;
    if (!subject || subject(before) === subject(record)) return;
    throw new BadRequest(
      `the ${noun} ${id} was begun for something else (${subject(before)}), and whether its credential was changed is not known yet: wait, or delete it first`,
    );
  }

  async #prove(change: Change<R, C>, found?: F): Promise<Finding> {
    try {
      return { proof: await this.#options.prove(change, found) };
    } catch (reason) {
      return { proof: 'untried', reason };
    }
  }

  /** Claims this account, and those that are stored beside it. */
  async #claimAccount(tx: Transaction, id: string, record: R, account: ManagedAccount, adopt?: boolean): Promise<void> {
    const { claims } = this.#options;
    if (!claims) return;
    const all = [{ account, called: claims.called(record) }, ...(claims.beside?.(record) ?? [])];
    for (const one of all) await claimAccount(tx, { ...one, by: claims.by(id), adopt });
  }

  #now(): number {
    return this.#host.clock.millis();
  }
}

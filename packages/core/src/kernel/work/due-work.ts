import { requestOf, retryDelay, withDeadline, type Clock } from '@strongroom/engine-sdk';
import type { Incarnations, OrphanedWork } from '../incarnation/incarnations.ts';
import type { StoreTransaction } from '../storage/store.ts';
import { failureText } from './failure-text.ts';
import { isHeld, released, withTry, type DueRecord, type DueRecords } from './due-records.ts';
import { NOT_TRIED, targetKey, type OutsideSystems } from './outside-systems.ts';
import type { DueEntry } from './schedule-index.ts';

/** Milliseconds that a piece of work may take. */
const DEADLINE = 60_000;
/** Milliseconds after which the claim of longer work is renewed. */
const BEAT = 20_000;
/** How long a claim holds when the process that made it dies. */
export const CLAIM = DEADLINE + 15_000;

/** What is to be done for one record. */
export interface Task<R, T> {
  /** The mount whose outside system it asks. */
  readonly mount: string;
  /** Milliseconds that it may take, where it is more than a minute; its claim is renewed meanwhile. Only kinds that store their claims have such work. */
  readonly deadline?: number;
  /** What the mount calls the outside system. Absent, or a throw: none in particular. */
  target(): string | undefined;
  /** `record` is under claim. Repeated after a crash, so what is already done counts as success. A throw is a failure, and is retried. */
  run(record: R, signal: AbortSignal): Promise<T>;
}

/** What one kind of due record says of itself: what to do, and what comes next. The rest is the same for all kinds. */
export interface Work<R extends DueRecord, T> {
  /** Undefined: the engine that knows does not run. */
  task(id: string, record: R): Task<R, T> | undefined;
  /** What then becomes of the record: a failure with this reason, or undefined for a delay alone. Milliseconds; default: the usual backoff. */
  readonly absent: { readonly reason?: string; readonly retryIn?: number };
  /** The record when work on it begins, besides its claim. */
  begun?(record: R): R;
  /**
   * What follows success, in one commit: the record with its next time, or undefined to remove it. `held` is false where somebody changed the record
   * while the work ran; returning it as it is leaves it then.
   */
  done(
    tx: StoreTransaction,
    id: string,
    record: R,
    outcome: { result: T; now: number; held: boolean; took: number; request?: string | undefined },
  ): R | undefined | Promise<R | undefined>;
  /** Keeps the tries of a record that fails, and since when it fails or waits for a circuit breaker. Default false: since when its tries fail alone. */
  readonly keepsTries?: boolean;
  /** The record with its failure. Default: in `last_error`. */
  failed?(record: R, failure: Failure): R;
  /** The record that waits without a failure: its outside system is not asked now, or the server stops. */
  delayed?(record: R): R;
  /** Milliseconds until the next attempt. Default: from 10 s to 5 minutes. */
  retryIn?(attempts: number, random: () => number): number;
  /** Ids of the mount's records that may wait for an outside system. */
  waiting(mount: string): AsyncIterable<readonly string[]>;
  /** The record to be tried at once because its outside system is back; undefined where it does not wait for it. */
  again(record: R, now: number): R | undefined;
  /** Ids of the records that the ended processes may have claimed. Default: those that come due before a claim ends. */
  claimed?(ended: ReadonlySet<string>): AsyncIterable<readonly string[]>;
  /** Hears of the outcome of each attempt, once. Must not throw. */
  attempted?(id: string, outcome: Outcome<R, T>): void;
  /** The record of a process that has ended, to be tried at once. Default: as it is. */
  handedOn?(record: R, now: number): R;
}

export interface Failure {
  readonly message: string;
  readonly at: number;
  /** With this one. */
  readonly attempts: number;
}

/** What came of an attempt. It is stored already. */
export type Outcome<R, T> =
  | { readonly state: 'done'; readonly record: R; readonly result: T }
  /** `interrupted`: by the signal, which says nothing about the outside system. */
  | {
      readonly state: 'failed' | 'interrupted';
      readonly record: R;
      readonly reason: string;
      readonly error: unknown;
      readonly request: string | undefined;
    }
  /** Its engine does not run. */
  | { readonly state: 'absent'; readonly reason: string }
  /** Its outside system is not asked now. */
  | { readonly state: 'delayed' }
  /** It is not there any more or not due now; or somebody else works on it. */
  | { readonly state: 'gone' }
  | { readonly state: 'taken' };

/** Who asked for an attempt, and when its work began: milliseconds since the epoch. */
interface Attempted {
  readonly signal: AbortSignal;
  readonly begun: number;
}

/** Whether a record that was looked at may be claimed as it is now. */
export type Claimable<R> = (current: R, found: R) => 'gone' | 'taken' | 'yes';

const unmoved = (current: DueRecord, found: DueRecord): 'gone' | 'yes' => (current.due === found.due ? 'yes' : 'gone');

/**
 * The machine of all due work: waits for a place in the bulkhead of the outside system and asks its circuit breaker, claims the record, runs the work under a
 * deadline, then stores the outcome: moved, removed, or kept with its failure for a retry with backoff. A claim moves the record behind the deadline, so
 * whatever a process leaves when it dies comes due again; `handOn` makes that happen at once.
 */
export class DueWork<R extends DueRecord, T> implements OrphanedWork {
  readonly records: DueRecords<R>;
  readonly #work: Work<R, T>;
  readonly #outside: OutsideSystems;
  readonly #clock: Clock;
  readonly #incarnations: Pick<Incarnations, 'id'>;
  readonly #random: () => number;
  /** Attempts of this process under way: whoever comes later waits for the same outcome. */
  readonly #underWay = new Map<string, Promise<Outcome<R, T>>>();

  constructor(options: {
    readonly records: DueRecords<R>;
    readonly work: Work<R, T>;
    readonly outside: OutsideSystems;
    readonly clock: Clock;
    readonly incarnations: Pick<Incarnations, 'id'>;
    readonly random?: () => number;
  }) {
    this.records = options.records;
    this.#work = options.work;
    this.#outside = options.outside;
    this.#clock = options.clock;
    this.#incarnations = options.incarnations;
    this.#random = options.random ?? Math.random;
  }

  /** Processes an entry of the schedule. */
  async run(entry: DueEntry, signal: AbortSignal): Promise<Outcome<R, T>> {
    const found = await this.records.get(entry.id);
    if (found?.due === entry.at) return this.attempt(entry.id, found, signal);
    await this.records.realign(entry);
    return { state: 'gone' };
  }

  /** Tries now. `found` is the record as the caller read it. */
  attempt(id: string, found: R, signal: AbortSignal, claimable: Claimable<R> = unmoved): Promise<Outcome<R, T>> {
    const underWay = this.#underWay.get(id);
    if (underWay) return underWay;
    const attempt = this.#attempt(id, found, signal, claimable)
      .then((outcome) => {
        this.#work.attempted?.(id, outcome);
        return outcome;
      })
      .finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, attempt);
    return attempt;
  }

  /** Resolves when no attempt of this process is under way. */
  async settled(id: string): Promise<void> {
    await this.#underWay.get(id)?.catch(() => undefined);
  }

  /** The outside system that the record waits for. */
  targetOf(id: string, record: R): string | undefined {
    const task = this.#work.task(id, record);
    return task && keyOf(task);
  }

  /** An outside system is back: what failed at it or was postponed is due now. */
  async retryTarget(mount: string, target: string): Promise<void> {
    const key = targetKey(mount, target);
    await this.records.changeAll(this.#work.waiting(mount), (record, now, id) =>
      this.targetOf(id, record) === key ? this.#work.again(record, now) : undefined,
    );
  }

  async handOn(ended: ReadonlySet<string>): Promise<number> {
    const claimed = this.#work.claimed?.(ended) ?? this.records.dueWithin(CLAIM);
    return this.records.changeAll(claimed, (record, now) => {
      if (record.process === undefined || !ended.has(record.process)) return undefined;
      const next = released(record);
      return { ...(this.#work.handedOn?.(next, now) ?? next), due: now };
    });
  }

  async #attempt(id: string, found: R, signal: AbortSignal, claimable: Claimable<R>): Promise<Outcome<R, T>> {
    const task = this.#work.task(id, found);
    if (!task) return this.#absent(id, found, claimable);
    const target = keyOf(task);
    let asked = found;
    // Somebody asked for what is not due yet: that is stored before it waits, so that no crash forgets it.
    if (claimable !== unmoved && this.#outside.isBusy(target)) {
      const reserved = await this.#claim(id, found, claimable);
      if (typeof reserved === 'string') return { state: reserved };
      asked = reserved;
    }
    let claimed: R | 'gone' | 'taken' = 'gone';
    let begun = 0;
    const tried = await this.#outside.attempt(target, signal, async (admit) => {
      const record = (claimed = await this.#claim(id, asked, claimable));
      if (typeof record === 'string') return NOT_TRIED;
      begun = this.#clock.millis();
      const millis = Math.max(task.deadline ?? 0, DEADLINE);
      return withDeadline({ clock: this.#clock, millis, parent: signal }, async (limit) => {
        const run = async (work: AbortSignal): Promise<{ result: T }> => {
          admit(work);
          return { result: await task.run(record, work) };
        };
        return millis > DEADLINE ? this.#keepingClaim(id, record, limit, run) : run(limit);
      });
    });
    // TypeScript does not see that the callback assigns it.
    const record = claimed as R | 'gone' | 'taken';
    if (typeof record === 'string') {
      if ('failed' in tried) throw tried.failed;
      if ('delay' in tried && tried.delay > 0) return this.#delay(id, asked, claimable, tried);
      return { state: record };
    }
    if ('done' in tried) return this.#done(id, record, tried.done.result, { signal, begun });
    return this.#failed(id, record, 'failed' in tried ? tried.failed : undefined, { signal, begun });
  }

  /** Renews the claim while the work runs, and ends the work when somebody else has it. What the store says meanwhile is for the work itself to find out. */
  async #keepingClaim<W>(id: string, claimed: R, parent: AbortSignal, work: (signal: AbortSignal) => Promise<W>): Promise<W> {
    const lost = new AbortController();
    let ended = false;
    let cancel = (): void => undefined;
    const renew = async (): Promise<void> => {
      const current = await this.records.change(id, (record, now) =>
        isHeld(record, claimed) ? { ...record, due: now + CLAIM } : undefined,
      );
      if (!ended && !(current && isHeld(current, claimed))) lost.abort(new Error('another server has taken over the work'));
    };
    const wait = (): void => {
      cancel = this.#clock.after(BEAT, () => {
        renew()
          .catch(() => undefined)
          .finally(() => {
            if (!ended) wait();
          });
      });
    };
    wait();
    try {
      return await work(AbortSignal.any([parent, lost.signal]));
    } finally {
      ended = true;
      cancel();
    }
  }

  async #absent(id: string, found: R, claimable: Claimable<R>): Promise<Outcome<R, T>> {
    const { reason, retryIn } = this.#work.absent;
    const changed = await this.#change(id, found, claimable, (record, now) => {
      if (reason === undefined) return { ...record, due: now + (retryIn ?? 0) };
      const failed = this.#withFailure(record, reason, now);
      return retryIn === undefined ? failed : { ...failed, due: now + retryIn };
    });
    return typeof changed === 'string' ? { state: changed } : { state: 'absent', reason: reason ?? '' };
  }

  async #claim(id: string, found: R, claimable: Claimable<R>): Promise<R | 'gone' | 'taken'> {
    return this.#change(id, found, claimable, (record, now) => ({
      ...(this.#work.begun?.(record) ?? record),
      process: this.#incarnations.id,
      due: now + CLAIM,
    }));
  }

  async #delay(
    id: string,
    found: R,
    claimable: Claimable<R>,
    { delay, open = false }: { readonly delay: number; readonly open?: boolean },
  ): Promise<Outcome<R, T>> {
    const changed = await this.#change(id, found, claimable, (record, now) => {
      const put = { ...this.#delayed(released(record)), due: now + delay };
      return open && this.#work.keepsTries ? { ...put, failing_since: record.failing_since ?? now } : put;
    });
    return { state: typeof changed === 'string' ? changed : 'delayed' };
  }

  async #done(id: string, claimed: R, result: T, { signal, begun }: Attempted): Promise<Outcome<R, T>> {
    await this.records.store.transaction(async (tx) => {
      const current = await this.records.get(id, tx);
      if (!current) return;
      const held = isHeld(current, claimed);
      const record = held ? released(current) : current;
      const now = this.#clock.millis();
      const next = await this.#work.done(tx, id, record, { result, now, held, took: now - begun, request: requestOf(signal) });
      if (!next) this.records.remove(tx, id, current);
      else if (next !== current) this.records.put(tx, id, current, next);
    });
    return { state: 'done', record: claimed, result };
  }

  async #failed(id: string, claimed: R, error: unknown, { signal, begun }: Attempted): Promise<Outcome<R, T>> {
    const reason = failureText(error);
    // A server that stops, or a caller who left, says nothing about the outside system: whoever is next tries at once.
    const interrupted = signal.aborted;
    const request = requestOf(signal);
    await this.records.change(id, (record, now) => {
      if (!isHeld(record, claimed)) return undefined;
      const free = released(record);
      return interrupted ? { ...this.#delayed(free), due: now } : this.#withFailure(free, reason, now, { took: now - begun, request });
    });
    return { state: interrupted ? 'interrupted' : 'failed', record: claimed, reason, error, request };
  }

  #withFailure(record: R, message: string, at: number, { took = 0, request }: { took?: number; request?: string | undefined } = {}): R {
    const attempts = (record.attempts ?? 0) + 1;
    const failed = this.#work.failed?.(record, { message, at, attempts }) ?? { ...record, last_error: { message, at } };
    const delay = this.#work.retryIn?.(attempts, this.#random) ?? retryDelay(attempts, this.#random);
    const tries = this.#work.keepsTries ? withTry(record.tries, { at, took, message, ...(request === undefined ? {} : { request }) }) : {};
    return { ...failed, attempts, due: at + delay, failing_since: record.failing_since ?? at, ...tries };
  }

  #delayed(record: R): R {
    return this.#work.delayed?.(record) ?? record;
  }

  async #change(id: string, found: R, claimable: Claimable<R>, change: (record: R, now: number) => R): Promise<R | 'gone' | 'taken'> {
    return this.records.store.transaction(async (tx) => {
      const current = await this.records.get(id, tx);
      const verdict = current ? claimable(current, found) : 'gone';
      if (!current || verdict === 'gone') return 'gone';
      if (verdict === 'taken') return 'taken';
      const next = change(current, this.#clock.millis());
      this.records.put(tx, id, current, next);
      return next;
    });
  }
}

/** Work whose record does not fit has the key of none in particular. */
function keyOf<R, T>({ mount, target }: Task<R, T>): string {
  try {
    return targetKey(mount, target());
  } catch {
    return targetKey(mount, undefined);
  }
}

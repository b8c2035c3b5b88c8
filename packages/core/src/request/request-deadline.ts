import { Deadline, EngineError, TimeoutQueue, type Clock, type QueuedTimeout } from '@strongroom/engine-sdk';
import type { CoreRequest } from '../kernel/call/core-request.ts';
import type { Ending } from '../kernel/mounts/ending.ts';

/** Milliseconds a request may take. */
const DEADLINE = 90_000;

/** The request took too long; what it began outside is undone by the journal. */
export class DeadlinePassed extends EngineError {
  override readonly status = 504;
}

type Caller = Pick<CoreRequest, 'signal' | 'onGone'>;

/**
 * The deadline of one request, which is over sooner where its caller goes away or its mount comes to an end. It holds for every handler. Most requests
 * answer from storage alone: they share one timer, and neither a signal is made nor the caller's own asked for.
 */
export class RequestDeadline extends Deadline {
  /** Milliseconds since the epoch. */
  readonly began: number;
  readonly #overdue: TimeoutQueue<RequestDeadline>;
  readonly #caller: Caller;
  readonly #ending: Ending | undefined;
  readonly #finishes: boolean;
  readonly #untimed: boolean;
  /** Somebody has asked for the signal. */
  #heard = false;
  #timeout: QueuedTimeout<RequestDeadline> | undefined;
  #stopHearing: (() => void) | undefined;
  #stopHearingCaller: (() => void) | undefined;

  /**
   * The caller's own signal is not asked for before it is needed: adapters make it at that moment. `finishes`: the handler is the core's own, which may be
   * what brings the end about, such as a seal; it is ended only where it listens to its signal. `untimed`: no time ends it.
   */
  constructor(clock: Clock, caller: Caller, mount?: { readonly ending: Ending; readonly finishes: boolean }, untimed = false) {
    super();
    this.#overdue = overdueOf(clock);
    this.#caller = caller;
    this.#ending = mount?.ending;
    this.#finishes = mount?.finishes ?? false;
    this.#untimed = untimed;
    this.began = clock.millis();
  }

  override get signal(): AbortSignal {
    if (!this.#heard) {
      this.#heard = true;
      this.#beginTime();
      this.#hearCaller();
    }
    return super.signal;
  }

  /** What the work gives, or a rejection once the deadline has passed, the caller went away or the mount ends; the work itself may go on. */
  override guard<T>(work: () => Promise<T>): Promise<T> {
    this.#beginTime();
    if (this.#heard) this.#hearCaller();
    else if (!this.#finishes) this.#hearMount();
    return super.guard(work, this);
  }

  /** The time is over. */
  pass(): void {
    this.end(new DeadlinePassed(`no answer within ${DEADLINE / 1_000} s`));
  }

  #beginTime(): void {
    if (!this.#untimed) this.#timeout ??= this.#overdue.add(this, this.began);
  }

  #hearCaller(): void {
    this.#stopHearingCaller ??= heard(this.#caller, () => this.end(new DeadlinePassed('the caller went away')));
    this.#hearMount();
  }

  #hearMount(): void {
    this.#stopHearing ??= this.#ending?.heard((reason) => this.end(reason));
  }

  /** The guarded work has ended. */
  ended(): void {
    if (this.#timeout) this.#overdue.delete(this.#timeout);
    this.#timeout = undefined;
    this.#stopHearing?.();
    this.#stopHearing = undefined;
    this.#stopHearingCaller?.();
    this.#stopHearingCaller = undefined;
  }
}

/** Calls back when the caller goes away, at once where it has; returns the cancellation. */
function heard(caller: Caller, leave: () => void): () => void {
  if (caller.onGone) return caller.onGone(leave);
  const { signal } = caller;
  if (signal?.aborted) leave();
  else signal?.addEventListener('abort', leave, { once: true });
  return () => signal?.removeEventListener('abort', leave);
}

const all = new WeakMap<Clock, TimeoutQueue<RequestDeadline>>();

/** The requests under way on one clock. */
function overdueOf(clock: Clock): TimeoutQueue<RequestDeadline> {
  let found = all.get(clock);
  if (!found) all.set(clock, (found = new TimeoutQueue(clock, DEADLINE, (request) => request.pass())));
  return found;
}

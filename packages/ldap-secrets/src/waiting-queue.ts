import { randomUUID } from 'node:crypto';
import type { EngineHost, Transaction } from '@strongroom/engine-sdk';
import type { recordsIn, Ticket } from './records.ts';
import { confirm, HEARTBEAT, join, leave, ticketsOf } from './stored-queue.ts';

/** Whether it is the caller's turn, asked in the commit that takes something; if so the caller leaves the queue with that commit. */
export type Turn = (tx: Transaction) => Promise<boolean>;

/** Takes what there is, if it is the caller's turn; undefined where there is nothing. */
export type Take<T> = (turn: Turn) => Promise<T | undefined>;

export interface Waiting {
  /** Milliseconds; 0 for not at all. */
  readonly millis: number;
  readonly signal: AbortSignal;
  readonly who: Pick<Ticket, 'entity' | 'token' | 'displayName'>;
}

interface Waiter<T> {
  readonly ticket: Ticket;
  readonly take: Take<T>;
  /** What is taken, or undefined when the wait is over. */
  end(taken: T | undefined): void;
  fail(error: unknown): void;
  /** The ticket is in the record. */
  joined: boolean;
  /** The wait is over: the try that is under way is the last one. */
  over: boolean;
}

/**
 * The queue of callers for something that comes back, here the accounts of one set: first come, first served, over all processes of the store. The order is
 * a record; each process serves its own callers when the first ticket is theirs, and learns from changed records when to look. What is taken is taken in the
 * commit that finds the ticket first.
 */
export class WaitingQueue<T> {
  readonly #host: EngineHost;
  readonly #set: string;
  readonly #waiters = new Map<string, Waiter<T>>();
  #serving: Waiter<T> | boolean = false;
  #again = false;
  /** Callers of this process join one after the other, in the order in which they came. */
  #joins: Promise<unknown> = Promise.resolve();
  #stopHeartbeat: (() => void) | undefined;

  constructor(host: EngineHost, set: string) {
    this.#host = host;
    this.#set = set;
  }

  /** Nobody of this process waits. */
  get idle(): boolean {
    return this.#waiters.size === 0;
  }

  /**
   * What `take` resolves with, now or when there is something to take; undefined after the time, or when the signal fires. Nobody who came later is served
   * first, and who would not wait goes away empty while others do. @throws TooManyRequests when too many wait, and what `take` throws
   */
  async get(take: Take<T>, { millis, signal, who }: Waiting): Promise<T | undefined> {
    if (millis <= 0) return take(async (tx) => (await this.#tickets(tx)).length === 0);
    if (signal.aborted) return undefined;
    const since = this.#host.clock.millis();
    const ticket: Ticket = { id: randomUUID(), ...who, since, until: since + millis, seen: since };
    return new Promise((resolve, reject) => void this.#wait(ticket, take, signal, resolve, reject));
  }

  /** Something may have come back. */
  wake(): void {
    this.#again = true;
    if (this.#serving === false && !this.idle) void this.#serve();
  }

  async #wait(
    ticket: Ticket,
    take: Take<T>,
    signal: AbortSignal,
    resolve: (taken: T | undefined) => void,
    reject: (error: unknown) => void,
  ): Promise<void> {
    const settle = (): void => {
      cancel();
      signal.removeEventListener('abort', giveUp);
      this.#waiters.delete(ticket.id);
      if (this.idle) this.#stopHeartbeat?.();
    };
    const waiter: Waiter<T> = {
      ticket,
      take,
      joined: false,
      over: false,
      end: (taken) => {
        settle();
        resolve(taken);
      },
      fail: (error) => {
        settle();
        reject(error);
      },
    };
    const giveUp = (): void => this.#giveUp(waiter);
    const cancel = this.#host.clock.after(ticket.until - ticket.since, giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiters.set(ticket.id, waiter);
    const joined = this.#joins.then(async () => this.#host.storage.transaction(async (tx) => join(tx, this.#set, ticket, this.#waiters)));
    this.#joins = joined.catch(() => undefined);
    try {
      await joined;
    } catch (error) {
      waiter.fail(error);
      return;
    }
    waiter.joined = true;
    // The caller went away before there was a ticket to take away.
    if (!this.#waiters.has(ticket.id)) await this.#leave(ticket);
    else if (this.#stopHeartbeat === undefined) this.#beat();
    this.wake();
  }

  #giveUp(waiter: Waiter<T>): void {
    waiter.over = true;
    // It may be taking: then the outcome of that counts.
    if (this.#serving === waiter) return;
    waiter.end(undefined);
    void this.#leave(waiter.ticket);
  }

  async #serve(): Promise<void> {
    this.#serving = true;
    while (this.#again && !this.idle) {
      this.#again = false;
      const waiter = await this.#first();
      if (!waiter) continue;
      this.#serving = waiter;
      try {
        const taken = await waiter.take(async (tx) => this.#leaveAsFirst(tx, waiter.ticket.id));
        this.#serving = true;
        if (taken === undefined && !waiter.over) continue;
        waiter.end(taken);
        if (taken === undefined) await this.#leave(waiter.ticket);
      } catch (error) {
        this.#serving = true;
        waiter.fail(error);
        await this.#leave(waiter.ticket);
      }
      // The next in the queue has not looked yet.
      this.#again = true;
    }
    this.#serving = false;
  }

  /** The first of the queue, where it waits in this process. */
  async #first(): Promise<Waiter<T> | undefined> {
    try {
      const [first] = await this.#tickets(this.#host.storage);
      return first && this.#waiters.get(first.id);
    } catch (error) {
      // The store is out of reach, or sealed: the next change or the next heartbeat looks again.
      this.#host.log.debug('the queue of a set could not be read', { set: this.#set, error: String(error) });
      return undefined;
    }
  }

  async #leaveAsFirst(tx: Transaction, id: string): Promise<boolean> {
    const [first] = await this.#tickets(tx);
    if (first?.id !== id) return false;
    await leave(tx, this.#set, id);
    return true;
  }

  async #tickets(storage: Parameters<typeof recordsIn>[0]): Promise<readonly Ticket[]> {
    return ticketsOf(storage, this.#set, this.#host.clock.millis(), this.#waiters);
  }

  /** A ticket that cannot be taken away is given up by all when it is not confirmed any more. */
  async #leave({ id }: Ticket): Promise<void> {
    try {
      await this.#host.storage.transaction(async (tx) => leave(tx, this.#set, id));
    } catch (error) {
      this.#host.log.debug('a ticket could not be taken out of its queue', { set: this.#set, error: String(error) });
    }
    this.wake();
  }

  #beat(): void {
    const stop = this.#host.clock.after(HEARTBEAT, () => void this.#confirm());
    this.#stopHeartbeat = () => {
      stop();
      this.#stopHeartbeat = undefined;
    };
  }

  async #confirm(): Promise<void> {
    this.#stopHeartbeat = undefined;
    // Who is served at the moment is about to leave the record, and must not be put back.
    const confirmed = (): Ticket[] =>
      [...this.#waiters.values()].filter((waiter) => waiter.joined && waiter !== this.#serving).map(({ ticket }) => ticket);
    try {
      await this.#host.storage.transaction(async (tx) => confirm(tx, this.#set, confirmed(), this.#host.clock.millis()));
    } catch (error) {
      this.#host.log.debug('the tickets of a queue could not be confirmed', { set: this.#set, error: String(error) });
    }
    if (this.idle) return;
    if (this.#stopHeartbeat === undefined) this.#beat();
    this.wake();
  }
}

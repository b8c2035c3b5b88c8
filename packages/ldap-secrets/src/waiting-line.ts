import type { Clock } from '@strongroom/engine-sdk';

interface Ticket<T> {
  take(): Promise<T | undefined>;
  /** What is taken, or undefined when the wait is over. */
  end(taken: T | undefined): void;
  fail(error: unknown): void;
  /** The wait is over: the try that is under way is the last one. */
  over: boolean;
}

/** Waits of callers for something that comes back, such as accounts of one set: first come, first served. Nothing is asked again and again. */
export class WaitingLine<T> {
  readonly #clock: Clock;
  readonly #tickets: Ticket<T>[] = [];
  #serving = false;
  #again = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get length(): number {
    return this.#tickets.length;
  }

  /**
   * What `take` resolves with, now or when there is something to take; undefined after `millis` milliseconds, or when the signal fires. Nobody who came
   * later is served first, and who would not wait goes away empty while others do.
   */
  async get(take: () => Promise<T | undefined>, millis: number, signal: AbortSignal): Promise<T | undefined> {
    if (millis <= 0) return this.#tickets.length > 0 ? undefined : take();
    if (signal.aborted) return undefined;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        cancel();
        signal.removeEventListener('abort', giveUp);
      };
      const ticket: Ticket<T> = {
        take,
        over: false,
        end: (taken) => {
          settle();
          resolve(taken);
        },
        fail: (error) => {
          settle();
          reject(error as Error);
        },
      };
      const giveUp = (): void => this.#giveUp(ticket);
      const cancel = this.#clock.after(millis, giveUp);
      signal.addEventListener('abort', giveUp, { once: true });
      this.#tickets.push(ticket);
      this.wake();
    });
  }

  /** Something may have come back. */
  wake(): void {
    this.#again = true;
    if (!this.#serving) void this.#serve();
  }

  #giveUp(ticket: Ticket<T>): void {
    ticket.over = true;
    // The first one may be taking: then the outcome of that counts.
    if (this.#serving && this.#tickets[0] === ticket) return;
    const index = this.#tickets.indexOf(ticket);
    if (index < 0) return;
    this.#tickets.splice(index, 1);
    ticket.end(undefined);
  }

  async #serve(): Promise<void> {
    this.#serving = true;
    while (this.#tickets[0] && this.#again) {
      this.#again = false;
      const ticket = this.#tickets[0];
      try {
        const taken = await ticket.take();
        if (taken === undefined && !ticket.over) continue;
        this.#tickets.shift();
        ticket.end(taken);
      } catch (error) {
        this.#tickets.shift();
        ticket.fail(error);
      }
      // The next in line has not looked yet.
      this.#again = true;
    }
    this.#serving = false;
  }
}

import { abortable } from '@strongroom/engine-sdk';

/** Logins under way, by name: those that must wait for each other share a queue. Nothing is kept for a name without logins. */
export class LoginQueues {
  readonly #queues = new Map<string, LoginQueue>();

  enter(key: string): LoginQueue {
    let queue = this.#queues.get(key);
    if (!queue) {
      queue = new LoginQueue(() => this.#queues.delete(key));
      this.#queues.set(key, queue);
    }
    queue.inside += 1;
    return queue;
  }
}

export class LoginQueue {
  /** Logins that run or wait. */
  inside = 0;
  /** Refusals since the queue came to be, each counted once it is stored. */
  refusals = 0;
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #empty: () => void;

  constructor(empty: () => void) {
    this.#empty = empty;
  }

  /**
   * Resolves when fewer logins run than `free` says; with what it said. A login that ended while `free` was being read makes its
   * answer old, so it is read again. `signal` is asked for only by those that wait. @throws its reason
   */
  async admitted(free: () => Promise<number>, signal: () => AbortSignal): Promise<number> {
    for (;;) {
      const seen = this.refusals;
      const places = await free();
      if (seen !== this.refusals) continue;
      if (this.#running < places) {
        this.#running += 1;
        this.#wakeNext();
        return places;
      }
      await this.#turn(signal());
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    let wake = (): void => undefined;
    const turn = new Promise<void>((resolve) => (wake = resolve));
    this.#waiting.push(wake);
    try {
      await abortable(signal, turn);
    } catch (error) {
      // If it was woken nevertheless, the next one is woken when it leaves.
      const place = this.#waiting.indexOf(wake);
      if (place >= 0) this.#waiting.splice(place, 1);
      throw error;
    }
  }

  finished(): void {
    this.#running -= 1;
  }

  leave(): void {
    this.inside -= 1;
    this.#wakeNext();
    if (this.inside === 0) this.#empty();
  }

  #wakeNext(): void {
    this.#waiting.shift()?.();
  }
}

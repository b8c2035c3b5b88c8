import { LinkedList } from './linked-list.ts';

/** A call of a plugin, as long as it is under way. */
export interface WatchedCall {
  /** How long the event loop may stand still, in milliseconds. */
  readonly millis: number;
  /** It stood still for longer. `alone`: no other call was under way. */
  readonly blocked: (took: number, alone: boolean) => void;
}

/** How often is looked, in milliseconds. */
const TICK = 250;
/** Of the time that the loop stood still, so much was spent computing: otherwise the machine slept, or the process was stopped. */
const BUSY = 0.1;

/**
 * Notices that the event loop stood still while plugins were at work. Which code it was cannot be seen afterwards: where one call alone was under way, it was
 * that; several are suspected.
 */
export class LoopWatch {
  readonly #calls = new LinkedList<{ readonly call: WatchedCall; readonly begun: number }>();
  #timer: NodeJS.Timeout | undefined;
  #last = 0;
  #cpu = process.cpuUsage();

  /** Resolves to nothing; call what it returns when the call has ended. */
  watch(call: WatchedCall): () => void {
    const entry = this.#calls.add({ call, begun: performance.now() });
    if (!this.#timer) {
      this.#reset();
      this.#timer = setInterval(() => this.#tick(), TICK).unref();
    }
    return () => {
      // The call may end before the timer fires that would have reported it.
      this.#look();
      this.#calls.remove(entry);
      if (this.#calls.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** A block was already reported. */
  reported(): void {
    this.#reset();
  }

  #tick(): void {
    this.#look();
    this.#reset();
  }

  #look(): void {
    const took = performance.now() - this.#last - TICK;
    if (took <= 0) return;
    const suspects = [...this.#calls].filter(({ call, begun }) => took > call.millis && begun <= this.#last + TICK);
    if (suspects.length === 0) return;
    const { user, system } = process.cpuUsage(this.#cpu);
    this.#reset();
    if ((user + system) / 1_000 < took * BUSY) return;
    for (const { call } of suspects) call.blocked(took, this.#calls.size === 1);
  }

  #reset(): void {
    this.#last = performance.now();
    this.#cpu = process.cpuUsage();
  }
}

export const loopWatch = new LoopWatch();

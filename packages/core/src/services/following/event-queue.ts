import type { LogEntry } from '../events/event-log.ts';

/** Entries that wait for one caller; who is further behind is cut off. */
const LONGEST = 2_048;

/** What one caller has not been sent yet. */
export class EventQueue {
  #entries: LogEntry[] = [];
  #overflowed = false;
  #wake: (() => void) | undefined;

  /** The caller takes too little: nothing more is kept. */
  get overflowed(): boolean {
    return this.#overflowed;
  }

  readonly add = (entry: LogEntry): void => {
    if (this.#entries.length >= LONGEST) {
      this.#overflowed = true;
      this.#entries = [];
    } else if (!this.#overflowed) this.#entries.push(entry);
    this.wake();
  };

  /** Everything that waits. */
  take(): LogEntry[] {
    const taken = this.#entries;
    this.#entries = [];
    return taken;
  }

  /** Ends a wait. */
  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Resolves when something waits, or at `wake`. */
  async wait(): Promise<void> {
    if (this.#entries.length > 0 || this.#overflowed) return;
    await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

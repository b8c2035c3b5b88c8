import type { LogLevel } from '../settings/log-levels.ts';

/** How the lines of the log are written. */
export type LineFormat = 'standard' | 'json';

/** A log whose lines can be followed while they are written. */
export interface FollowedLog {
  /** Hands on each line of that level or above, whatever the log itself writes; each with its newline. The result ends that. `add` must not throw. */
  follow(options: { readonly level: LogLevel; readonly format: LineFormat }, add: (line: string) => void): () => void;
}

/** Lines that wait for one caller. */
const LONGEST = 1_024;

/** What one caller has not been sent yet. Where the caller is too slow, lines are dropped and counted. */
export class LineQueue {
  #lines: string[] = [];
  #dropped = 0;
  #wake: (() => void) | undefined;

  readonly add = (line: string): void => {
    if (this.#lines.length >= LONGEST) this.#dropped += 1;
    else this.#lines.push(line);
    this.wake();
  };

  /** The lines that wait, and how many were dropped after them. */
  take(): { readonly text: string; readonly dropped: number } {
    const taken = { text: this.#lines.join(''), dropped: this.#dropped };
    this.#lines = [];
    this.#dropped = 0;
    return taken;
  }

  /** Ends a wait. */
  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Resolves when something waits, or at `wake`. */
  async wait(): Promise<void> {
    if (this.#lines.length > 0) return;
    await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

import type { Clock, Log } from '@strongroom/engine-sdk';

/** How long until the next try after one that failed; it doubles up to the longest. Milliseconds. */
const FIRST = 1_000;
const LONGEST = 60_000;

/** Opens an automatic seal as soon as that is possible: the store is initialised by another server, or what keeps the key comes back. */
export class Opening {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #open: () => Promise<'open' | 'not initialised'>;
  #cancel: (() => void) | undefined;
  #running = false;
  #pause = FIRST;
  #problem: string | undefined;

  /** `open` makes one try; a throw is shown, and the try repeated. */
  constructor(parts: { clock: Clock; log: Log; open: () => Promise<'open' | 'not initialised'> }) {
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#open = parts.open;
  }

  /** Why the last try failed; undefined without one. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** From now on tries go on by themselves. `failed`: the try that was made failed so. */
  start(failed?: Error): void {
    this.#running = true;
    this.#pause = FIRST;
    if (failed) this.#failed(failed);
    else this.#again(FIRST);
  }

  stop(): void {
    this.#running = false;
    this.#problem = undefined;
    this.#cancel?.();
  }

  /** Something happened that may let it open: it is tried at once. */
  nudge(): void {
    if (this.#running) this.#again(0);
  }

  #again(millis: number): void {
    this.#cancel?.();
    this.#cancel = this.#clock.after(millis, () => {
      this.#open().then(
        (found) => {
          if (found === 'open') return this.stop();
          this.#pause = FIRST;
          this.#problem = undefined;
          if (this.#running) this.#again(FIRST);
        },
        (error: unknown) => this.#failed(error instanceof Error ? error : new Error(String(error))),
      );
    });
  }

  #failed(error: Error): void {
    if (!this.#running) return;
    this.#problem = error.message;
    this.#log.error('the server stays sealed because its seal cannot be opened; it tries again', {
      reason: error.message,
      seconds: this.#pause / 1_000,
    });
    this.#again(this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST);
  }
}

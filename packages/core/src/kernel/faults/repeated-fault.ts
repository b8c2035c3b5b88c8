import type { Clock, Log } from '@strongroom/engine-sdk';

/** Milliseconds between two lines about the same fault. */
const EVERY = 60_000;

/**
 * A fault that happens again and again, as while the disk is full, and that would fill the log: a line says so at once, and another one each minute how often it was since.
 * Where the error is another one, its first line comes at once.
 */
export class RepeatedFault {
  readonly #clock: Clock;
  readonly #tell: (fields: Readonly<Record<string, unknown>>) => void;
  #error: string | undefined;
  #toldAt = 0;
  #untold = 0;

  constructor(options: { readonly clock: Clock; readonly log: Log; readonly level: 'warn' | 'error'; readonly message: string }) {
    const { clock, log, level, message } = options;
    this.#clock = clock;
    this.#tell = (fields) => log[level](message, fields);
  }

  /** `about`: of what the fault is. Of several faults that share a line, it is shown for the last one. */
  happened(error: unknown, about: Readonly<Record<string, unknown>> = {}): void {
    const text = String(error);
    const now = this.#clock.millis();
    this.#untold += 1;
    if (text === this.#error && now - this.#toldAt < EVERY) return;
    const times = text === this.#error && this.#untold > 1 ? { times: this.#untold } : {};
    this.#tell({ ...about, ...times, error: text });
    this.#error = text;
    this.#toldAt = now;
    this.#untold = 0;
  }
}

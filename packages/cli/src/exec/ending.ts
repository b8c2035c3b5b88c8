import { constants } from 'node:os';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Signals that ask this process to end. While no command runs, the first one is kept, so that leases are revoked before the end; the second one ends the
 * process at once. While a command runs, signals are its own.
 */
export class Ending {
  #code: number | undefined;
  #running = false;
  readonly #listeners = SIGNALS.map((signal) => {
    const listener = (): void => {
      const code = 128 + constants.signals[signal];
      if (this.#code !== undefined && !this.#running) process.exit(code);
      this.#code = code;
    };
    process.on(signal, listener);
    return { signal, listener };
  });

  /** The exit code of a process that such a signal ends; undefined as long as none came. */
  get code(): number | undefined {
    return this.#code;
  }

  set running(running: boolean) {
    this.#running = running;
  }

  close(): void {
    for (const { signal, listener } of this.#listeners) process.off(signal, listener);
  }
}

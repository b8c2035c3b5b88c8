import type { Clock, Log } from '@strongroom/engine-sdk';
import type { End, WorkerProcess } from './worker-process.ts';

/** Milliseconds, as all that follow. The process says so often that it lives. */
const TICK = 1_000;
/** Ticks without a word after which it is ended. */
const HUNG = 30;
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;
/** A process that ran for so long was well. */
const WELL = 60_000;
/** How long it may take to stop. */
const STOP = 5_000;

interface Parts {
  readonly fork: () => WorkerProcess;
  /** Only goes forward. */
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Keeps the process running that writes to a store of LMDB for all workers. While there is none, each of them writes by itself: nobody waits for it, and it may end at any
 * moment.
 */
export class StoreWriter {
  readonly #parts: Parts;
  #process: WorkerProcess | undefined;
  #startedAt = 0;
  #missedTicks = 0;
  /** Why it said that it could not start. */
  #reason: string | undefined;
  /** Ends in a row without a minute between. */
  #ends = 0;
  #cancel: () => void = () => undefined;
  #stopping = false;
  #ended: () => void = () => undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    const { fork, clock } = this.#parts;
    this.#startedAt = clock.millis();
    this.#missedTicks = 0;
    this.#reason = undefined;
    let process: WorkerProcess;
    try {
      process = fork();
    } catch (error) {
      // No memory, or no process is left: nobody needs it so much that the server would have to end.
      this.#reason = String(error);
      return this.#later({});
    }
    this.#process = process;
    process.hear((message) => {
      if (message.kind === 'beat') this.#missedTicks = 0;
      else if (message.kind === 'failed') this.#reason = message.reason;
    });
    process.onEnd((end) => this.#endedOne(process, end));
    this.#tick(process);
  }

  /** Ends it, once no worker needs it any more. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#cancel();
    const process = this.#process;
    if (!process) return;
    const ended = new Promise<void>((resolve) => (this.#ended = resolve));
    process.send({ kind: 'stop', reason: 'the workers have ended' });
    this.#cancel = this.#parts.clock.after(STOP, () => process.kill());
    await ended;
    this.#cancel();
  }

  #endedOne(process: WorkerProcess, { code, signal }: End): void {
    this.#process = undefined;
    this.#cancel();
    this.#ended();
    if (!this.#stopping) this.#later({ pid: process.pid, ...(signal === null ? { code } : { signal }) });
  }

  #later(how: Readonly<Record<string, unknown>>): void {
    const { clock, log } = this.#parts;
    this.#ends = clock.millis() - this.#startedAt >= WELL ? 1 : this.#ends + 1;
    const pause = this.#ends === 1 ? 0 : Math.min(FIRST_PAUSE * 2 ** (this.#ends - 2), LONGEST_PAUSE);
    log.warn('the process that writes for the workers ended; they write by themselves until it runs again', {
      ...how,
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
      starts_in_seconds: pause / 1_000,
    });
    this.#cancel = clock.after(pause, () => this.start());
  }

  #tick(process: WorkerProcess): void {
    const { clock, log } = this.#parts;
    this.#cancel = clock.after(TICK, () => {
      this.#missedTicks += 1;
      if (this.#missedTicks < HUNG) return this.#tick(process);
      log.error('the process that writes for the workers is ended because it does not answer', {
        pid: process.pid,
        seconds: this.#missedTicks,
      });
      process.kill();
    });
  }
}

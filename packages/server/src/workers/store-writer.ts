import type { Clock, Log } from '@strongroom/engine-sdk';
import { Restarts } from './restarts.ts';
import type { End, WorkerProcess } from './worker-process.ts';

/** Milliseconds, as all that follow. The process says so often that it lives. */
const TICK = 1_000;
/** Ticks without a word after which it is ended. */
const HUNG = 30;
/** How long it may take to stop. Nobody waits for what it does then. */
const STOP = 2_000;

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
  readonly #restarts = new Restarts();
  #cancel: () => void = () => undefined;
  #stopping = false;
  #ended: () => void = () => undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    const { fork, clock, log } = this.#parts;
    this.#startedAt = clock.millis();
    this.#missedTicks = 0;
    this.#reason = undefined;
    const process = fork();
    this.#process = process;
    process.hear((message) => {
      if (message.kind === 'beat') this.#missedTicks = 0;
      else if (message.kind === 'failed') this.#reason = message.reason;
      else if (message.kind === 'said') log[message.level](message.message, message.fields);
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
    const { clock, log } = this.#parts;
    this.#cancel = clock.after(STOP, () => {
      log.warn('killing the process that writes for the workers: it did not stop in time', { pid: process.pid, seconds: STOP / 1_000 });
      process.kill();
    });
    await ended;
    this.#cancel();
  }

  /** Ends it at once. */
  kill(): void {
    this.#process?.kill();
  }

  #endedOne(process: WorkerProcess, { code, signal, reason = this.#reason }: End): void {
    const { clock, log } = this.#parts;
    this.#process = undefined;
    this.#cancel();
    this.#ended();
    if (this.#stopping) return;
    const now = clock.millis();
    // The server goes on without it, however often it ends.
    const pause = this.#restarts.failed(0, now, { served: now - this.#startedAt, refused: true })!;
    log.warn('the process that writes for the workers ended; each worker writes by itself until it runs again', {
      pid: process.pid,
      ...(signal === null ? { code } : { signal }),
      ...(reason === undefined ? {} : { reason }),
      starts_in_seconds: pause / 1_000,
    });
    this.#cancel = clock.after(pause, () => this.start());
  }

  #tick(process: WorkerProcess): void {
    const { clock, log } = this.#parts;
    this.#cancel = clock.after(TICK, () => {
      this.#missedTicks += 1;
      if (this.#missedTicks < HUNG) return this.#tick(process);
      log.error('killing the process that writes for the workers: it does not answer', {
        pid: process.pid,
        seconds: this.#missedTicks,
      });
      process.kill();
    });
  }
}

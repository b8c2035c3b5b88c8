import { randomBytes } from 'node:crypto';
import type { Clock, Log } from '@strongroom/engine-sdk';
import { KNOWN, SHOWN, type CountsNow } from './counts-of-all.ts';
import type { FromWorker, Listening, ToWorker } from './messages.ts';
import { Restarts } from './restarts.ts';
import { Switchboard } from './switchboard.ts';
import { WorkerCounts } from './worker-counts.ts';
import type { End, Fork, WorkerProcess } from './worker-process.ts';

/** Milliseconds, as all that follow. Workers say so often that they live. */
const TICK = 1_000;
/** Ticks without a word after which a worker is reported, and after which it is ended. Ticks, so that a machine that sleeps counts for nothing. */
const QUIET = 10;
const HUNG = 30;
/** How long workers may take to stop. */
const STOP = 30_000;
/** A worker that says why it failed has as long to end by itself. */
const LAST_WORDS = 2_000;

export interface SupervisorParts {
  readonly fork: Fork;
  /** How many workers there are to be. */
  readonly count: number;
  /** Only goes forward. */
  readonly clock: Clock;
  readonly log: Log;
}

/** One place for a worker, and the process that has it. */
interface Slot {
  readonly number: number;
  process: WorkerProcess | undefined;
  startedAt: number;
  listening: Listening | undefined;
  /** Why it said that it could not start. */
  reason: string | undefined;
  missedTicks: number;
}

/** The first worker could not start; the message says why. */
export class WorkerNotStarted extends Error {
  override readonly name = 'WorkerNotStarted';
}

/**
 * Keeps the workers of a server running. It opens no store, holds no key and answers no request: it starts workers, starts those that end anew, connects them with each other,
 * and ends them.
 */
export class Supervisor {
  readonly #parts: SupervisorParts;
  /** Names the server, for as long as it runs. */
  readonly #server = randomBytes(9).toString('base64url');
  readonly #slots: readonly Slot[];
  readonly #restarts = new Restarts();
  readonly #counts = new WorkerCounts();
  readonly #switchboard: Switchboard;
  readonly #cancels = new Set<() => void>();
  readonly #resolve: (code: number) => void;
  #stopping: string | undefined;
  #code = 0;
  #changed: () => void = () => undefined;

  /** Resolves with the exit code once every worker has ended for good. */
  readonly ended: Promise<number>;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#switchboard = new Switchboard(
      parts.clock,
      new Map<string, (message: never) => unknown>([
        [KNOWN, () => this.#counts.known],
        [SHOWN, (shown: readonly CountsNow[]) => this.#shown(shown)],
      ]),
    );
    this.#slots = Array.from({ length: parts.count }, (_, at) => ({
      number: at + 1,
      ...{ process: undefined, startedAt: 0, listening: undefined, reason: undefined, missedTicks: 0 },
    }));
    let resolve: (code: number) => void = () => undefined;
    this.ended = new Promise((done) => (resolve = done));
    this.#resolve = resolve;
  }

  /**
   * Starts the first worker, which prepares the store, and then the others. Resolves once all listen, with what the first one said.
   * @throws WorkerNotStarted with the reason of the first that could not; no worker is left then
   */
  async start(): Promise<Listening> {
    this.#tick();
    try {
      const [first, ...others] = this.#slots;
      await this.#started(first!);
      await Promise.all(others.map(async (slot) => this.#started(slot)));
      return first!.listening!;
    } catch (error) {
      this.stop('a worker could not start');
      await this.ended;
      throw error;
    }
  }

  /** Every worker reads its certificates, and opens its files, anew. */
  reload(): void {
    this.#tell({ kind: 'reload' });
  }

  /** Lets workers end their requests; who takes too long is ended. */
  stop(reason: string, code = 0): void {
    if (this.#stopping !== undefined) return;
    this.#stopping = reason;
    this.#code = code;
    this.#tell({ kind: 'stop', reason });
    this.#after(STOP, () => {
      this.#parts.log.error('workers are ended that did not stop in time', { seconds: STOP / 1_000 });
      this.#code = 1;
      this.kill();
    });
    this.#finishIfAllEnded();
  }

  /** Ends every worker at once. */
  kill(): void {
    for (const { process } of this.#slots) process?.kill();
  }

  /** Resolves when the worker listens. */
  async #started(slot: Slot): Promise<void> {
    this.#start(slot);
    while (!slot.listening) {
      if (!slot.process) throw new WorkerNotStarted(slot.reason ?? 'a worker ended while it started');
      await new Promise<void>((resolve) => {
        const before = this.#changed;
        this.#changed = () => {
          before();
          resolve();
        };
      });
    }
  }

  #start(slot: Slot): void {
    const { fork, count, clock } = this.#parts;
    const process = fork({ server: this.#server, number: slot.number, configured: count });
    Object.assign(slot, { process, startedAt: clock.millis(), listening: undefined, reason: undefined, missedTicks: 0 });
    // What loads its code hears nothing yet, and nobody waits for it.
    let speaks = false;
    process.hear((message) => {
      if (slot.process !== process) return;
      if (!speaks) this.#switchboard.connect(slot.number, (answer) => process.send(answer));
      speaks = true;
      this.#heard(slot, message);
    });
    process.onEnd((end) => void this.#endedOne(slot, process, end));
  }

  #heard(slot: Slot, message: FromWorker): void {
    switch (message.kind) {
      case 'beat':
        slot.missedTicks = 0;
        if (message.counts) this.#counts.counted(slot.process!.pid, slot.number, message.counts);
        return;
      case 'listening':
        slot.listening = message.listening;
        if (this.#stopping !== undefined) slot.process!.send({ kind: 'stop', reason: this.#stopping });
        return this.#tellWhoRuns();
      case 'failed': {
        slot.reason = message.reason;
        const { process } = slot;
        return this.#after(LAST_WORDS, () => process?.kill());
      }
      default:
        this.#switchboard.hear(slot.number, message);
    }
  }

  /** Of those that have ended meanwhile, the counts are settled. */
  #shown(shown: readonly CountsNow[]): void {
    for (const { pid, worker, families } of shown)
      if (this.#slots.some(({ process }) => process?.pid === pid)) this.#counts.counted(pid, worker, families);
  }

  async #endedOne(slot: Slot, process: WorkerProcess, { code, signal }: End): Promise<void> {
    const { clock, log } = this.#parts;
    const { number, startedAt, listening, reason } = slot;
    slot.process = undefined;
    slot.listening = undefined;
    this.#switchboard.disconnect(number);
    await this.#counts.ended(process.pid);
    this.#tellWhoRuns(listening);
    if (this.#stopping !== undefined) {
      if (code !== 0) this.#code = 1;
      return this.#finishIfAllEnded();
    }
    if (!this.#serving) return;
    const served = clock.millis() - startedAt;
    const how = {
      worker: number,
      pid: process.pid,
      ...(signal === null ? { code } : { signal }),
      ...(reason === undefined ? {} : { reason }),
    };
    // It was asked to, and did.
    const pause = code === 0 ? 0 : this.#restarts.failed(number, clock.millis(), served);
    if (pause === undefined) {
      log.error('the server stops because its workers keep ending', how);
      return this.stop('workers keep ending', 1);
    }
    log.error('a worker ended and is started anew', { ...how, after_seconds: pause / 1_000 });
    const startAnew = (): void => {
      if (this.#stopping === undefined) this.#start(slot);
    };
    if (pause === 0) startAnew();
    else this.#after(pause, startAnew);
  }

  /** All workers have listened once. */
  get #serving(): boolean {
    return this.#everServed;
  }
  #everServed = false;

  #tellWhoRuns(endedOne?: Listening): void {
    const running = this.#slots.filter(({ listening }) => listening).map(({ number }) => number);
    if (running.length === this.#slots.length) {
      if (this.#everServed && !endedOne) this.#parts.log.info('all workers run', { workers: running.length });
      this.#everServed = true;
    }
    this.#tell({ kind: 'running', workers: running });
    this.#changed();
  }

  #tell(message: ToWorker): void {
    for (const { process } of this.#slots) process?.send(message);
  }

  /** A worker whose event loop stands still answers nobody, and does not end by itself. */
  #tick(): void {
    this.#after(TICK, () => {
      for (const slot of this.#slots) {
        if (!slot.process) continue;
        slot.missedTicks += 1;
        const about = { worker: slot.number, pid: slot.process.pid, seconds: slot.missedTicks };
        if (slot.missedTicks === QUIET) this.#parts.log.warn('a worker does not answer', about);
        if (slot.missedTicks !== HUNG) continue;
        this.#parts.log.error('a worker is ended because it does not answer', about);
        slot.process.kill();
      }
      this.#tick();
    });
  }

  #finishIfAllEnded(): void {
    if (this.#slots.some(({ process }) => process)) return;
    for (const cancel of this.#cancels) cancel();
    this.#resolve(this.#code);
  }

  #after(millis: number, work: () => void): void {
    const cancel = this.#parts.clock.after(millis, () => {
      this.#cancels.delete(cancel);
      work();
    });
    this.#cancels.add(cancel);
  }
}

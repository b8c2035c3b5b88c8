import { randomBytes } from 'node:crypto';
import type { Clock, Log } from '@strongroom/engine-sdk';
import { KNOWN, SHOWN } from './counts-of-all.ts';
import type { FromWorker, Listening, ToWorker } from './messages.ts';
import { Restarts } from './restarts.ts';
import { Switchboard } from './switchboard.ts';
import { WorkerCounts, type ProcessCounts } from './worker-counts.ts';
import type { End, Fork, WorkerProcess } from './worker-process.ts';

/** Milliseconds, as all that follow. Workers say so often that they live. */
const TICK = 1_000;
/** Ticks without a word after which a worker is reported, and after which it is ended. Ticks, so that a machine that sleeps counts for nothing. */
const QUIET = 10;
const HUNG = 30;
/** The same if no worker answers: then the disk or the machine stands still, and who is ended loses the key of the store. */
const ALL_HUNG = 300;
/** How long workers may take to stop. */
const STOP = 30_000;
/** A worker that says why it failed has as long to end by itself. */
const LAST_WORDS = 2_000;
/** A signal to the whole process group may reach a worker first: how long it may take to reach this process. */
const SAME_SIGNAL = 2_000;

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
  /** How many processes have had the place. */
  starts: number;
  listening: Listening | undefined;
  /** When it said that it listens. */
  listeningSince: number;
  /** Why it said that it could not start. */
  reason: string | undefined;
  missedTicks: number;
  /** It was ended because it did not answer. */
  hung: boolean;
}

/** A worker could not start, or ended before all of them listened; the message says why. */
export class WorkerNotStarted extends Error {
  override readonly name = 'WorkerNotStarted';
}

/**
 * Keeps the workers of a server running. It opens no store, holds no key and answers no request: it starts workers, starts those that end again, connects them with each other,
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
  /** What the last worker said that listens. */
  #newest: Listening | undefined;
  #stopping: string | undefined;
  #code = 0;
  /** All workers have listened at once: from then on, one that ends is replaced. */
  #serving = false;
  #notStarted: WorkerNotStarted | undefined;
  #changed: () => void = () => undefined;

  /** Resolves with the exit code once every worker has ended for good. */
  readonly ended: Promise<number>;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#switchboard = new Switchboard(
      parts.clock,
      new Map<string, (message: never) => unknown>([
        [KNOWN, () => this.#counts.known],
        [SHOWN, (shown: readonly ProcessCounts[]) => shown.forEach((one) => this.#counts.counted(one))],
      ]),
    );
    this.#slots = Array.from({ length: parts.count }, (_, at) => ({
      number: at + 1,
      ...{ process: undefined, starts: 0, listening: undefined, listeningSince: 0, reason: undefined, missedTicks: 0, hung: false },
    }));
    let resolve: (code: number) => void = () => undefined;
    this.ended = new Promise((done) => (resolve = done));
    this.#resolve = resolve;
  }

  /**
   * Starts the first worker, which prepares the store, and then the others. Resolves once all listen, with the addresses of the first one, and the state that the last one found:
   * somebody may have unsealed the server meanwhile. Resolves with undefined if it gets the order to stop before.
   * @throws WorkerNotStarted if a worker ends before all listen; no worker is left then
   */
  async start(): Promise<Listening | undefined> {
    this.#tick();
    const [first, ...others] = this.#slots;
    const started: Slot[] = [];
    for (const slots of [[first!], others]) {
      if (this.#stopping !== undefined) break;
      for (const slot of slots) this.#start(slot);
      started.push(...slots);
      while (this.#stopping === undefined && started.some(({ listening }) => !listening))
        await new Promise<void>((resolve) => (this.#changed = resolve));
    }
    if (this.#notStarted) {
      await this.ended;
      throw this.#notStarted;
    }
    if (this.#stopping !== undefined) return undefined;
    this.#serving = true;
    return { ...this.#newest!, addresses: first!.listening!.addresses };
  }

  /** Every worker reads its certificates, and opens its files, again. */
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
      this.#parts.log.error('killing workers that did not stop in time', { seconds: STOP / 1_000 });
      this.kill();
    });
    this.#finishIfAllEnded();
    this.#changed();
  }

  /** Ends every worker at once. */
  kill(): void {
    this.#code = 1;
    for (const { process } of this.#slots) process?.kill();
  }

  #start(slot: Slot): void {
    const { fork, count } = this.#parts;
    slot.starts += 1;
    const process = fork({ server: this.#server, number: slot.number, start: slot.starts, configured: count });
    Object.assign(slot, { process, listening: undefined, reason: undefined, missedTicks: 0, hung: false });
    // What loads its code hears nothing yet, and nobody waits for it.
    let speaks = false;
    process.hear((message) => {
      if (slot.process !== process) return;
      if (!speaks) this.#switchboard.connect(slot.number, (answer) => process.send(answer));
      speaks = true;
      this.#heard(slot, message);
    });
    process.onEnd((end) => this.#endedOne(slot, process, end));
  }

  #heard(slot: Slot, message: FromWorker): void {
    switch (message.kind) {
      case 'beat':
        slot.missedTicks = 0;
        if (message.counts) this.#counts.counted({ worker: slot.number, start: slot.starts, families: message.counts });
        return;
      case 'listening':
        slot.listening = message.listening;
        this.#newest = message.listening;
        slot.listeningSince = this.#parts.clock.millis();
        if (this.#stopping !== undefined) slot.process!.send({ kind: 'stop', reason: this.#stopping });
        return this.#tellWhoRuns();
      case 'failed': {
        slot.reason = message.reason;
        const { process } = slot;
        return this.#after(LAST_WORDS, () => process?.kill());
      }
      case 'said':
        return this.#parts.log[message.level](message.message, { worker: slot.number, ...message.fields });
      default:
        this.#switchboard.hear(slot.number, message);
    }
  }

  #endedOne(slot: Slot, process: WorkerProcess, end: End): void {
    const { clock, log } = this.#parts;
    const { number, listening, listeningSince, reason = end.reason } = slot;
    slot.process = undefined;
    slot.listening = undefined;
    this.#switchboard.disconnect(number);
    this.#counts.ended(number, slot.starts);
    this.#tellWhoRuns();
    if (this.#stopping !== undefined) {
      // One that never listened had nothing to bring to an end; the signal that stops the server may have ended it before it listened to signals.
      if (listening && end.code !== 0) this.#code = 1;
      return this.#finishIfAllEnded();
    }
    if (!listening && end.signal === 'SIGHUP') {
      log.info('a reload ended a worker that did not listen to signals yet; starting it again', { worker: number });
      return this.#start(slot);
    }
    if (!this.#serving) {
      const giveUp = (): void => {
        if (this.#stopping !== undefined) return;
        this.#notStarted = new WorkerNotStarted(reason ?? `worker ${number} ended while the server started: ${howEnded(end)}`);
        this.stop('a worker could not start', 1);
      };
      return reason === undefined && endedByOrder(end) ? this.#after(SAME_SIGNAL, giveUp) : giveUp();
    }
    const how = {
      worker: number,
      pid: process.pid,
      ...(end.signal === null ? { code: end.code } : { signal: end.signal }),
      ...(reason === undefined ? {} : { reason }),
    };
    const now = clock.millis();
    // It was asked to, and did.
    const served = listening ? now - listeningSince : 0;
    const refused = reason !== undefined && this.#slots.some((other) => other.listening);
    const pause = end.code === 0 ? 0 : this.#restarts.failed(number, now, { served, refused });
    if (pause === undefined) {
      log.error('stopping: workers keep failing', how);
      return this.stop('workers keep failing', 1);
    }
    log.error('a worker ended; starting a new one', { ...how, starts_in_seconds: pause / 1_000 });
    const startAnew = (): void => {
      if (this.#stopping === undefined) this.#start(slot);
    };
    if (pause === 0) startAnew();
    else this.#after(pause, startAnew);
  }

  #tellWhoRuns(): void {
    const running = this.#slots.filter(({ listening }) => listening).map(({ number }) => number);
    if (this.#serving && running.length === this.#slots.length)
      this.#parts.log.info('all workers are running', { workers: running.length });
    this.#tell({ kind: 'running', workers: running });
    this.#changed();
  }

  #tell(message: ToWorker): void {
    for (const { process } of this.#slots) process?.send(message);
  }

  /** A worker whose event loop stands still answers nobody, and does not end by itself. */
  #tick(): void {
    this.#after(TICK, () => {
      for (const slot of this.#slots) slot.missedTicks += 1;
      const oneAnswers = this.#slots.some(({ listening, missedTicks }) => listening && missedTicks < QUIET);
      for (const slot of this.#slots) {
        if (!slot.process || slot.hung) continue;
        const about = { worker: slot.number, pid: slot.process.pid, seconds: slot.missedTicks };
        if (slot.missedTicks === QUIET) this.#parts.log.warn('a worker does not answer', about);
        if (slot.missedTicks < (slot.listening && !oneAnswers ? ALL_HUNG : HUNG)) continue;
        slot.hung = true;
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

/** By a signal that stops a server, whether the worker listened to signals yet or not. */
function endedByOrder({ code, signal }: End): boolean {
  return code === 0 || signal === 'SIGTERM' || signal === 'SIGINT';
}

function howEnded({ code, signal }: End): string {
  return signal === null ? `exit code ${code}` : `killed by ${signal}`;
}

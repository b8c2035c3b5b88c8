import { waitAtMost, type Clock } from '@strongroom/engine-sdk';
import { BufferFull, type AuditDevice, type BufferStatus } from './audit-device.ts';

/** Bounds of what waits for one device. */
export interface QueueLimits {
  readonly lines: number;
  /** Characters, which in these lines are nearly bytes. */
  readonly bytes: number;
  /** How long a caller waits for a write that hangs. */
  readonly deadlineMillis: number;
}

/**
 * `healthy`: the last write succeeded. `failing`: it did not; the next line is another try. `stalled`: a write hangs beyond the deadline;
 * callers are refused at once, lines are kept up to the bounds and written when the device goes on.
 */
export type QueueState = 'healthy' | 'failing' | 'stalled';

/** What operators see of a device. */
export interface QueueStatus {
  state: QueueState;
  /** Lines since the start of this process. */
  written: number;
  failed: number;
  /** Never handed to the device, because too many were waiting. */
  dropped: number;
  waiting: number;
  last_error: string | null;
  last_error_time: string | null;
  /** Of a device that keeps lines until they are delivered. */
  buffer?: BufferStatus;
}

/** Where there is no more room. */
export type Full = 'disk' | 'buffer';

interface Waiting {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The largest number of characters in one write of a device, so that a long queue is not one long write. */
const BATCH_LENGTH = 1 << 20;

/**
 * The queue before one device. Lines that come while a write is under way go out together in the next one. A device that hangs or
 * cannot be opened harms nobody but those who wait for this queue, and them no longer than the deadline.
 */
export class AuditQueue {
  readonly #open: () => Promise<AuditDevice>;
  readonly #clock: Clock;
  readonly #limits: QueueLimits;
  readonly #changed: (state: QueueState, status: QueueStatus) => void;
  #device: AuditDevice | undefined;
  #state: QueueState = 'healthy';
  #queue: Waiting[] = [];
  #queuedLength = 0;
  #underWay: Waiting[] = [];
  #running = false;
  #loop: Promise<void> | undefined;
  /** No more lines are taken. */
  #closed = false;
  /** And those that wait are lost. */
  #abandoned = false;
  #written = 0;
  #failed = 0;
  #dropped = 0;
  #writes = 0;
  #writeMillis = 0;
  #lastError: { message: string; at: Date; full: Full | undefined } | undefined;

  constructor(
    open: () => Promise<AuditDevice>,
    clock: Clock,
    limits: QueueLimits,
    changed: (state: QueueState, status: QueueStatus) => void = () => {},
  ) {
    this.#open = open;
    this.#clock = clock;
    this.#limits = limits;
    this.#changed = changed;
  }

  get state(): QueueState {
    return this.#state;
  }

  status(): QueueStatus {
    const buffer = this.#device?.buffer?.();
    return {
      state: this.#state,
      written: this.#written,
      failed: this.#failed,
      dropped: this.#dropped,
      waiting: this.#queue.length + this.#underWay.length,
      last_error: this.#lastError?.message ?? null,
      last_error_time: this.#lastError?.at.toISOString() ?? null,
      ...(buffer && { buffer }),
    };
  }

  /** The last failure was that of a full disk, or of a full buffer. */
  get full(): Full | undefined {
    return this.#lastError?.full;
  }

  /** Writes of the device, of one or more lines each, and the seconds that they took. */
  get effort(): { readonly writes: number; readonly seconds: number } {
    return { writes: this.#writes, seconds: this.#writeMillis / 1_000 };
  }

  /** Opens the device before there is a line, so that its state is known. */
  start(): void {
    this.#run();
  }

  /** Resolves when the device took the line. @throws when it may not have, after the deadline at the latest. */
  write(line: string): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('the device was closed'));
    if (this.#queue.length >= this.#limits.lines || this.#queuedLength + line.length > this.#limits.bytes) {
      this.#dropped++;
      return Promise.reject(new Error('too many lines wait for the device'));
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ line, resolve, reject });
      this.#queuedLength += line.length;
      if (this.#state === 'stalled') reject(this.#late());
      this.#run();
    });
  }

  /** Shows that a new device works. @throws when it does not, after the deadline at the latest */
  async test(line: string): Promise<void> {
    let cancel!: () => void;
    const late = new Promise<never>((_, reject) => {
      cancel = this.#clock.after(this.#limits.deadlineMillis, () => reject(this.#late()));
    });
    await Promise.race([this.#probe(line), late]).finally(cancel);
  }

  async #probe(line: string): Promise<void> {
    const device = (this.#device ??= await this.#opened());
    await (device.probe ? device.probe([line]) : this.write(line));
  }

  async reopen(): Promise<void> {
    await this.#device?.reopen();
  }

  /** Lets a device that works finish what waits; gives up on one that does not. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#state === 'healthy') await this.#ended(this.#loop);
    this.#abandoned = true;
    const closed = new Error('the device was closed');
    for (const waiting of [...this.#underWay, ...this.#queue]) waiting.reject(closed);
    this.#queue = [];
    this.#queuedLength = 0;
    await this.#ended(this.#device?.close());
  }

  #run(): void {
    if (this.#running) return;
    this.#running = true;
    this.#loop = this.#drain();
  }

  async #drain(): Promise<void> {
    // One turn, so that lines of the same moment share the first write.
    await Promise.resolve();
    do {
      const batch = (this.#underWay = this.#take());
      const cancel = this.#clock.after(this.#limits.deadlineMillis, () => this.#stall());
      try {
        this.#device ??= await this.#opened();
        if (batch.length > 0) await this.#timed(this.#device.write(batch.map((waiting) => waiting.line)));
        this.#written += batch.length;
        this.#become('healthy');
        for (const waiting of batch) waiting.resolve();
      } catch (error) {
        this.#failed += batch.length;
        this.#failure(error as Error, 'failing');
        for (const waiting of batch) waiting.reject(error as Error);
      } finally {
        cancel();
        this.#underWay = [];
      }
    } while (this.#queue.length > 0);
    this.#running = false;
  }

  async #timed(write: Promise<void>): Promise<void> {
    const began = performance.now();
    await write.finally(() => {
      this.#writes += 1;
      this.#writeMillis += performance.now() - began;
    });
  }

  async #opened(): Promise<AuditDevice> {
    const device = await this.#open();
    if (!this.#abandoned) return device;
    await device.close();
    throw new Error('the device was closed');
  }

  #take(): Waiting[] {
    let length = 0;
    let count = 0;
    while (count < this.#queue.length && (count === 0 || length < BATCH_LENGTH)) length += (this.#queue[count++] as Waiting).line.length;
    const batch = count === this.#queue.length ? this.#queue : this.#queue.slice(0, count);
    this.#queue = count === this.#queue.length ? [] : this.#queue.slice(count);
    this.#queuedLength -= length;
    return batch;
  }

  #stall(): void {
    const late = this.#late();
    this.#failure(late, 'stalled');
    for (const waiting of [...this.#underWay, ...this.#queue]) waiting.reject(late);
  }

  #late(): Error {
    return new Error(`the device has not answered within ${this.#limits.deadlineMillis / 1000} seconds`);
  }

  #failure(error: Error, state: QueueState): void {
    this.#lastError = { message: error.message, at: this.#clock.now(), full: fullOf(error) };
    this.#become(state);
  }

  #become(state: QueueState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#changed(state, this.status());
  }

  /** Waits for the device, whatever comes of it. */
  async #ended(work: Promise<void> | undefined): Promise<void> {
    if (work) await waitAtMost(this.#clock, this.#limits.deadlineMillis, work).catch(() => undefined);
  }
}

function fullOf(error: unknown): Full | undefined {
  if (error instanceof BufferFull) return 'buffer';
  return isDiskFull(error) ? 'disk' : undefined;
}

/** Of a disk, or of the part of it that the user may fill. */
function isDiskFull(error: unknown): boolean {
  const { code, cause } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' || (cause !== undefined && isDiskFull(cause));
}

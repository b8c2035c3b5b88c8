import { setImmediate as nextTurn } from 'node:timers/promises';
import { inSpan, type Clock, type Log, type Tracer } from '@strongroom/engine-sdk';
import { CorruptRecord } from '../barrier/key-ring.ts';
import type { Store } from '../storage/store.ts';
import { RepeatedFault } from '../faults/repeated-fault.ts';
import { dueBound, dueKey, parseDueKey, SCHEDULE, type DueEntry, type DueKind } from './schedule-index.ts';

/**
 * Processes one due entry. It removes or moves the entry in its own commit. A throw is a fault of the store, and the entry is tried
 * again; a CorruptRecord quarantines it for a day.
 */
export type DueHandler = (entry: DueEntry, signal: AbortSignal) => Promise<void>;

const PAGE = 512;
/** More than the outside systems that may hang at once can hold up together: see OutsideSystems. */
const CONCURRENCY = 1_024;
const LONGEST_SLEEP = 60_000;
const AFTER_FAULT = 2_000;
const DAY = 86_400_000;
/** Milliseconds of work after which requests get their turn. */
const TURN = 10;

/**
 * Reads the head of the index, processes what is due, and sleeps until the next entry. What is due lives in storage alone,
 * so a million leases cost neither memory nor start-up time. Nothing waits for the slow ones: an entry that hangs takes one place of many.
 */
export class ScheduleRunner {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #fault: RepeatedFault;
  readonly #handlers = new Map<DueKind, DueHandler>();
  readonly #concurrency: number;
  readonly #tracer: Tracer | undefined;
  /** Entries that could not be processed, and when they are tried again. */
  readonly #faulty = new Map<string, number>();
  /** What is being processed, by kind and id: an entry may move while it is. */
  #busy = new Map<string, Promise<void>>();
  /** Of those, which were due again before they were done. */
  readonly #again = new Set<string>();
  #freed: (() => void) | undefined;
  #stop = new AbortController();
  #cancelTimer: (() => void) | undefined;
  #wakeAt = Infinity;
  #walk: Promise<void> | undefined;
  /** The earliest time heard of while walking. */
  #heard = Infinity;
  #running = false;

  constructor(options: { store: Store; clock: Clock; log: Log; concurrency?: number; tracer?: Tracer }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#fault = new RepeatedFault({ ...options, level: 'error', message: 'a scheduled entry could not be processed' });
    this.#tracer = options.tracer;
    this.#concurrency = options.concurrency ?? CONCURRENCY;
    // Heard of once it is stored: who looked for it earlier would not find it, and sleep.
    options.store.onMarks((keys) => {
      for (const key of keys) {
        const entry = parseDueKey(key);
        if (entry) this.#expect(entry.at);
      }
    });
  }

  /** Entries that are being processed. */
  get busy(): number {
    return this.#busy.size;
  }

  handle(kind: DueKind, handler: DueHandler): void {
    this.#handlers.set(kind, handler);
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#stop = new AbortController();
    this.#wake();
  }

  /** Begins nothing more and tells the work under way to end. Resolves when it has; nothing depends on that. */
  stop(): Promise<void> {
    this.#running = false;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#wakeAt = Infinity;
    this.#stop.abort(new Error('the server is stopping'));
    this.#freed?.();
    const left = [this.#walk, ...this.#busy.values()];
    // What does not end is forgotten: a later start begins with nothing under way.
    this.#walk = undefined;
    this.#busy = new Map();
    this.#faulty.clear();
    this.#again.clear();
    return Promise.all(left).then(() => undefined);
  }

  /** Ends the work under way, whose entries have been taken over by others; what is due from now on is processed. */
  interrupt(reason: string): void {
    if (!this.#running) return;
    const stop = this.#stop;
    this.#stop = new AbortController();
    stop.abort(new Error(reason));
  }

  /** Something new is due at `at`; cheap enough to call at every write. */
  #expect(at: number): void {
    if (!this.#running) return;
    if (this.#walk) this.#heard = Math.min(this.#heard, at);
    else if (at < this.#wakeAt) this.#sleepUntil(at);
  }

  /** Processes everything that is due now and resolves when it is done: for tests, and for those who cannot wait. */
  async settle(): Promise<void> {
    while (this.#running) {
      this.#wake();
      await this.#walk;
      await Promise.all(this.#busy.values());
      const now = this.#clock.millis();
      const left = await this.#store.keys({ prefix: SCHEDULE, before: dueBound(now), limit: this.#faulty.size + 1 });
      if (left.every((key) => (this.#faulty.get(key) ?? 0) > now)) return;
    }
  }

  #wake(): void {
    if (!this.#running || this.#walk) return;
    this.#cancelTimer?.();
    this.#wakeAt = Infinity;
    this.#heard = Infinity;
    const { signal } = this.#stop;
    const walk: Promise<void> = this.#walkThrough(signal)
      .catch((error: unknown) => {
        if (!signal.aborted) this.#log.error('the schedule cannot be read; trying again', { error: String(error) });
        return this.#clock.millis() + AFTER_FAULT;
      })
      .then((next) => {
        if (signal.aborted) return;
        this.#walk = undefined;
        this.#sleepUntil(Math.min(next, this.#heard));
      });
    this.#walk = walk;
  }

  #sleepUntil(at: number): void {
    this.#cancelTimer?.();
    const now = this.#clock.millis();
    this.#wakeAt = Math.max(now, Math.min(at, now + LONGEST_SLEEP));
    this.#cancelTimer = this.#clock.after(this.#wakeAt - now, () => this.#wake());
  }

  /** Starts the work on all that is due, as places become free; resolves with the time of the next entry. */
  async #walkThrough(signal: AbortSignal): Promise<number> {
    let after: string | undefined;
    let bound: string;
    let turn = performance.now();
    for (;;) {
      bound = dueBound(this.#clock.millis());
      const keys = await this.#store.keys({
        prefix: SCHEDULE,
        before: bound,
        ...(after === undefined ? {} : { after }),
        limit: PAGE,
      });
      for (const key of keys) {
        while (this.#busy.size >= this.#concurrency && !signal.aborted) await this.#place();
        if (signal.aborted) return Infinity;
        this.#begin(key);
        if (performance.now() - turn > TURN) {
          await nextTurn();
          turn = performance.now();
        }
      }
      if (keys.length < PAGE) break;
      after = keys[keys.length - 1];
    }
    // From where the last page ended: what has come due since would be overlooked until something else wakes the runner.
    const [next] = await this.#store.keys({ prefix: SCHEDULE, after: bound, limit: 1 });
    const nextAt = next === undefined ? Infinity : (parseDueKey(next)?.at ?? Infinity);
    return Math.min(nextAt, ...this.#faulty.values());
  }

  #place(): Promise<void> {
    return new Promise((resolve) => {
      this.#freed = resolve;
    });
  }

  #begin(key: string): void {
    const now = this.#clock.millis();
    if ((this.#faulty.get(key) ?? 0) > now) return;
    const entry = parseDueKey(key);
    const handler = entry && this.#handlers.get(entry.kind);
    if (!entry || !handler) {
      this.#faulty.set(key, now + LONGEST_SLEEP);
      return;
    }
    const name = `${entry.kind}/${entry.id}`;
    if (this.#busy.has(name)) {
      this.#again.add(name);
      return;
    }
    const busy = this.#busy;
    const { signal } = this.#stop;
    const work = this.#carryOut(entry, handler, signal).then(() => {
      busy.delete(name);
      if (busy !== this.#busy) return;
      if (this.#again.delete(name)) this.#expect(this.#clock.millis());
      this.#freed?.();
      this.#freed = undefined;
    });
    busy.set(name, work);
  }

  /** Never rejects. */
  async #carryOut(entry: DueEntry, handler: DueHandler, signal: AbortSignal): Promise<void> {
    try {
      await this.#traced(entry, async () => handler(entry, signal)).catch(async (error: unknown) => {
        if (!(error instanceof CorruptRecord)) throw error;
        await this.#quarantine(entry, error);
      });
      if (!signal.aborted) this.#faulty.delete(entry.key);
    } catch (error) {
      if (signal.aborted) return;
      this.#fault.happened(error, { kind: entry.kind, id: entry.id });
      const again = this.#clock.millis() + AFTER_FAULT;
      this.#faulty.set(entry.key, again);
      this.#expect(again);
    }
  }

  /** What is due by itself is a trace of its own. */
  #traced(entry: DueEntry, work: () => Promise<void>): Promise<void> {
    return this.#tracer ? inSpan(this.#tracer, `due ${entry.kind}`, work) : work();
  }

  /** A damaged record harms nothing but itself; it is looked at again in a day, and may have been repaired by then. */
  async #quarantine(entry: DueEntry, error: CorruptRecord): Promise<void> {
    this.#log.error('a scheduled record is damaged and quarantined for a day', { kind: entry.kind, id: entry.id, error: error.message });
    const later = this.#clock.millis() + DAY;
    await this.#store.transaction(async (tx) => {
      tx.delete(entry.key);
      tx.mark(dueKey(later, entry.kind, entry.id));
    });
  }
}

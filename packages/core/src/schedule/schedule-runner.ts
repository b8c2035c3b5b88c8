import type { Clock, Log } from '@strongroom/engine-sdk';
import type { Store } from '../storage/store.ts';
import { dueBound, parseDueKey, SCHEDULE, type DueEntry, type DueKind } from './schedule-index.ts';

/** Works off one due entry. It removes or moves the entry in its own commit; a throw is a fault of the store, and the entry is tried again. */
export type DueHandler = (entry: DueEntry, signal: AbortSignal) => Promise<void>;

const PAGE = 512;
const LONGEST_SLEEP = 60_000;
const AFTER_FAULT = 2_000;

/**
 * Reads the head of the index, works off what is due, sleeps until the next entry. What is due lives in storage alone,
 * so a million leases cost neither memory nor start-up time.
 */
export class ScheduleRunner {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #handlers = new Map<DueKind, DueHandler>();
  readonly #concurrency: number;
  readonly #faulty = new Map<string, number>();
  readonly #busy = new Set<string>();
  #stop = new AbortController();
  #cancelTimer: (() => void) | undefined;
  #wakeAt = Infinity;
  #round: Promise<void> | undefined;
  #again = false;
  #running = false;

  constructor(options: { store: Store; clock: Clock; log: Log; concurrency?: number }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#concurrency = options.concurrency ?? PAGE;
  }

  handle(kind: DueKind, handler: DueHandler): void {
    this.#handlers.set(kind, handler);
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#stop = new AbortController();
    this.#trigger();
  }

  /** Waits for the work under way. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#wakeAt = Infinity;
    this.#stop.abort(new Error('the server is stopping'));
    await this.#round;
  }

  /** Something new is due at `at`; cheap enough to call at every write. */
  expect(at: number): void {
    if (this.#running && at < this.#wakeAt && !this.#round) this.#sleepUntil(at);
    else if (this.#round) this.#again = true;
  }

  /** Works off everything that is due now and resolves when it is done: for tests, and for those who cannot wait. */
  async settle(): Promise<void> {
    if (!this.#running) return;
    do {
      this.#trigger();
      await this.#round;
    } while (this.#again);
  }

  #trigger(): void {
    if (!this.#running) return;
    if (this.#round) {
      this.#again = true;
      return;
    }
    this.#cancelTimer?.();
    this.#wakeAt = Infinity;
    this.#again = false;
    this.#round = this.#work()
      .catch((error: unknown) => {
        this.#log.error('the schedule cannot be read; trying again', { error: String(error) });
        return this.#clock.millis() + AFTER_FAULT;
      })
      .then((next) => {
        this.#round = undefined;
        if (!this.#running) return;
        this.#sleepUntil(this.#again ? this.#clock.millis() : next);
      });
  }

  #sleepUntil(at: number): void {
    this.#cancelTimer?.();
    const now = this.#clock.millis();
    this.#wakeAt = Math.max(now, Math.min(at, now + LONGEST_SLEEP));
    this.#cancelTimer = this.#clock.after(this.#wakeAt - now, () => this.#trigger());
  }

  /** One walk through what is due; resolves with the time of the next entry. */
  async #work(): Promise<number> {
    let after: string | undefined;
    for (;;) {
      const keys = await this.#store.keys({
        prefix: SCHEDULE,
        before: dueBound(this.#clock.millis()),
        ...(after === undefined ? {} : { after }),
        limit: PAGE,
      });
      await this.#each(keys);
      if (keys.length < PAGE || !this.#running) break;
      after = keys[keys.length - 1];
    }
    const [next] = await this.#store.keys({ prefix: SCHEDULE, after: dueBound(this.#clock.millis()), limit: 1 });
    const waiting = [...this.#faulty.values()];
    const nextAt = next === undefined ? Infinity : (parseDueKey(next)?.at ?? Infinity);
    return Math.min(nextAt, ...waiting);
  }

  async #each(keys: readonly string[]): Promise<void> {
    let at = 0;
    const workers = Array.from({ length: Math.min(this.#concurrency, keys.length) }, async () => {
      while (at < keys.length && this.#running) {
        const key = keys[at];
        at += 1;
        if (key !== undefined) await this.#one(key);
      }
    });
    await Promise.all(workers);
  }

  async #one(key: string): Promise<void> {
    const now = this.#clock.millis();
    if (this.#busy.has(key) || (this.#faulty.get(key) ?? 0) > now) return;
    const entry = parseDueKey(key);
    const handler = entry && this.#handlers.get(entry.kind);
    if (!entry || !handler) {
      this.#faulty.set(key, now + LONGEST_SLEEP);
      return;
    }
    this.#busy.add(key);
    try {
      await handler(entry, this.#stop.signal);
      this.#faulty.delete(key);
    } catch (error) {
      this.#log.error('a scheduled entry could not be worked off', { kind: entry.kind, error: String(error) });
      this.#faulty.set(key, now + AFTER_FAULT);
    } finally {
      this.#busy.delete(key);
    }
  }
}

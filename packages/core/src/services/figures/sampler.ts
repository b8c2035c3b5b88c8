import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import type { Clock, Log } from '@strongroom/engine-sdk';
import { History, STEP, type Sample } from './history.ts';
import type { WaitingWork } from './due-figures.ts';
import type { KeyCount } from './key-count.ts';
import { Latencies } from './latencies.ts';
import type { LiveLeases } from './live-leases.ts';
import type { Counted, MountCounters } from './mount-counters.ts';

/** How finely the event loop is watched; milliseconds. */
const RESOLUTION = 20;
const CLASSES = ['requests_2xx', 'requests_3xx', 'requests_4xx', 'requests_5xx'] as const;
const COUNTERS = [
  'leases_issued',
  'leases_revoked',
  'revocations_failed',
  'rotations_ok',
  'rotations_failed',
  'sync_ok',
  'sync_failed',
  'logins_ok',
  'logins_denied',
] as const satisfies readonly Counted[];

interface Parts {
  /** The time of samples. */
  readonly clock: Clock;
  /** The timer between them. */
  readonly timer: Clock;
  readonly log: Log;
  readonly counters: MountCounters;
  readonly leases: LiveLeases;
  readonly circuitsOpen: () => number;
  readonly waiting: () => Promise<WaitingWork>;
  /** Counts that are refreshed beside the leases. */
  readonly counts: readonly KeyCount[];
}

/** Takes a sample of the server every ten seconds while it is unsealed. Requests only add to counters. */
export class Sampler {
  readonly history = new History();
  readonly #parts: Parts;
  readonly #latencies = new Latencies();
  readonly #statuses = new Float64Array(CLASSES.length);
  readonly #before = new Map<Counted, number>();
  #loop: IntervalHistogram | undefined;
  #waiting: WaitingWork | undefined;
  #cancel: (() => void) | undefined;
  /** Rises with every start and stop. */
  #run = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What waited at the last sample. */
  get waiting(): WaitingWork | undefined {
    return this.#waiting;
  }

  /** A request was answered. */
  observe(status: number, millis: number): void {
    const at = Math.floor(status / 100) - 2;
    if (at >= 0 && at < CLASSES.length) this.#statuses[at]! += 1;
    this.#latencies.add(millis);
  }

  /** At unseal. */
  start(): void {
    this.stop();
    this.#loop = monitorEventLoopDelay({ resolution: RESOLUTION });
    this.#loop.enable();
    this.#clear();
    this.#next(this.#run);
  }

  /** At seal. */
  stop(): void {
    this.#run += 1;
    this.#cancel?.();
    this.#loop?.disable();
    this.#loop = undefined;
    this.#waiting = undefined;
    this.#parts.leases.forget();
    for (const count of this.#parts.counts) count.forget();
  }

  /** Takes a sample now. */
  async sample(): Promise<void> {
    const { clock, log, counters, leases, circuitsOpen, waiting, counts } = this.#parts;
    const run = this.#run;
    leases.refresh();
    for (const count of counts) count.refresh();
    const found = await waiting().catch((error: unknown) => {
      log.warn('the schedule could not be counted', { error: String(error) });
      return undefined;
    });
    if (run !== this.#run) return;
    this.#waiting = found;
    const due = found ? found.due.reduce((sum, kind) => sum + kind.due, 0) : NaN;
    const counted = Object.fromEntries(COUNTERS.map((name) => [name, counters.total(name) - (this.#before.get(name) ?? 0)]));
    const requests = Object.fromEntries(CLASSES.map((name, at) => [name, this.#statuses[at]!]));
    const sample = {
      ...counted,
      ...requests,
      leases: leases.total ?? NaN,
      circuits_open: circuitsOpen(),
      due_backlog: due,
      event_loop_lag_seconds: this.#lag(),
      resident_memory_bytes: process.memoryUsage.rss(),
    } as Sample;
    this.history.add(clock.millis(), sample, this.#latencies);
    this.#clear();
  }

  #clear(): void {
    for (const name of COUNTERS) this.#before.set(name, this.#parts.counters.total(name));
    this.#statuses.fill(0);
    this.#latencies.clear();
    this.#loop?.reset();
  }

  /** The longest time that the event loop kept others waiting. */
  #lag(): number {
    if (!this.#loop || this.#loop.count === 0) return 0;
    return Math.max(0, this.#loop.max / 1e9 - RESOLUTION / 1_000);
  }

  #next(run: number): void {
    this.#cancel = this.#parts.timer.after(STEP * 1_000, () => {
      this.sample()
        .catch((error: unknown) => this.#parts.log.warn('no sample could be taken', { error: String(error) }))
        .finally(() => {
          if (run === this.#run) this.#next(run);
        });
    });
  }
}

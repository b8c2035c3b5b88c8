import { lastingCounts, summed, type MetricFamilySnapshot, type ProcessSnapshot } from '../metrics/merged-metrics.ts';

/** What one process of a worker has counted. Its number in the system would not tell it from others: the system gives it out again. */
export interface ProcessCounts extends ProcessSnapshot {
  /** How many processes the worker has had, this one included. */
  readonly start: number;
}

/** What workers have counted, as the supervisor knows it. */
export interface KnownCounts {
  /** Of processes that live, as of a few seconds ago. */
  readonly living: readonly ProcessCounts[];
  /** The sums of those that have ended. */
  readonly ended: readonly MetricFamilySnapshot[];
  /** Of each worker that has lost one, how many processes it has lost. */
  readonly lost: ReadonlyMap<number, number>;
}

/** Keeps what workers count, so that a worker that ends takes nothing with it. It keeps one entry for each worker, however often they end. */
export class WorkerCounts {
  readonly #living = new Map<number, ProcessCounts>();
  readonly #lost = new Map<number, number>();
  #ended: readonly MetricFamilySnapshot[] = [];

  /** What a process has counted so far. Of one that has ended, the counts are settled. */
  counted(counts: ProcessCounts): void {
    if (!isLost(counts, this.#lost)) this.#living.set(counts.worker, counts);
  }

  /** The process of a worker has ended: its last counts join those of the others that have. */
  ended(worker: number, start: number): void {
    const last = this.#living.get(worker);
    this.#living.delete(worker);
    this.#lost.set(worker, start);
    if (last) this.#ended = summed([...this.#ended, ...lastingCounts(last.families)]);
  }

  get known(): KnownCounts {
    return { living: [...this.#living.values()], ended: this.#ended, lost: this.#lost };
  }
}

/** Whether a process is one of those that its worker has lost. */
export function isLost({ worker, start }: ProcessCounts, lost: KnownCounts['lost']): boolean {
  return start <= (lost.get(worker) ?? 0);
}

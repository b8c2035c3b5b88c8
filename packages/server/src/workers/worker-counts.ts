import { lastingCounts, mergedMetrics, type MetricFamilySnapshot } from '../metrics/merged-metrics.ts';

/** What workers have counted, as the supervisor knows it. */
export interface KnownCounts {
  /** Of each process that lives, by its number in the system, as of a few seconds ago. */
  readonly living: ReadonlyMap<number, { readonly worker: number; readonly families: readonly MetricFamilySnapshot[] }>;
  /** The sums of those that have ended. */
  readonly ended: readonly MetricFamilySnapshot[];
  /** Their numbers in the system. */
  readonly endedProcesses: readonly number[];
}

/** Keeps what workers count, so that a worker that ends takes nothing with it. */
export class WorkerCounts {
  readonly #living = new Map<number, { worker: number; families: readonly MetricFamilySnapshot[] }>();
  #ended: readonly MetricFamilySnapshot[] = [];
  readonly #endedProcesses: number[] = [];

  /** What the process has counted so far. */
  counted(pid: number, worker: number, families: readonly MetricFamilySnapshot[]): void {
    this.#living.set(pid, { worker, families });
  }

  /** The process has ended: its last counts join those of the others that have. */
  async ended(pid: number): Promise<void> {
    const last = this.#living.get(pid);
    if (!last) return;
    this.#living.delete(pid);
    this.#endedProcesses.push(pid);
    const families = [...this.#ended, ...lastingCounts(last.families)];
    this.#ended = (await mergedMetrics([], families).getMetricsAsJSON()) as unknown as MetricFamilySnapshot[];
  }

  get known(): KnownCounts {
    return { living: this.#living, ended: this.#ended, endedProcesses: this.#endedProcesses };
  }
}

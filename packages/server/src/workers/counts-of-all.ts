import type { Siblings } from '@strongroom/core';
import type { Registry } from 'prom-client';
import { mergedMetrics, type MetricFamilySnapshot, type ProcessSnapshot } from '../metrics/merged-metrics.ts';
import type { OtherCounts } from '../metrics/server-metrics.ts';
import type { KnownCounts } from './worker-counts.ts';

/** The topic on which the supervisor says what it knows. */
export const KNOWN = 'counts/known';
/** The topic on which it hears what was shown: that is not lost with the worker that counted it. */
export const SHOWN = 'counts/shown';
const NOW = 'counts/now';
/** Milliseconds. Of a worker that does not answer, the supervisor knows what it counted a few seconds ago. */
const PATIENCE = 1_000;

/** What a process had counted when it was asked. */
export interface CountsNow extends ProcessSnapshot {
  readonly pid: number;
}

/** What all workers have counted, those that have ended among them. */
export class CountsOfAll implements OtherCounts {
  readonly #siblings: Siblings;

  constructor(siblings: Siblings) {
    this.#siblings = siblings;
  }

  /** What this worker answers the others. */
  share(snapshot: () => Promise<MetricFamilySnapshot[]>): void {
    const { number: worker } = this.#siblings;
    this.#siblings.answer(NOW, async (): Promise<CountsNow> => ({ pid: process.pid, worker, families: await snapshot() }));
  }

  async with(own: readonly MetricFamilySnapshot[]): Promise<Registry> {
    const now = await this.#siblings.ask<CountsNow>(NOW, undefined, PATIENCE);
    const [known] = (await this.#siblings.ask<KnownCounts | undefined>(KNOWN, undefined, PATIENCE)).filter((one) => one !== undefined);
    const ended = new Set(known?.endedProcesses);
    const processes = new Map<number, ProcessSnapshot>(known?.living);
    const mine: CountsNow = { pid: process.pid, worker: this.#siblings.number, families: own };
    void this.#siblings.ask(SHOWN, [mine, ...now], PATIENCE);
    for (const { pid, ...counts } of now) if (!ended.has(pid)) processes.set(pid, counts);
    processes.set(process.pid, mine);
    return mergedMetrics([...processes.values()], known?.ended);
  }
}

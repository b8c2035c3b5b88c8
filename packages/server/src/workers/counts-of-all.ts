import type { Registry } from 'prom-client';
import { mergedMetrics, type MetricFamilySnapshot } from '../metrics/merged-metrics.ts';
import type { OtherCounts } from '../metrics/server-metrics.ts';
import { isLost, type KnownCounts, type ProcessCounts } from './worker-counts.ts';
import type { WorkerSiblings } from './worker-siblings.ts';

/** The topic on which the supervisor says what it knows. */
export const KNOWN = 'counts/known';
/** The topic on which it hears what was shown: that is not lost with the worker that counted it. */
export const SHOWN = 'counts/shown';
const NOW = 'counts/now';
/** Milliseconds. Of a worker that does not answer, the supervisor knows what it counted a few seconds ago. */
const PATIENCE = 1_000;

/** What all workers have counted, those that have ended among them. */
export class CountsOfAll implements OtherCounts {
  readonly #siblings: WorkerSiblings;

  constructor(siblings: WorkerSiblings) {
    this.#siblings = siblings;
  }

  /** What this worker answers the others. */
  share(snapshot: () => Promise<MetricFamilySnapshot[]>): void {
    this.#siblings.answer(NOW, async () => this.#own(await snapshot()));
  }

  async with(own: readonly MetricFamilySnapshot[]): Promise<Registry> {
    const now = await this.#siblings.ask<ProcessCounts>(NOW, undefined, PATIENCE);
    const [known] = (await this.#siblings.ask<KnownCounts | undefined>(KNOWN, undefined, PATIENCE)).filter((one) => one !== undefined);
    const mine = this.#own(own);
    void this.#siblings.ask(SHOWN, [mine, ...now], PATIENCE);
    const living = now.filter((one) => !known || !isLost(one, known.lost));
    const byWorker = new Map([...(known?.living ?? []), ...living, mine].map((one) => [one.worker, one]));
    return mergedMetrics([...byWorker.values()], known?.ended);
  }

  #own(families: readonly MetricFamilySnapshot[]): ProcessCounts {
    const { number: worker, start } = this.#siblings;
    return { worker, start, families };
  }
}

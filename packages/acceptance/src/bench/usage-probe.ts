import cluster, { type Worker } from 'node:cluster';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { HeapSampler } from './heap-sampler.ts';

/**
 * Loaded into a measured process before its program (`node --import`): it answers `usage` of the parent's with the time that the
 * garbage collector has stopped the main thread for, and the size of the young generation. From `sample-heap` to `heap-samples` it samples what is allocated.
 */
export interface ProbeReport {
  /** Of this process, and of its workers. */
  readonly gcMillis: number;
  /** Bytes of V8's young generation, both halves. */
  readonly youngBytes: number;
}

let gcMillis = 0;
const observer = new PerformanceObserver((list) => take(list.getEntries()));
observer.observe({ entryTypes: ['gc'] });

const sampler = new HeapSampler();

process.on('message', (message) => {
  if (message === 'usage') void report();
  if (message === 'sample-heap') void sampler.start().then(() => process.send?.([]));
  if (message === 'heap-samples') void sampler.stop().then((allocators) => process.send?.(allocators));
});
// A program that ends by itself is not kept by its meter. A worker lives as long as its channel.
if (!cluster.isWorker) process.channel?.unref();

async function report(): Promise<void> {
  const ofWorkers = await Promise.all(Object.values(cluster.workers ?? {}).map(async (worker) => gcMillisOf(worker!)));
  take(observer.takeRecords());
  const youngBytes = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
  process.send?.({ gcMillis: ofWorkers.reduce((sum, one) => sum + one, gcMillis), youngBytes } satisfies ProbeReport);
}

/** Of one that ends instead of answering: 0, as the system counts nothing of it any more. */
async function gcMillisOf(worker: Worker): Promise<number> {
  return new Promise((resolve) => {
    const heard = (message: Partial<ProbeReport>): void => {
      if (message.gcMillis !== undefined) answer(message.gcMillis);
    };
    const gone = (): void => answer(0);
    const answer = (millis: number): void => {
      worker.off('message', heard).off('disconnect', gone);
      resolve(millis);
    };
    worker.on('message', heard).on('disconnect', gone);
    worker.send('usage', (error: Error | null) => error && gone());
  });
}

function take(entries: readonly { readonly duration: number }[]): void {
  for (const { duration } of entries) gcMillis += duration;
}

import cluster from 'node:cluster';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';

/**
 * Loaded into a measured process before its program (`node --import`): it answers each message of the parent's with the time that the
 * garbage collector has stopped the main thread for, and the size of the young generation.
 */
export interface ProbeReport {
  readonly gcMillis: number;
  /** Bytes of V8's young generation, both halves. */
  readonly youngBytes: number;
}

let gcMillis = 0;
const observer = new PerformanceObserver((list) => take(list.getEntries()));
observer.observe({ entryTypes: ['gc'] });

process.on('message', (message) => {
  if (message !== 'usage') return;
  take(observer.takeRecords());
  const youngBytes = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
  process.send?.({ gcMillis, youngBytes } satisfies ProbeReport);
});
// A program that ends by itself is not kept by its meter. A worker lives as long as its channel.
if (!cluster.isWorker) process.channel?.unref();

function take(entries: readonly { readonly duration: number }[]): void {
  for (const { duration } of entries) gcMillis += duration;
}

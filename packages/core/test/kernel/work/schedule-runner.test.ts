import { expect, test } from '@jest/globals';
import { manualClock } from '@strongroom/engine-testkit';
import { ScheduleRunner } from '../../../src/kernel/work/schedule-runner.ts';
import { dueKey } from '../../../src/kernel/work/schedule-index.ts';
import type { Store } from '../../../src/kernel/storage/store.ts';

test('what comes due while the runner reads the index is processed at once, not when something else wakes it', async () => {
  const clock = manualClock();
  const key = dueKey(clock.millis() + 1, 'job', 'a');
  const entries = new Set([key]);
  let reads = 0;
  const store = {
    onMarks: () => undefined,
    keys: async ({ before = '\uffff', after = '' }: { before?: string; after?: string }) => {
      reads += 1;
      // The first read takes a millisecond, within which the entry comes due.
      if (reads === 1) queueMicrotask(() => void clock.advance('1ms'));
      return [...entries].filter((entry) => entry < before && entry > after);
    },
  } as unknown as Store;
  const silent = () => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent } as never;
  const runner = new ScheduleRunner({ store, clock, log });
  const done: string[] = [];
  runner.handle('job', async ({ id }) => {
    entries.delete(key);
    done.push(id);
  });
  runner.start();
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance('5ms');
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual(['a']);
  await runner.stop();
});

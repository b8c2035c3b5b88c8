import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Log } from '@strongroom/engine-sdk';
import { manualClock, type ManualClock } from '@strongroom/engine-testkit';
import { RepeatedFault } from '../../../src/kernel/faults/repeated-fault.ts';

describe('a fault that happens again and again', () => {
  let clock: ManualClock;
  let lines: unknown[];
  let fault: RepeatedFault;

  beforeEach(() => {
    clock = manualClock();
    lines = [];
    const warn = (message: string, fields?: object): void => void lines.push([message, fields]);
    fault = new RepeatedFault({ clock, log: { warn } as unknown as Log, level: 'warn', message: 'it failed' });
  });

  test('has a line at once, and one a minute with how often it was since', async () => {
    for (let second = 0; second <= 120; second += 2) {
      fault.happened(new Error('the disk is full'), { id: second });
      await clock.advance('2s');
    }
    const error = 'Error: the disk is full';
    expect(lines).toEqual([
      ['it failed', { id: 0, error }],
      ['it failed', { id: 60, times: 30, error }],
      ['it failed', { id: 120, times: 30, error }],
    ]);
  });

  test('has a line at once where the error is another one', () => {
    for (const message of ['a', 'a', 'b', 'a']) fault.happened(new Error(message));
    expect(lines).toEqual(['a', 'b', 'a'].map((message) => ['it failed', { error: `Error: ${message}` }]));
  });
});

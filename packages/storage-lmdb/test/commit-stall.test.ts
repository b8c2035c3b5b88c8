import { beforeEach, describe, expect, test } from '@jest/globals';
import { CommitStall } from '../src/commit-stall.ts';

describe('commits of which none ends', () => {
  let now: number;
  let lines: string[];
  let stall: CommitStall;

  beforeEach(() => {
    [now, lines] = [0, []];
    const hear = (message: string): void => void lines.push(message);
    stall = new CommitStall({ info: hear, warn: hear }, '/store', () => now);
  });

  const WAITING = 'writes to the store are waiting: the disk does not answer, or another process holds the lock of the store';

  test('are in the log after three seconds, once, and so is that they go on', () => {
    stall.begin();
    stall.begin();
    for (now = 0; now < 20_000; now += 250) stall.look();
    expect(lines).toEqual([WAITING]);
    stall.end();
    expect(lines).toEqual([WAITING, 'writes to the store go on']);
  });

  test('are not reported for the time in which this process itself stood still', () => {
    stall.begin();
    for (now = 0; now <= 1_000; now += 250) stall.look();
    now += 60_000;
    stall.look();
    stall.end();
    expect(lines).toEqual([]);
  });

  test('are none while others end, or where nobody waits', () => {
    for (now = 0; now < 20_000; now += 250) {
      stall.begin();
      if (now > 0) stall.end();
      stall.look();
    }
    stall.end();
    now += 60_000;
    stall.look();
    expect(lines).toEqual([]);
  });
});

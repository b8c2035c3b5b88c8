import { describe, expect, test } from '@jest/globals';
import { WRITES_A_ROUND } from '../src/torture/crash-run.ts';
import { lmdbCrashStore } from '../src/torture/lmdb-crash-store.ts';
import { crashCases } from './crash-cases.ts';

describe('a server that is killed at random moments under load', () => {
  const killed = crashCases();

  test('loses no acknowledged write, leaves no user without a lease or a pending undo, and starts every time: 8 kills', async () => {
    const report = await killed(8, await lmdbCrashStore());
    expect(report.givenUp).toEqual([]);
    // Every other round waits for as many, however slow the machine is.
    expect(report.writes).toBeGreaterThanOrEqual(4 * WRITES_A_ROUND);
    expect(report.pages!.used).toBeGreaterThan(20);
  }, 300_000);

  test('with two workers loses nothing either, while every second kill strikes one of them alone: 6 kills', async () => {
    const report = await killed(6, await lmdbCrashStore(2));
    expect(report.workerKills).toBe(3);
    expect(report.pages!.used).toBeGreaterThan(20);
  }, 300_000);
});

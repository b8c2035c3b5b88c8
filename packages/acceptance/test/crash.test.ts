import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import { CrashRun } from '../src/torture/crash-run.ts';
import { lmdbCrashStore } from '../src/torture/crash-store.ts';

describe('a server that is killed at random moments under load', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres({ settings: ['max_connections=100'] });
  }, 60_000);
  afterAll(async () => postgres.stop());

  test('loses no acknowledged write, leaves no user without a lease or a pending undo, and starts every time: 15 kills', async () => {
    const store = await lmdbCrashStore();
    const run = await CrashRun.create(postgres, store);
    try {
      const report = await run.run(15, Math.random);
      expect(report.problems).toEqual([]);
      expect(report.writes).toBeGreaterThan(100);
    } finally {
      await run.dispose();
      await store.stop();
    }
  }, 300_000);
});

import { afterAll, beforeAll, expect } from '@jest/globals';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import { CrashRun, type CrashReport, type CrashRunOptions } from '../src/torture/crash-run.ts';
import type { CrashStore } from '../src/torture/crash-store.ts';

/** Kills a server under load, and expects that nothing is lost or left, and that each fault of the store struck. */
export type Killed = (kills: number, store: CrashStore, options?: CrashRunOptions) => Promise<CrashReport>;

/** For a `describe`: starts the database that users are made in. */
export function crashCases(): Killed {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres({ settings: ['max_connections=100'] });
  }, 60_000);
  afterAll(async () => postgres?.stop());

  return async (kills, store, options) => {
    try {
      const run = await CrashRun.create(postgres, store);
      try {
        const report = await run.run(kills, options);
        expect(report.problems).toEqual([]);
        expect(report).toMatchObject({ kills, lost: 0, orphans: 0, left: 0 });
        expect([...report.faults.keys()].toSorted()).toEqual(store.faults.map(({ name }) => name).toSorted());
        return report;
      } finally {
        await run.dispose();
      }
    } finally {
      await store.stop();
    }
  };
}

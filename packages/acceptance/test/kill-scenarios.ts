import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KillScenarios, SCENARIOS } from '../src/torture/kill-scenarios.ts';
import type { TortureDatabase } from '../src/torture/torture-database.ts';

const KILLS = 25;

/** The cases of one database; for a `describe`. */
export function killCases(start: () => Promise<TortureDatabase>): void {
  let database: TortureDatabase;
  let run: KillScenarios;
  beforeAll(async () => {
    database = await start();
    run = await KillScenarios.create(database);
  }, 120_000);
  afterAll(async () => {
    await run?.dispose();
    await database?.stop();
  });

  test.each(SCENARIOS)(
    `during %s: ${KILLS} kills leave no user without a lease or a pending undo, and no password that does not log in`,
    async (scenario) => {
      const report = await run.run(scenario, KILLS, Math.random);
      expect(report.problems).toEqual([]);
      expect(report.kills).toBe(KILLS);
      // Kills that hit nothing would prove nothing.
      expect(report.cutOff).toBeGreaterThan(KILLS);
      expect(report.acknowledged).toBeGreaterThan(0);
    },
    240_000,
  );

  test('when everything that was left is through, no user of a lease is left', async () => {
    expect(await run.settle()).toEqual([]);
  }, 120_000);
}

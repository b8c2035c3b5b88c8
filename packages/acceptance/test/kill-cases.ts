import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KillRun, type KillTarget } from '../src/torture/kill-run.ts';

/** The cases of one target, each with a number of kills; for a `describe`. */
export function killCases<Name extends string>(scenarios: readonly Name[], kills: number, start: () => Promise<KillTarget<Name>>): void {
  let target: KillTarget<Name>;
  let run: KillRun<Name>;
  beforeAll(async () => {
    target = await start();
    run = await KillRun.create(target);
  }, 120_000);
  afterAll(async () => {
    await run?.dispose();
    await target?.stop();
  });

  test.each(scenarios)(
    `during %s: ${kills} kills leave no account without a lease or a pending undo, and no password that does not log in`,
    async (scenario) => {
      const report = await run.run(scenario, kills, Math.random);
      expect(report.problems).toEqual([]);
      expect(report.kills).toBe(kills);
      // Kills that hit nothing would prove nothing.
      expect(report.cutOff).toBeGreaterThan(kills);
      expect(report.acknowledged).toBeGreaterThan(0);
    },
    240_000,
  );

  test('when everything that was left is through, no account of a lease is left, and every stored password logs in', async () => {
    expect(await run.settle()).toEqual([]);
  }, 120_000);
}

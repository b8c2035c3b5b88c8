import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AppRoleKills } from '../src/torture/approle-kills.ts';

describe('a server that is killed while programs log in', () => {
  let kills: AppRoleKills;
  beforeAll(async () => {
    kills = await AppRoleKills.create();
  }, 60_000);
  afterAll(async () => kills?.dispose());

  test('takes no use of a secret id twice and loses none: 10 kills', async () => {
    const report = await kills.run(10, Math.random);
    expect(report.problems).toEqual([]);
    expect(report.answered).toBeGreaterThan(20);
    // Kills that hit nothing would prove nothing.
    expect(report.cutOff).toBeGreaterThan(10);
  }, 240_000);
});

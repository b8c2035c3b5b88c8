import { expect, test } from '@jest/globals';
import { SnapshotKills } from '../src/torture/snapshot-kills.ts';

test('a server that is killed while it takes or restores a snapshot has the old store or the new one, whole: 6 kills', async () => {
  const run = await SnapshotKills.create();
  try {
    const { problems, taken, restored, cutOff } = await run.run(6, Math.random);
    expect(problems).toEqual([]);
    expect(taken + restored + cutOff).toBeGreaterThanOrEqual(6);
  } finally {
    await run.dispose();
  }
}, 300_000);

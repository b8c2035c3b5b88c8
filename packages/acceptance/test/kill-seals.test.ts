import { expect, test } from '@jest/globals';
import { SealKills } from '../src/torture/seal-kills.ts';

test('a server that is killed while its seals or shares change is opened by the old ones or the new ones: 3 kills', async () => {
  const run = await SealKills.create(Math.random);
  try {
    const { kills, problems } = await run.run(3);
    expect(problems).toEqual([]);
    expect(kills).toBeGreaterThanOrEqual(3);
  } finally {
    await run.dispose();
  }
}, 300_000);

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { roleOrder, step } from './delegation-steps.ts';
import { DelegationWorld, type Tally } from './delegation-world.ts';

/** The same walk each time; a failure prints its seed, and the shortest walk that fails. */
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_300_101);
/** Walks; each makes 36 tokens or more on average. */
const RUNS = Number(process.env['DELEGATION_RUNS'] ?? 560);

describe('the law of delegation', () => {
  test('no token, however made, has what its maker lacks, unless a role names it', async () => {
    const tally: Tally = new Map();
    await fc.assert(
      fc.asyncProperty(
        fc.array(roleOrder, { minLength: 6, maxLength: 6 }),
        fc.array(step, { minLength: 1, maxLength: 100, size: 'max' }),
        async (roles, steps) => {
          const world = await DelegationWorld.open(roles, tally);
          try {
            for (const each of steps) await world.take(each);
            await world.checkLives();
          } finally {
            await world.close();
          }
        },
      ),
      { numRuns: RUNS, seed: SEED },
    );
    expect(tally.get('creations')).toBeGreaterThanOrEqual(RUNS * 36);
    // A law under which nothing is made would be kept as well.
    const kinds = [
      'child',
      'orphan',
      'by a role',
      'by an orphan role',
      'login',
      'batch',
      'periodic',
      'bound',
      'limited',
      'wrapped',
      'renewed',
    ];
    expect(kinds.filter((kind) => (tally.get(kind) ?? 0) < RUNS)).toEqual([]);
  }, 1_500_000);
});

import { describe, expect, test } from '@jest/globals';
import { SharedRuns } from '../../../src/services/oidc/shared-runs.ts';

describe('runs that are shared', () => {
  test('answer many who ask at once with two runs: the one under way, and one that began after they asked', async () => {
    const runs = new SharedRuns<number>();
    let stored = 0;
    let count = 0;
    const gates: (() => void)[] = [];
    const work = async (): Promise<number> => {
      count += 1;
      const seen = stored;
      await new Promise<void>((open) => gates.push(open));
      return seen;
    };
    const first = runs.run('a', work);
    stored = 1;
    const others = Array.from({ length: 50 }, async () => runs.run('a', work));
    const another = runs.run('b', work);
    gates[0]!();
    expect(await first).toBe(0);
    await new Promise((resolve) => setImmediate(resolve));
    gates[1]!();
    gates[2]!();
    expect(new Set(await Promise.all(others))).toEqual(new Set([1]));
    expect(await another).toBe(1);
    expect(count).toBe(3);
  });

  test('begin again when none is under way, also after a failure', async () => {
    const runs = new SharedRuns<string>();
    const failing = async (): Promise<string> => Promise.reject(new Error('no'));
    const [one, two] = [runs.run('a', failing), runs.run('a', async () => 'yes')];
    await expect(one).rejects.toThrow('no');
    expect(await two).toBe('yes');
    expect(await runs.run('a', async () => 'again')).toBe('again');
  });
});

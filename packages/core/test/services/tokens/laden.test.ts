import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Store } from '../../../src/kernel/storage/store.ts';
import type { TokenStore } from '../../../src/services/tokens/token-store.ts';
import { openedStore } from './opened-store.ts';

/** Digests around the slash that ends them in keys: `-` comes before it, `0` and `_` behind it. */
const DIGESTS = ['A', 'A-', 'A-b', 'A0', 'A_', 'AB', 'B', 'B-', 'B0', 'b', '-', '_'];

describe('tokens on which something hangs', () => {
  let store: Store;
  let tokens: TokenStore;
  let ranges: number;

  beforeEach(async () => {
    const opened = await openedStore();
    ({ store, tokens } = opened);
    const { driver } = opened;
    const range = driver.range.bind(driver);
    driver.range = (query) => {
      ranges += 1;
      return range(query);
    };
    ranges = 0;
  });
  const hang = async (keys: readonly string[]): Promise<void> =>
    store.transaction(async (tx) => {
      for (const key of keys) tx.mark(key);
    });

  test.each(['token-child/', 'token-lease/', 'cubbyhole/'])('are found by %s, whatever the lengths of their digests', async (prefix) => {
    for (let one = 0; one < DIGESTS.length; one += 1) {
      const [digest, other] = [DIGESTS[one]!, DIGESTS[(one + 5) % DIGESTS.length]!];
      await hang([`${prefix}${digest}/x`]);
      expect([...(await tokens.laden(DIGESTS))]).toEqual([digest]);
      expect([...(await tokens.laden([digest]))]).toEqual([digest]);
      expect((await tokens.laden([digest, other])).has(digest)).toBe(true);
      expect((await tokens.laden(DIGESTS.filter((each) => each !== digest))).has(other)).toBe(false);
      await store.transaction(async (tx) => tx.delete(`${prefix}${digest}/x`));
    }
  });

  test('cost three reads for a whole batch', async () => {
    await hang(['token-child/B/x', 'token-lease/A_/secret/y', 'cubbyhole/-/z']);
    expect(new Set(await tokens.laden(DIGESTS))).toEqual(new Set(['B', 'A_', '-']));
    expect(ranges).toBe(3);
    expect(await tokens.laden([])).toEqual(new Set());
    expect(ranges).toBe(3);
  });

  test('are told apart from others between them on which much hangs', async () => {
    await hang(Array.from({ length: 200 }, (_, index) => `token-lease/A0/secret/${index}`));
    await hang(['token-lease/B/secret/x']);
    expect(await tokens.laden(['A', 'B', 'b'])).toEqual(new Set(['B']));
    // One read each where the first is not enough.
    expect(ranges).toBe(3 + 3);
  });
});

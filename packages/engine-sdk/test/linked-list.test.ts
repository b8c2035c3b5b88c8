import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { LinkedList } from '../src/index.ts';

describe('LinkedList', () => {
  test('has its items in the order in which they were added, whichever were removed', () => {
    for (let removed = 0; removed < 8; removed += 1) {
      const list = new LinkedList<string>();
      const entries = ['a', 'b', 'c'].map((item) => list.add(item));
      for (const [index, entry] of entries.entries()) if (removed & (1 << index)) list.remove(entry);
      list.add('d');
      const left = ['a', 'b', 'c'].filter((_, index) => !(removed & (1 << index)));
      expect([...list]).toEqual([...left, 'd']);
      expect(list.size).toBe(left.length + 1);
      expect(list.first?.item).toBe(left[0] ?? 'd');
    }
  });

  test('removes an entry once, also the only one', () => {
    const list = new LinkedList<string>();
    const entry = list.add('a');
    list.remove(entry);
    list.remove(entry);
    expect(list.size).toBe(0);
    expect(list.first).toBeUndefined();
    const other = list.add('b');
    list.remove(entry);
    expect([...list]).toEqual(['b']);
    list.remove(other);
    expect([...list]).toEqual([]);
  });

  test('holds the same item several times', () => {
    const list = new LinkedList<string>();
    list.remove(list.add('a'));
    const one = list.add('a');
    list.add('a');
    list.remove(one);
    expect([...list]).toEqual(['a']);
  });

  test('may change while it is iterated over', () => {
    const list = new LinkedList<string>();
    const entries = ['a', 'b'].map((item) => list.add(item));
    const seen: string[] = [];
    for (const item of list) {
      seen.push(item);
      for (const entry of entries) list.remove(entry);
      list.add('c');
    }
    expect(seen).toEqual(['a', 'b']);
    expect([...list]).toEqual(['c', 'c']);
  });

  test('an entry that was removed keeps no other entry in memory', () => {
    const list = new LinkedList<string>();
    const [first, second, third] = ['a', 'b', 'c'].map((item) => list.add(item));
    list.remove(second!);
    list.remove(first!);
    list.remove(third!);
    for (const entry of [first, second, third]) expect(Object.values(entry!).filter((value) => typeof value === 'object')).toEqual([]);
  });

  // Of a Set nearly all of it would stay.
  test('what was removed does not stay in memory until the old generation is collected', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
    const oldBytes = (): number => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!.space_used_size;
    const list = new LinkedList<unknown>();
    const underWay: ReturnType<typeof list.add>[] = [];
    const churn = (count: number): void => {
      for (let index = 0; index < count; index += 1) {
        underWay.push(list.add({ data: Array<number>(100).fill(index) }));
        if (underWay.length > 32) list.remove(underWay.shift()!);
      }
    };
    churn(1_000);
    gc();
    const before = oldBytes();
    for (let round = 0; round < 20; round += 1) {
      churn(200);
      gc({ type: 'minor' });
    }
    const removed = 20 * 200 * 100 * 8;
    expect((oldBytes() - before) / removed).toBeLessThan(0.3);
  });
});

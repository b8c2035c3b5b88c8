import { describe, expect, test } from '@jest/globals';
import { RecordCache } from '../../../src/kernel/storage/record-cache.ts';

const LIMIT = 2 ** 16;

describe('a cache of decoded records', () => {
  test('returns the newest record, with the version it was decoded from', () => {
    const cache = new RecordCache(LIMIT);
    cache.put('a', 7, 'decoded', 100);
    expect(cache.get('a')).toMatchObject({ version: 7, record: 'decoded' });
    cache.put('a', 8, 'newer', 100);
    expect(cache.get('a')).toMatchObject({ version: 8, record: 'newer' });
    expect(cache.get('b')).toBeUndefined();
  });

  test('keeps as many small records as fit, and fewer large ones', () => {
    const kept = (bytes: number): number => {
      const cache = new RecordCache(LIMIT);
      const keys = Array.from({ length: 1_000 }, (_, i) => `key${i}`);
      for (const key of keys) cache.put(key, 1, key, bytes);
      return keys.filter((key) => cache.get(key) !== undefined).length;
    };
    expect(kept(100)).toBeGreaterThan(2 * kept(1_000));
    expect(kept(1_000) * 1_000).toBeLessThanOrEqual(LIMIT);
    expect(kept(1_000)).toBeGreaterThan(10);
  });

  test('does not keep a record that would push many others out', () => {
    const cache = new RecordCache(LIMIT);
    cache.put('small', 1, 'small', 100);
    for (let i = 0; i < 100; i += 1) cache.put(`large${i}`, 1, 'large', 5_000);
    expect(cache.get('large99')).toBeUndefined();
    expect(cache.get('small')?.record).toBe('small');
  });

  test('keeps what is asked for again and again', () => {
    const cache = new RecordCache(LIMIT);
    cache.put('asked', 1, 'asked', 100);
    for (let i = 0; i < 1_000; i += 1) {
      expect(cache.get('asked')?.record).toBe('asked');
      cache.put(`other${i}`, 1, i, 1_000);
    }
  });

  test('forgets what is dropped, and all when it is cleared', () => {
    const cache = new RecordCache(LIMIT);
    cache.put('a', 1, 'a', 100);
    cache.put('b', 1, 'b', 100);
    cache.drop('a');
    expect([cache.get('a'), cache.get('b')?.record]).toEqual([undefined, 'b']);
    cache.clear();
    expect(cache.get('b')).toBeUndefined();
  });
});

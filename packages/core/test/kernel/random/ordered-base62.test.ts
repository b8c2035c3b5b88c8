import { describe, expect, test } from '@jest/globals';
import { orderedBase62, placeOf } from '../../../src/kernel/random/ordered-base62.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');

describe('ids that follow the clock', () => {
  test('are letters and digits, all different, and begin alike in one moment', () => {
    const ids = Array.from({ length: 1_000 }, () => orderedBase62(24, NOW));
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9]{24}$/);
    expect(new Set(ids).size).toBe(1_000);
    expect(new Set(ids.map((id) => placeOf(id, 24))).size).toBe(1);
    expect(new Set(ids.map((id) => id.slice(3, 7))).size).toBeGreaterThan(990);
  });

  test('are in the order of their moments, in a cycle of half an hour', () => {
    const cycle = 8 * 62 ** 3;
    const begin = Math.ceil(NOW / cycle) * cycle;
    const places = Array.from({ length: 62 ** 3 }, (_, step) => orderedBase62(3, begin + 8 * step));
    expect(new Set(places).size).toBe(places.length);
    expect([...places].sort()).toEqual(places);
    expect(orderedBase62(3, begin + cycle)).toBe(places[0]);
    expect(cycle / 60_000).toBeCloseTo(31.8, 1);
  });

  test.each(['', 'ab', 'a/b' + 'x'.repeat(21), '\0aa' + 'x'.repeat(21), 'ä' + 'x'.repeat(23), 'x'.repeat(25)])(
    'have no place where they are %j',
    (id) => {
      expect(placeOf(id, 24)).toBe('');
    },
  );
});

import { describe, expect, test } from '@jest/globals';
import { History, LENGTH, SERIES_NAMES, STEP, type Sample } from '../../../src/services/figures/history.ts';
import { Latencies } from '../../../src/services/figures/latencies.ts';

const START = Date.UTC(2026, 0, 1);
const NONE = Object.fromEntries(SERIES_NAMES.map((name) => [name, 0])) as Sample;
const at = (seconds: number): number => START + seconds * 1_000;

function latencies(...millis: number[]): Latencies {
  const made = new Latencies();
  for (const one of millis) made.add(one);
  return made;
}

describe('latencies', () => {
  test('a percentile is within a tenth of the truth, whatever the times are', () => {
    for (const scale of [0.3, 7, 120, 4_000]) {
      const times = Array.from({ length: 1_000 }, (_, index) => scale * (1 + index / 1_000));
      const made = latencies(...times);
      for (const share of [0.5, 0.95, 0.99]) {
        const truth = times[Math.ceil(1_000 * share) - 1]!;
        expect(Math.abs(made.percentile(share)! / truth - 1)).toBeLessThan(0.1);
      }
    }
  });

  test('one call is every percentile, and no call is none', () => {
    expect(latencies(3).percentile(0.01)).toBe(latencies(3).percentile(1));
    expect(latencies().percentile(0.5)).toBeUndefined();
  });

  test('the shortest and the longest times have a place', () => {
    expect(latencies(0).percentile(1)).toBeLessThanOrEqual(0.1);
    expect(latencies(3_600_000).percentile(1)).toBeGreaterThan(80_000);
  });
});

describe('the history of a server', () => {
  test('shows every ten seconds, and null where there was no sample', () => {
    const history = new History();
    history.add(at(0), { ...NONE, leases: 3, rotations_ok: 1 }, latencies(1));
    history.add(at(20), { ...NONE, leases: 4 }, latencies());
    const { start, series } = history.plot({ since: at(0), now: at(25), step: STEP });
    expect(start).toBe(START);
    expect(series.leases).toEqual([3, null, 4]);
    expect(series.rotations_ok).toEqual([1, null, 0]);
    expect(series.latency_p95_seconds).toEqual([expect.any(Number), null, null]);
  });

  test('adds up what was counted, keeps peaks and the last of what lives, and merges latencies in a longer step', () => {
    const history = new History();
    history.add(at(0), { ...NONE, requests_2xx: 10, leases: 3, due_backlog: 9 }, latencies(...Array<number>(99).fill(1)));
    history.add(at(10), { ...NONE, requests_2xx: 5, leases: 2, due_backlog: 1 }, latencies(100));
    const { series } = history.plot({ since: at(0), now: at(19), step: 60 });
    expect([series.requests_2xx, series.leases, series.due_backlog]).toEqual([[15], [2], [9]]);
    expect(series.latency_p50_seconds[0]).toBeLessThan(0.0012);
  });

  test('begins steps at whole multiples, so that two answers show the same bars', () => {
    const history = new History();
    for (let seconds = 0; seconds < 300; seconds += STEP) history.add(at(seconds), { ...NONE, requests_2xx: 1 }, latencies());
    const shown = (since: number) => history.plot({ since: at(since), now: at(299), step: 60 });
    expect(shown(61).start).toBe(at(60));
    expect(shown(119).series.requests_2xx).toEqual([6, 6, 6, 6]);
    expect(shown(61).series.requests_2xx).toEqual([6, 6, 6, 6]);
  });

  test('keeps a day and no more', () => {
    const history = new History();
    const days = LENGTH + 100;
    for (let index = 0; index < days; index += 1) history.add(at(index * STEP), { ...NONE, requests_2xx: 1 }, latencies());
    const { series, start } = history.plot({ since: at(0), now: at((days - 1) * STEP), step: STEP });
    expect(series.requests_2xx).toHaveLength(LENGTH);
    expect(series.requests_2xx.every((value) => value === 1)).toBe(true);
    expect(start).toBe(at(100 * STEP));
  });

  test('a value that is not known is null, and does not spoil the others of its step', () => {
    const history = new History();
    history.add(at(0), { ...NONE, leases: NaN }, latencies());
    history.add(at(10), { ...NONE, leases: 7 }, latencies());
    expect(history.plot({ since: at(0), now: at(10), step: STEP }).series.leases).toEqual([null, 7]);
    expect(history.plot({ since: at(0), now: at(10), step: 20 }).series.leases).toEqual([7]);
  });

  test('two samples within the same ten seconds are one', () => {
    const history = new History();
    history.add(at(0), { ...NONE, requests_2xx: 2, resident_memory_bytes: 5 }, latencies(1));
    history.add(at(1), { ...NONE, requests_2xx: 3, resident_memory_bytes: 4 }, latencies(1));
    const { series } = history.plot({ since: at(0), now: at(5), step: STEP });
    expect([series.requests_2xx, series.resident_memory_bytes]).toEqual([[5], [5]]);
  });
});

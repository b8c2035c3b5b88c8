import { afterEach, describe, expect, test } from '@jest/globals';
import { manualClock } from '@strongroom/engine-testkit';
import { Pacer } from '../src/pacer.ts';
import { syncMount, type SyncMount } from './sync-mount.ts';

describe('the pacer', () => {
  const pace = { perSecond: 2, burst: 3 };
  const D = { id: 'd', generation: 1 };

  test('lets a burst through, then as many as the pace allows, in the order in which they came', async () => {
    const clock = manualClock();
    const pacer = new Pacer(clock);
    const take = (who: string): number | undefined => {
      const turn = pacer.turn(D, who, pace);
      if (!turn) pacer.spend('d', pace);
      return turn && turn.getTime() - clock.millis();
    };
    expect(['a', 'b', 'c'].map(take)).toEqual([undefined, undefined, undefined]);
    expect(['d', 'e', 'f'].map(take)).toEqual([500, 1_500, 2_500]);
    expect(take('e')).toBe(1_500);
    await clock.advance('0.5s');
    expect(take('d')).toBeUndefined();
    expect(take('g')).toBe(3_000);
  });

  test('a run that takes many calls delays those after it', async () => {
    const clock = manualClock();
    const pacer = new Pacer(clock);
    for (let call = 0; call < 7; call += 1) pacer.spend('d', pace);
    expect(pacer.turn(D, 'a', pace)?.getTime()).toBe(clock.millis() + 2_500);
    expect(pacer.turn({ id: 'other', generation: 1 }, 'a', pace)).toBeUndefined();
  });

  test('a pause holds everybody, also whose turn it was', async () => {
    const clock = manualClock();
    const pacer = new Pacer(clock);
    pacer.pause(D, pace, clock.millis() + 10_000);
    expect(pacer.turn(D, 'a', pace)?.getTime()).toBe(clock.millis() + 10_000);
    await clock.advance('10s');
    expect(pacer.turn(D, 'a', pace)).toBeUndefined();
  });

  test('a pause ends where the destination was written again, and a late answer to the old one begins none', async () => {
    const clock = manualClock();
    const pacer = new Pacer(clock);
    pacer.pause(D, pace, clock.millis() + 10_000);
    expect(pacer.turn(D, 'a', pace)).toBeDefined();
    const written = { id: 'd', generation: 2 };
    expect(pacer.turn(written, 'a', pace)).toBeUndefined();
    pacer.pause(D, pace, clock.millis() + 10_000);
    expect(pacer.turn(written, 'b', pace)).toBeUndefined();
  });
});

describe('a destination that is throttled', () => {
  let sync: SyncMount;
  afterEach(async () => sync.close());

  test('makes no calls for as long as Retry-After says, with all its associations; then everything arrives', async () => {
    sync = await syncMount();
    for (const name of ['a', 'b', 'c']) await sync.put(name, { a: name });
    await sync.set('a');
    sync.provider.fail('throttled');
    const before = sync.provider.requests();
    const [entry] = await sync.set('b');
    expect(entry).toMatchObject({ sync_status: 'EXTERNAL_SERVICE_ERROR', last_error: { code: '429', request_id: expect.any(String) } });
    expect(entry?.next_attempt_at).toBe(new Date(sync.clock.millis() + 7_000).toISOString());
    expect((await sync.set('c'))[0]?.sync_status).toBe('PENDING');
    await sync.put('a', { a: 'again' });
    sync.provider.heal();
    await sync.advance('6s');
    expect(sync.provider.requests()).toBe(before + 1);
    await sync.advance('3s');
    expect(sync.provider.values()).toEqual({ 'app/a': '{"a":"again"}', 'app/b': '{"a":"b"}', 'app/c': '{"a":"c"}' });
  });

  test('no more calls go out than the pace of its type allows', async () => {
    sync = await syncMount({ limits: { pace: { perSecond: 2, burst: 4 } } });
    for (let index = 0; index < 20; index += 1) {
      await sync.put(`s${index}`, { a: '1' });
      await sync.set(`s${index}`, { wait: 0 });
    }
    const sent: number[] = [];
    for (let second = 0; second < 40; second += 1) {
      await sync.advance('1s');
      sent.push(sync.provider.requests());
    }
    expect(Object.keys(sync.provider.values())).toHaveLength(20);
    expect(sent[9]!).toBeLessThanOrEqual(4 + 2 * 10 + 2);
    expect(sent.at(-1)).toBe(40);
  });
});

import { describe, expect, test } from '@jest/globals';
import { Pace } from '../src/pace.ts';
import { Selection } from '../src/selection.ts';

describe('a selection', () => {
  test('takes everything where nothing is chosen', () => {
    expect(new Selection([], []).takes('kv', 'secret/a')).toBe(true);
  });

  test('takes what lies below a path, whole segments of it, and the mount above', () => {
    const chosen = new Selection(['secret/app'], []);
    expect(chosen.takes('kv', 'secret/app/db')).toBe(true);
    expect(chosen.takes('kv', 'secret/app')).toBe(true);
    expect(chosen.takes('kv', 'secret/application')).toBe(false);
    expect(chosen.takes('mounts', 'secret/')).toBe(true);
    expect(chosen.takes('mounts', 'other/')).toBe(false);
    expect(chosen.mayTake('kv', 'secret/other/')).toBe(false);
  });

  test('lets an exclusion win', () => {
    const chosen = new Selection(['kind=kv'], ['secret/private/']);
    expect(chosen.takes('kv', 'secret/a')).toBe(true);
    expect(chosen.takes('kv', 'secret/private/a')).toBe(false);
    expect(chosen.mayTake('kv', 'secret/private/')).toBe(false);
  });
});

describe('a pace', () => {
  test('lets calls begin one after the other, and waits as long as a server asks', async () => {
    let now = 0;
    const pace = new Pace({ perSecond: 10, now: () => now, sleep: async (millis) => void (now += millis) });
    for (let call = 0; call < 5; call += 1) await pace.turn();
    expect(now).toBe(400);
    pace.hold(7);
    await pace.turn();
    expect(now).toBe(7_400);
  });
});

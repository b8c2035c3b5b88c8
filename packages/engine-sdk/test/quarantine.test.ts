import { expect, test } from '@jest/globals';
import { Quarantine, QUARANTINE_MILLIS } from '../src/index.ts';

test('what is quarantined is free after a minute, when it is written again, and when the quarantine is ended', () => {
  let now = 1_000;
  const quarantine = new Quarantine({ now: () => new Date(now), millis: () => now, after: () => () => undefined });
  quarantine.begin('a', 3, 'the plugin threw');
  expect(quarantine.find('a', 3)).toMatchObject({ reason: 'the plugin threw', until: 1_000 + QUARANTINE_MILLIS });
  expect(quarantine.find('a', 2)?.reason).toBe('the plugin threw');
  expect(quarantine.find('b', 3)).toBeUndefined();
  now += QUARANTINE_MILLIS;
  expect(quarantine.find('a', 3)).toBeUndefined();
  quarantine.begin('a', 3, 'again');
  expect(quarantine.find('a', 4)).toBeUndefined();
  quarantine.begin('a', 4, 'again');
  quarantine.end('a');
  expect(quarantine.find('a', 4)).toBeUndefined();
});

import { describe, expect, test } from '@jest/globals';
import { foreignText, LONGEST_FOREIGN_TEXT, thrownText } from '../src/index.ts';

describe('texts of foreign code', () => {
  test('secrets are masked in them', () => {
    expect(foreignText('login with hunter2hunter2 failed', { password: 'hunter2hunter2' })).toBe('login with [password] failed');
  });

  test('they are cut at 4 KiB, between characters', () => {
    expect(foreignText('x'.repeat(4_096))).toHaveLength(LONGEST_FOREIGN_TEXT);
    const cut = foreignText(`${'x'.repeat(4_094)}😀😀`);
    expect(cut).toBe(`${'x'.repeat(4_094)}…`);
    expect(foreignText('y'.repeat(10_000_000))).toHaveLength(LONGEST_FOREIGN_TEXT);
  });

  test('a secret that a cut would halve shows in no part', () => {
    const password = 'Zz9-secret-Zz9-secret';
    for (let lead = 65_536 - 30; lead <= 65_536; lead += 1) {
      // All but the end is masked to little, so that the end would be seen.
      const long = 'k'.repeat(lead);
      const text = foreignText(`${long}${password} and more`, { password, long });
      expect(text).not.toContain('Zz9');
    }
    for (let lead = 4_060; lead <= 4_100; lead += 1) {
      expect(foreignText('x'.repeat(lead) + password, { password })).not.toContain('Zz9');
    }
  });

  test('whatever is thrown has a text', () => {
    const hostile = {
      toString() {
        throw new Error('no');
      },
    };
    expect([new Error('a'), new TypeError(''), 'b', 3, undefined].map(thrownText)).toEqual(['a', 'TypeError', 'b', '3', 'undefined']);
    expect([hostile, Object.create(null)].map(thrownText)).toEqual(Array(2).fill('something that cannot be shown'));
    const odd = Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('no');
      },
    });
    expect(thrownText(odd)).toBe('something that cannot be shown');
    expect(thrownText(Object.assign(new Error('x'), { message: { a: 1 } }))).toBe('[object Object]');
  });
});

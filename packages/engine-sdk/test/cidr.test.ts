import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cidrOutside, isCidr, sharedCidrs, withinCidrs } from '../src/index.ts';

const block = fc
  .tuple(fc.nat({ max: 255 }), fc.nat({ max: 255 }), fc.integer({ min: 0, max: 32 }), fc.boolean())
  .map(([a, b, bits, mapped]) => {
    const address = `10.0.${a}.${b}`;
    return mapped ? `::ffff:${address}/${bits + 96}` : `${address}/${bits}`;
  });
const blocks = fc.array(block, { minLength: 1, maxLength: 3 });
const address = fc.tuple(fc.constantFrom(9, 10, 11), fc.nat({ max: 255 }), fc.nat({ max: 255 })).map(([a, b, c]) => `${a}.0.${b}.${c}`);

describe('address blocks', () => {
  test('are addresses, or networks of them', () => {
    for (const text of ['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fd00::/8', '::/0', '::ffff:10.0.0.0/104'])
      expect([text, isCidr(text)]).toEqual([text, true]);
    for (const text of [
      '',
      'here',
      '10.0.0',
      '010.0.0.1',
      '10.0.0.0/',
      '10.0.0.0/33',
      '10.0.0.0/8/8',
      '::/129',
      '::::',
      'fe80::1%eth0',
      '10.0.0.0/-1',
    ])
      expect([text, isCidr(text)]).toEqual([text, false]);
  });

  test('bind to the addresses within; no blocks bind to nothing, and blocks that are none admit nobody', () => {
    expect(withinCidrs(['10.0.0.0/8'], '10.1.2.3')).toBe(true);
    expect(withinCidrs(['10.0.0.0/8'], '::ffff:10.1.2.3')).toBe(true);
    expect(withinCidrs(['::ffff:10.0.0.0/104'], '10.1.2.3')).toBe(true);
    expect(withinCidrs(['10.0.0.0/8'], '11.0.0.1')).toBe(false);
    expect(withinCidrs(['10.0.0.0/8'], '')).toBe(false);
    expect(withinCidrs([], '11.0.0.1')).toBe(true);
    expect(withinCidrs(['here'], '11.0.0.1')).toBe(false);
  });

  test('of two lists admit together whom both admit', () => {
    fc.assert(
      fc.property(blocks, blocks, address, (a, b, from) => {
        const shared = sharedCidrs(a, b);
        expect(shared.length > 0 && withinCidrs(shared, from)).toBe(withinCidrs(a, from) && withinCidrs(b, from));
        expect(cidrOutside(shared, a)).toBeUndefined();
        expect(cidrOutside(shared, b)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  test('that lie within others admit nobody whom those refuse', () => {
    fc.assert(
      fc.property(blocks, blocks, address, (inner, outer, from) => {
        if (cidrOutside(inner, outer) === undefined && withinCidrs(inner, from)) expect(withinCidrs(outer, from)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    expect(cidrOutside(['10.0.0.0/24', '10.1.0.0/16'], ['10.0.0.0/8'])).toBeUndefined();
    expect(cidrOutside(['10.0.0.0/24', '11.0.0.1'], ['10.0.0.0/8'])).toBe('11.0.0.1');
    expect(cidrOutside(['fd00::/16'], ['fd00::/8', '10.0.0.0/8'])).toBeUndefined();
    expect(cidrOutside(['0.0.0.0/0'], [])).toBeUndefined();
  });
});

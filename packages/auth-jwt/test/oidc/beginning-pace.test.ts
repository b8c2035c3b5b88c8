import { describe, expect, test } from '@jest/globals';
import { TooManyRequests } from '@strongroom/engine-sdk';
import fc from 'fast-check';
import { BeginningPace } from '../../src/oidc/beginning-pace.ts';

describe('the pace at which logins begin', () => {
  test('is limited for one address before it is for all, and until the first is over', () => {
    const pace = new BeginningPace(1_000, { together: 3, ofOneAddress: 2 });
    pace.admit('a', 0);
    pace.admit('a', 500);
    expect(() => pace.admit('a', 500)).toThrow(TooManyRequests);
    pace.admit('b', 600);
    expect(() => pace.admit('c', 600)).toThrow(TooManyRequests);
    pace.admit('a', 1_000);
    expect(() => pace.admit('c', 1_499)).toThrow(expect.objectContaining({ headers: { 'Retry-After': '1' } }));
    pace.admit('c', 1_500);
  });

  test('counts the addresses of an IPv6 network as one', () => {
    const pace = new BeginningPace(1_000, { together: 100, ofOneAddress: 2 });
    for (const network of ['2001:db8:0:1:', '2001:db8:0:2:', 'fe80:']) {
      pace.admit(`${network}:1`, 0);
      pace.admit(`${network}:2`, 0);
      expect(() => pace.admit(`${network}:ABCD`, 0)).toThrow(TooManyRequests);
    }
    pace.admit('::1', 0);
    pace.admit('0:0:0:0:5:6:7:8', 0);
    expect(() => pace.admit('::1:0:0:0', 0)).toThrow(TooManyRequests);
    for (const address of ['1:2:3:4:5:6:7:8', '1:2:3:4::', '10.0.0.1', '10.0.0.1', '10.0.0.2', '']) pace.admit(address, 0);
    expect(() => pace.admit('1:2:3:4:ffff::', 0)).toThrow(TooManyRequests);
  });

  test('counts as a list of all beginnings would', () => {
    const step = fc.record({ address: fc.constantFrom('a', 'b', 'c'), wait: fc.integer({ min: 0, max: 400 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const pace = new BeginningPace(1_000, { together: 6, ofOneAddress: 3 });
        const admitted: { address: string; ends: number }[] = [];
        let now = 0;
        for (const { address, wait } of steps) {
          now += wait;
          const alive = admitted.filter(({ ends }) => ends > now);
          const room = alive.length < 6 && alive.filter((one) => one.address === address).length < 3;
          let taken = true;
          try {
            pace.admit(address, now);
          } catch {
            taken = false;
          }
          expect(taken).toBe(room);
          if (taken) admitted.push({ address, ends: now + 1_000 });
        }
      }),
    );
  });
});

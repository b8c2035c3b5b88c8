import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BadRequest, compileDecoder, f } from '../src/index.ts';

const decode = compileDecoder({
  name: f.name('Name.'),
  ttl: f.duration('Time.', { default: 60 }),
  policies: f.commaStrings('Policies.', { aliases: ['old_policies'] }),
  count: f.int('Count.', { minimum: 0 }),
  on: f.bool('Switch.'),
  pairs: f.keyValues('Pairs.'),
  at: f.time('When.'),
  kind: f.string('Kind.', { values: ['a', 'b'] }),
  needed: f.string('Needed.', { required: true }),
});

describe('decoding the fields of a path', () => {
  test.each([
    ['2028-02-29T23:59:59.5+02:00', true],
    ['2026-02-29T00:00:00Z', false],
    ['2026-02-30T00:00:00Z', false],
    ['2026-04-31T00:00:00Z', false],
    ['2026-13-01T00:00:00Z', false],
    ['2026-00-01T00:00:00Z', false],
    ['2026-01-00T00:00:00Z', false],
    ['2026-01-01T24:00:00Z', false],
    ['2100-02-29T00:00:00Z', false],
    ['0000-02-29T00:00:00Z', true],
  ])('%s is a time: %p', (at, taken) => {
    const decoding = (): unknown => decode({ at, needed: '' }, {});
    if (taken) expect(decoding).not.toThrow();
    else expect(decoding).toThrow('expected a time as RFC 3339 text');
  });

  test('takes a duration as text or number, and lists as lists or text', () => {
    for (const ttl of ['1h', 3600, '3600', '60m']) expect(decode({ ttl, needed: '' }, {}).data['ttl']).toBe(3600);
    expect(decode({ policies: 'a, b,,c', needed: '' }, {}).data['policies']).toEqual(['a', 'b', 'c']);
    expect(decode({ old_policies: ['a', 'b'], needed: '' }, {}).data['policies']).toEqual(['a', 'b']);
    expect(decode({ pairs: ['a=1', 'b=x=y'], needed: '' }, {}).data['pairs']).toEqual({ a: '1', b: 'x=y' });
    expect(decode({ at: '2030-01-01T00:00:00Z', needed: '' }, {}).data['at']).toEqual(new Date('2030-01-01T00:00:00Z'));
  });

  test('says what was supplied, what is unknown, and what the path replaced', () => {
    const found = decode({ ttl: 5, zeta: 1, alpha: 2, name: 'body', needed: 'x' }, { name: 'path' });
    expect([...found.supplied].sort()).toEqual(['name', 'needed', 'ttl']);
    expect(found.unknown).toEqual(['alpha', 'zeta']);
    expect(found.replaced).toEqual(['name']);
    expect(found.data['name']).toBe('path');
  });

  test('names the invalid field and says what is valid', () => {
    const complaint = (body: Record<string, unknown>): string => {
      try {
        decode({ needed: '', ...body }, {});
      } catch (error) {
        expect(error).toBeInstanceOf(BadRequest);
        return (error as Error).message;
      }
      return 'accepted';
    };
    expect(complaint({ ttl: 'soon' })).toBe(
      'Field validation failed: error converting input for field "ttl": time: invalid duration "soon"',
    );
    expect(complaint({ ttl: -5 })).toContain("cannot provide negative value '-5'");
    expect(complaint({ count: 1.5 })).toContain('"count": 1.5 is not a whole number');
    expect(complaint({ count: -1 })).toBe('Field validation failed: field "count" must be >= 0');
    expect(complaint({ kind: 'c' })).toBe('Field validation failed: field "kind" must be one of a, b');
    expect(complaint({ pairs: ['novalue'] })).toContain('invalid key pair "novalue"');
    expect(complaint({ on: 'perhaps' })).toContain('field "on"');
  });

  test('asks for required fields in writes, not in reads', () => {
    expect(() => decode({}, {}, true)).toThrow('missing required field "needed"');
    expect(decode({}, {}, false).data['needed']).toBeUndefined();
  });

  test('never throws anything but a bad request, whatever is sent', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('ttl', 'policies', 'count', 'on', 'pairs', 'at', 'kind', 'needed', '__proto__', 'x'), fc.jsonValue()),
        (body) => {
          try {
            decode(body, {});
          } catch (error) {
            if (!(error instanceof BadRequest)) throw error;
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

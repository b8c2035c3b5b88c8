import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { commonNameOf, DnSyntaxError, escapeDnValue, formatDn, isDn, normalizeDn, parentDn, parseDn, sameDn } from '../src/index.ts';

describe('a distinguished name', () => {
  test.each([
    ['uid=bob,dc=x', [[{ type: 'uid', value: 'bob' }], [{ type: 'dc', value: 'x' }]]],
    ['', []],
    [
      'cn=a+sn=b,dc=x',
      [
        [
          { type: 'cn', value: 'a' },
          { type: 'sn', value: 'b' },
        ],
        [{ type: 'dc', value: 'x' }],
      ],
    ],
    [
      'cn=a+cn=b',
      [
        [
          { type: 'cn', value: 'a' },
          { type: 'cn', value: 'b' },
        ],
      ],
    ],
    ['cn = a , dc=x', [[{ type: 'cn', value: 'a' }], [{ type: 'dc', value: 'x' }]]],
    ['cn=a;dc=x', [[{ type: 'cn', value: 'a' }], [{ type: 'dc', value: 'x' }]]],
    ['uid=a\\\\b', [[{ type: 'uid', value: 'a\\b' }]]],
    ['cn=a\\20', [[{ type: 'cn', value: 'a ' }]]],
    ['cn=a\\ ', [[{ type: 'cn', value: 'a ' }]]],
    ['cn=a\\\\ ', [[{ type: 'cn', value: 'a\\' }]]],
    ['cn=\\ a', [[{ type: 'cn', value: ' a' }]]],
    ['cn=Doe\\, Jane', [[{ type: 'cn', value: 'Doe, Jane' }]]],
    ['cn=M\\c3\\bcller', [[{ type: 'cn', value: 'Müller' }]]],
    ['cn=Müller', [[{ type: 'cn', value: 'Müller' }]]],
    ['cn="a, b"', [[{ type: 'cn', value: 'a, b' }]]],
    ['cn=#0403616263', [[{ type: 'cn', value: 'abc' }]]],
    ['1.2.3=#02010A', [[{ type: '1.2.3', value: '02010a', encoded: true }]]],
    ['cn=', [[{ type: 'cn', value: '' }]]],
    ['cn=x\\0ACNF:1', [[{ type: 'cn', value: 'x\nCNF:1' }]]],
    ['cn=a=b', [[{ type: 'cn', value: 'a=b' }]]],
  ])('%j is read by RFC 4514', (text, name) => {
    expect(parseDn(text)).toEqual(name);
  });

  test.each(['bob', 'cn', '=x', 'cn=a,', 'cn=a+', 'c n=a', 'cn=a\\', 'cn="a', 'cn=#0', 'cn=#zz', ',cn=a'])('%j is no name', (text) => {
    expect(() => parseDn(text)).toThrow(DnSyntaxError);
    expect(isDn(text)).toBe(false);
  });

  test('what is written is read back unchanged', () => {
    const part = fc.record({ type: fc.constantFrom('cn', 'uid', 'o'), value: fc.string({ unit: 'grapheme' }) });
    fc.assert(
      fc.property(fc.array(fc.array(part, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }), (name) => {
        expect(parseDn(formatDn(name))).toEqual(name);
      }),
    );
  });

  test('an escaped value stays one value, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (value) => {
        expect(parseDn(`cn=${escapeDnValue(value)},dc=x`)).toEqual([
          [{ type: 'cn', value: Buffer.from(value).toString() }],
          [{ type: 'dc', value: 'x' }],
        ]);
      }),
    );
  });

  test.each([
    ['bob', 'bob'],
    [' a b ', '\\ a b\\ '],
    [' ', '\\ '],
    ['#a#', '\\#a\\#'],
    ['a"+,;<>\\b', 'a\\"\\+\\,\\;\\<\\>\\\\b'],
    ['a=b', 'a=b'],
    ['a\0\n', 'a\\00\\0a'],
    ['Müller', 'Müller'],
    ['a\u200bb', 'a\\e2\\80\\8bb'],
    ['', ''],
  ])('the value %j is escaped as %j', (value, escaped) => {
    expect(escapeDnValue(value)).toBe(escaped);
  });

  test('names that differ in case, spaces, escapes or the order of parts are the same', () => {
    expect(sameDn('UID=Bob, DC=Example', 'uid=bob,dc=example')).toBe(true);
    expect(sameDn('cn=a\\2cb', 'CN=A\\,B')).toBe(true);
    expect(sameDn('cn=a+sn=b', 'SN=B+CN=A')).toBe(true);
    expect(sameDn('cn=a  b', 'cn=a b')).toBe(true);
    expect(sameDn('cn=a', 'cn=b')).toBe(false);
    expect(sameDn('cn=a,dc=x', 'cn=a')).toBe(false);
    expect(sameDn('bob', 'bob')).toBe(false);
    expect(normalizeDn('CN=Doe\\, Jane , O=X')).toBe('cn=doe\\, jane,o=x');
  });

  test('the parent is the name above', () => {
    expect(parentDn('cn=a\\,b,ou=x,dc=y')).toBe('ou=x,dc=y');
    expect(parentDn('dc=y')).toBe('');
    expect(parentDn('')).toBeUndefined();
    expect(parentDn('bob')).toBeUndefined();
  });

  test('the common name is the first CN, in any case by default', () => {
    expect(commonNameOf('cn=eng,ou=groups,dc=x')).toBe('eng');
    expect(commonNameOf('ou=a,CN=b,cn=c')).toBe('b');
    expect(commonNameOf('cn=eng,dc=x', { exactCase: true })).toBeUndefined();
    expect(commonNameOf('CN=Dev\\, Ops,dc=x', { exactCase: true })).toBe('Dev, Ops');
    expect(commonNameOf('ou=a,dc=x')).toBeUndefined();
    expect(commonNameOf('eng')).toBeUndefined();
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { escapeFilterValue, FilterSyntaxError, formatFilter, parseFilter } from '../src/index.ts';
import { encodeFilter } from '../src/filter-ber.ts';

describe('parsing a filter', () => {
  test.each([
    ['(uid=bob)', { kind: 'equal', attribute: 'uid', value: Buffer.from('bob') }],
    ['uid=bob', { kind: 'equal', attribute: 'uid', value: Buffer.from('bob') }],
    ['(uid=)', { kind: 'equal', attribute: 'uid', value: Buffer.alloc(0) }],
    ['(uid=*)', { kind: 'present', attribute: 'uid' }],
    ['(cn;lang-de=x)', { kind: 'equal', attribute: 'cn;lang-de', value: Buffer.from('x') }],
    ['(2.5.4.3=x)', { kind: 'equal', attribute: '2.5.4.3', value: Buffer.from('x') }],
    ['(a>=5)', { kind: 'greater', attribute: 'a', value: Buffer.from('5') }],
    ['(a<=5)', { kind: 'less', attribute: 'a', value: Buffer.from('5') }],
    ['(a~=5)', { kind: 'approx', attribute: 'a', value: Buffer.from('5') }],
    ['(cn=a=b)', { kind: 'equal', attribute: 'cn', value: Buffer.from('a=b') }],
    ['(cn=\\28\\2a\\29\\5c)', { kind: 'equal', attribute: 'cn', value: Buffer.from('(*)\\') }],
    ['(cn=M\\c3\\bcller)', { kind: 'equal', attribute: 'cn', value: Buffer.from('Müller') }],
    ['(objectGUID=\\00\\ff)', { kind: 'equal', attribute: 'objectGUID', value: Buffer.from([0, 255]) }],
    [
      '(cn=a*b**c*d)',
      { kind: 'substring', attribute: 'cn', initial: Buffer.from('a'), any: [Buffer.from('b'), Buffer.from('c')], final: Buffer.from('d') },
    ],
    ['(cn=*b*)', { kind: 'substring', attribute: 'cn', any: [Buffer.from('b')] }],
    [
      '(member:1.2.840.113556.1.4.1941:=cn=x)',
      { kind: 'extensible', attribute: 'member', rule: '1.2.840.113556.1.4.1941', dnAttributes: false, value: Buffer.from('cn=x') },
    ],
    [
      '(ou:dn:caseExactMatch:=x)',
      { kind: 'extensible', attribute: 'ou', rule: 'caseExactMatch', dnAttributes: true, value: Buffer.from('x') },
    ],
    ['(:caseExactMatch:=x)', { kind: 'extensible', rule: 'caseExactMatch', dnAttributes: false, value: Buffer.from('x') }],
    ['(ou:dn:=x)', { kind: 'extensible', attribute: 'ou', dnAttributes: true, value: Buffer.from('x') }],
    ['(&)', { kind: 'and', filters: [] }],
    ['((uid=x))', { kind: 'equal', attribute: 'uid', value: Buffer.from('x') }],
  ])('%s is read by RFC 4515', (text, filter) => {
    expect(parseFilter(text)).toEqual(filter);
  });

  test('filters nest, with spaces between them', () => {
    expect(formatFilter(parseFilter(' (& (objectClass=group) (| (a=1) (!(b=2)) ) ) '))).toBe('(&(objectClass=group)(|(a=1)(!(b=2))))');
  });

  test.each([
    ['', 'the filter is empty', 0],
    ['(uid=a', 'expected ")"', 6],
    ['(uid=a))', 'text after the filter', 7],
    ['(uid)', 'no "=" in the item', 1],
    ['(=x)', 'not an attribute name', 1],
    ['(a b=x)', 'not an attribute name', 1],
    ['(uid=\\zz)', 'a backslash without two hex digits', 5],
    ['(uid=a\\2)', 'a backslash without two hex digits', 6],
    ['(uid=a(b)', 'expected ")"', 6],
    ['(!uid=a)', 'expected "("', 2],
    ['(:=x)', 'not an extensible match', 1],
    ['(a:b:c:=x)', 'not an extensible match', 1],
  ])('%j is refused with its position', (text, reason, position) => {
    const error = catchError(() => parseFilter(text));
    expect(error).toBeInstanceOf(FilterSyntaxError);
    expect(error.message).toBe(`invalid LDAP filter: ${reason} at position ${position}`);
  });

  test('filters nested without end are refused', () => {
    expect(() => parseFilter('(!'.repeat(5_000) + '(a=b)' + ')'.repeat(5_000))).toThrow('nested more than 100 deep');
  });

  test('an escaped value stays one value, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const filter = parseFilter(`(&(objectClass=person)(uid=${escapeFilterValue(value)}))`);
        expect(filter).toEqual({
          kind: 'and',
          filters: [
            { kind: 'equal', attribute: 'objectClass', value: Buffer.from('person') },
            { kind: 'equal', attribute: 'uid', value: Buffer.from(value) },
          ],
        });
      }),
    );
  });

  test('bytes survive escaping and writing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
        const filter = parseFilter(`(objectGUID=${escapeFilterValue(Buffer.from(bytes))})`);
        expect(filter).toEqual({ kind: 'equal', attribute: 'objectGUID', value: Buffer.from(bytes) });
        expect(parseFilter(formatFilter(filter))).toEqual(filter);
      }),
    );
  });
});

describe('the wire form of a filter', () => {
  test('every kind is encoded by RFC 4511', () => {
    const hex = (text: string): string => encodeFilter(parseFilter(text)).toString('hex');
    expect(hex('(a=b)')).toBe('a306040161040162');
    expect(hex('(a>=b)')).toBe('a506040161040162');
    expect(hex('(a<=b)')).toBe('a606040161040162');
    expect(hex('(a~=b)')).toBe('a806040161040162');
    expect(hex('(a=*)')).toBe('870161');
    expect(hex('(!(a=*))')).toBe('a203870161');
    expect(hex('(&(a=*)(b=*))')).toBe('a006870161870162');
    expect(hex('(|)')).toBe('a100');
    expect(hex('(a=x*y*z)')).toBe('a40e0401613009800178810179820 17a'.replace(' ', ''));
    expect(hex('(a:dn:1.2:=x)')).toBe('a90e8103312e3282016183017884 01ff'.replace(' ', ''));
  });

  test('lengths beyond 127 and 65535 bytes are written in full', () => {
    for (const size of [200, 70_000]) {
      const encoded = encodeFilter(parseFilter(`(a=${'x'.repeat(size)})`));
      const header = size < 256 ? 3 : 6;
      expect(encoded.length).toBe(header + 3 + header + size);
    }
  });
});

function catchError(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

import { describe, expect, test } from '@jest/globals';
import { f } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import {
  ClientSideError,
  formatMark,
  isSyncError,
  maskedFields,
  nameComplaint,
  parseMark,
  parseRetryAfter,
  secretsOf,
  tagsComplaint,
  type NameLimits,
} from '../src/index.ts';

describe('secrets of a connection', () => {
  const schema = Type.Object({ token: f.secret('The token.'), region: f.string('The region.'), other: f.secret('Another.') });

  test('are shown as stars where they are set, and are known in clear to those who strike them out', () => {
    const values = { token: 'abc', region: 'eu', other: '' };
    expect(maskedFields(schema, values)).toEqual({ token: '*****', region: 'eu' });
    expect(secretsOf(schema, values)).toEqual(['abc']);
  });
});

describe('parseRetryAfter', () => {
  const now = new Date('2030-01-01T00:00:00Z');
  test.each([
    ['7', 7],
    ['0.2', 1],
    ['Tue, 01 Jan 2030 00:01:00 GMT', 60],
    ['Mon, 31 Dec 2029 23:59:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [null, undefined],
  ])('reads %j as %j seconds', (header, seconds) => {
    expect(parseRetryAfter(header, now)).toBe(seconds);
  });
});

describe('the ownership mark', () => {
  const mark = { destination: 'a'.repeat(24), association: '0123456789abcdef01234567' };
  test('is read back from its text', () => expect(parseMark(formatMark(mark))).toEqual(mark));
  test.each([undefined, null, '', 'vault', `${'a'.repeat(24)}_`, `${formatMark(mark)}0`, formatMark(mark).toUpperCase()])(
    '%j is none',
    (text) => expect(parseMark(text)).toBeUndefined(),
  );
});

describe('errors', () => {
  test('are known by their code, whichever copy of the package made them', () => {
    const copied = Object.assign(new Error('no'), { code: 'throttled' });
    expect([isSyncError(copied), isSyncError(copied, 'throttled'), isSyncError(copied, 'client_side')]).toEqual([true, true, false]);
    expect(isSyncError(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }))).toBe(false);
    expect(isSyncError({ code: 'throttled' })).toBe(false);
  });

  test('carry the code and the request id of the provider', () => {
    const error = new ClientSideError('no', { providerCode: '403', requestId: 'r-1' });
    expect(error).toMatchObject({ name: 'ClientSideError', code: 'client_side', providerCode: '403', requestId: 'r-1' });
  });
});

describe('limits', () => {
  const names: NameLimits = {
    pattern: /[a-z]+|[0-9]+/,
    maxLength: 4,
    rule: 'letters or digits, at most 4',
    caseSensitive: true,
    normalize: (rendered) => rendered,
  };
  test.each(['abcd', '1234'])('the name %s fits', (name) => expect(nameComplaint(names, name)).toBeUndefined());
  test.each(['', 'abcde', 'ab12', 'ab-'])('the name "%s" does not, and gets the rule', (name) =>
    expect(nameComplaint(names, name)).toBe('must be letters or digits, at most 4'),
  );

  test('tags are counted, and the first that does not fit is named without its value', () => {
    const limits = { maxCount: 2, key: /^[a-z]+$/, value: /^[a-z]*$/, rule: 'small letters' };
    expect(tagsComplaint(limits, { a: 'x', b: '' })).toBeUndefined();
    expect(tagsComplaint(limits, { a: '', b: '', c: '' })).toBe('has 3 tags, and at most 2 are possible');
    expect(tagsComplaint(limits, { a: 'VALUE' })).toBe('has a tag "a" that does not fit: small letters');
  });
});

import { describe, expect, test } from '@jest/globals';
import { kindOf } from '../web/parts/form/field-kind.ts';
import { sectionsOf } from '../web/parts/form/form-sections.ts';
import { complaintsOf, readDraft, secondsOf, shownAs } from '../web/parts/form/form-values.ts';

const TEXT = { type: 'string' };
const FIELDS = {
  name: TEXT,
  count: { type: 'integer' },
  on: { type: 'boolean' },
  ttl: { type: 'string', format: 'duration' },
  names: { type: 'array', items: TEXT },
  ports: { type: 'array', items: { type: 'integer' } },
  statements: { type: 'array', items: TEXT, 'x-vault-displayAttrs': { editType: 'textarea' } },
  pubkeys: { type: 'array', items: TEXT, description: 'Keys, PEM.' },
  tags: { type: 'object', additionalProperties: TEXT },
  claims: { type: 'object' },
  pairs: { type: 'array' },
  policy: { ...TEXT, 'x-vault-displayAttrs': { editType: 'json' } },
  password: { ...TEXT, 'x-vault-displayAttrs': { sensitive: true } },
  private_key: { ...TEXT, description: 'PEM of the key.', 'x-vault-displayAttrs': { sensitive: true } },
  mode: { ...TEXT, enum: ['a', 'b'] },
} as const;

describe('a form', () => {
  test('draws each field by its schema', () => {
    expect(Object.fromEntries(Object.entries(FIELDS).map(([name, schema]) => [name, kindOf(name, schema)]))).toEqual({
      ...{ name: 'text', count: 'number', on: 'boolean', ttl: 'duration', names: 'list', ports: 'list', statements: 'statements' },
      ...{ pubkeys: 'statements', tags: 'pairs', claims: 'json', pairs: 'json', policy: 'code', password: 'secret', private_key: 'lines' },
      mode: 'choice',
    });
  });

  test('sends what was touched alone, each as its type', () => {
    const { values, faults } = readDraft(FIELDS, {
      ...{ name: '', count: ' 4 ', on: 'false', ttl: '1h30m', names: ' a \n\ncn=x,ou=y\n', ports: '80\n443' },
      ...{ statements: 'SELECT 1;\nSELECT 2;', tags: { a: '1' }, claims: 'team=a\nrole = b', pairs: '[1]', password: ' spaces stay ' },
      ...{ pubkeys: '-----BEGIN A-----\nx\n-----BEGIN B-----\ny\n', unknown: 'is not sent' },
    });
    expect(faults).toEqual({});
    expect(values).toEqual({
      ...{ name: '', count: 4, on: false, ttl: '1h30m', names: ['a', 'cn=x,ou=y'], ports: [80, 443] },
      ...{
        statements: ['SELECT 1;\nSELECT 2;'],
        tags: { a: '1' },
        claims: { team: 'a', role: 'b' },
        pairs: [1],
        password: ' spaces stay ',
      },
      pubkeys: ['-----BEGIN A-----\nx\n', '-----BEGIN B-----\ny\n'],
    });
  });

  test('empties a list, a record and statements by an empty field', () => {
    expect(readDraft(FIELDS, { names: '', claims: ' ', statements: '\n' }).values).toEqual({ names: [], claims: {}, statements: [] });
  });

  test.each([
    ['count', 'many'],
    ['count', ''],
    ['ports', '80\nhttps'],
    ['ttl', 'soon'],
    ['claims', '{"a":'],
    ['claims', 'neither'],
    ['pairs', 'neither'],
  ])('says what is wrong with %s “%s”, and sends nothing of it', (name, text) => {
    const { values, faults } = readDraft(FIELDS, { [name]: text });
    expect([values, Object.keys(faults)]).toEqual([{}, [name]]);
  });

  test('never reads a field that only an object has', () => {
    expect(readDraft({ constructor: TEXT, toString: TEXT }, {}).values).toEqual({});
  });

  test('shows what is stored as it is typed', () => {
    expect([
      shownAs(['a', 'b'], 'list'),
      shownAs({ a: 1 }, 'json'),
      shownAs({}, 'json'),
      shownAs(3600, 'duration'),
      shownAs(null, 'text'),
    ]).toEqual(['a\nb', '{\n  "a": 1\n}', '', '3600', '']);
  });

  test('hangs the sentence of the server on the field with the longest name in it', () => {
    expect(complaintsOf(['max_ttl is too long', 'something else'], ['ttl', 'max_ttl'])).toEqual({ max_ttl: 'max_ttl is too long' });
  });

  test.each([
    ['90', 90],
    ['1h30m', 5_400],
    ['7d', 604_800],
    ['1.5h', undefined],
    ['', undefined],
  ])('reads %j as seconds', (text, seconds) => {
    expect(secondsOf(text)).toBe(seconds);
  });

  test('opens what comes first and what is needed, and folds the rest', () => {
    const fields = { b: TEXT, a: TEXT, c: TEXT, token_ttl: TEXT, old: { ...TEXT, deprecated: true } };
    expect(sectionsOf(fields, ['c'], ['a'], [])).toEqual({
      open: ['c', 'a'],
      folded: [
        ['More settings', ['b']],
        ['Tokens', ['token_ttl']],
      ],
    });
    expect(sectionsOf(fields, [], undefined, []).open).toEqual(['b', 'a', 'c']);
    expect(sectionsOf(fields, [], ['a'], ['old']).folded.map(([title]) => title)).toEqual(['More settings', 'Tokens', 'Deprecated']);
  });
});

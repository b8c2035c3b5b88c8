import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { apiPath } from '../web/api/api-path.ts';
import { readExact, type Json } from '../web/api/exact-json.ts';
import { fromUrl, pageUrl, toUrl } from '../web/api/names-in-urls.ts';
import { changesBetween, mergeOf, withMine } from '../web/pages/kv/changes.ts';
import { envOf, readEnv } from '../web/pages/kv/env-file.ts';
import { dataOf, isSame, leavesOf, pathText } from '../web/pages/kv/leaves.ts';
import { reachableIn } from '../web/pages/kv/reachable.ts';
import { drafts } from '../web/parts/drafts.ts';
import { NASTY_NAMES } from './nasty-names.ts';

const record = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()) as fc.Arbitrary<Record<string, Json>>;

describe('the values of a secret', () => {
  test('are found at any depth, and make the same secret again', () => {
    fc.assert(fc.property(record, (data) => expect(dataOf(leavesOf(data))).toEqual(data)));
  });

  test('are named so that dots in keys and dots between keys differ', () => {
    const data = JSON.parse('{"a.b":1,"a":{"b":2,"":3},"__proto__":{"x":4},"empty":{},"list":[{"c":1}]}') as Json;
    expect(leavesOf(data).map(({ path }) => pathText(path))).toEqual(['"a.b"', 'a.b', 'a.""', '__proto__.x', 'empty', 'list']);
    expect(Object.getPrototypeOf(dataOf(leavesOf(data)))).toBe(Object.prototype);
    expect(Object.keys(dataOf(leavesOf(data)))).toContain('__proto__');
  });

  test('that contradict each other are no secret', () => {
    const [a, b, c] = [
      { path: ['db'], value: 1 },
      { path: ['db', 'x'], value: 2 },
      { path: ['db'], value: 3 },
    ];
    expect(() => dataOf([a!, b!])).toThrow('The key db has a value, and keys below it as well.');
    expect(() => dataOf([a!, c!])).toThrow('The key db stands twice.');
  });

  test('are the same in whatever order their keys stand', () => {
    expect(isSame({ a: 1, b: [{ c: 1, d: 2 }] }, { b: [{ d: 2, c: 1 }], a: 1 })).toBe(true);
    expect(isSame('1', 1)).toBe(false);
  });

  test('keep the digits of numbers where the engine can', () => {
    const text = '{"n":12345678901234567890,"f":1.0,"i":3}';
    const can = 'rawJSON' in JSON;
    expect(JSON.stringify(readExact(text))).toBe(can ? text : JSON.stringify(JSON.parse(text)));
  });
});

describe('two versions', () => {
  const leaves = (data: Json) => leavesOf(data);

  test('differ by key', () => {
    const changes = changesBetween(leaves({ a: 1, b: { c: 'x', d: true }, gone: 1 }), leaves({ a: 1, b: { c: 'y', d: true }, fresh: 2 }));
    expect(changes.map(({ path, kind }) => [pathText(path), kind])).toEqual([
      ['a', 'same'],
      ['b.c', 'changed'],
      ['b.d', 'same'],
      ['fresh', 'added'],
      ['gone', 'removed'],
    ]);
  });

  test('are joined where different keys changed; a key that both changed is a conflict with both sides', () => {
    const base = leaves({ user: 'shop', password: 'one', port: 1, old: 1 });
    const mine = leaves({ user: 'shop', password: 'mine', port: 1, added: 1 });
    const theirs = leaves({ user: 'store', password: 'theirs', port: 1, old: 1 });
    const { merged, conflicts } = mergeOf(base, mine, theirs);
    expect(dataOf(merged)).toEqual({ user: 'store', password: 'theirs', port: 1, added: 1 });
    expect(conflicts).toEqual([{ path: ['password'], base: base[1], mine: mine[1], theirs: theirs[1] }]);
    expect(dataOf(withMine(merged, conflicts))).toEqual({ user: 'store', password: 'mine', port: 1, added: 1 });
  });

  test('conflict where one removed what the other changed', () => {
    const { merged, conflicts } = mergeOf(leaves({ a: 1 }), leaves({}), leaves({ a: 2 }));
    expect([dataOf(merged), dataOf(withMine(merged, conflicts))]).toEqual([{ a: 2 }, {}]);
    const other = mergeOf(leaves({ a: 1 }), leaves({ a: 2 }), leaves({}));
    expect([dataOf(other.merged), dataOf(withMine(other.merged, other.conflicts))]).toEqual([{}, { a: 2 }]);
  });

  test('that are joined lose nothing that only one side changed', () => {
    fc.assert(
      fc.property(record, record, (base, mine) => {
        const { merged, conflicts } = mergeOf(leaves(base), leaves(mine), leaves(base));
        expect(conflicts).toEqual([]);
        const names = (list: readonly { path: readonly string[] }[]) => list.map(({ path }) => JSON.stringify(path)).sort();
        expect(names(merged)).toEqual(names(leaves(mine)));
      }),
    );
  });
});

describe('a .env file', () => {
  test('has every value whose name a shell takes, and reads back as it was', () => {
    const value = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'a \'"\\$`#=\n\r\t;é') }));
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,9}$/), value), (data) => {
        const { text, leftOut } = envOf(leavesOf(data));
        expect(leftOut).toEqual([]);
        expect(readEnv(text)).toEqual({ leaves: leavesOf(data), faults: [] });
      }),
    );
  });

  test('names what it leaves out', () => {
    expect(envOf(leavesOf({ 'a-b': 1, db: { host: 'x', port: 5432 }, db_host: 'y', ünï: 1 }))).toEqual({
      text: 'db_host=x\ndb_port=5432\n',
      leftOut: ['a-b', 'db_host', 'ünï'],
    });
  });

  test('is read as people write it', () => {
    const text =
      '# comment\nexport A=1\r\n B = two words # comment\nC="a\\nb\\"\\$" # c\nD=\'x # y\'\nE=a#b\nF=\n\nnot a line\nG="two\nlines"\nA=2';
    expect(readEnv(text)).toEqual({
      leaves: [
        { path: ['A'], value: '2' },
        { path: ['B'], value: 'two words' },
        { path: ['C'], value: 'a\nb"$' },
        { path: ['D'], value: 'x # y' },
        { path: ['E'], value: 'a#b' },
        { path: ['F'], value: '' },
        { path: ['G'], value: 'two\nlines' },
      ],
      faults: ['Line 9 is no line of a .env file.'],
    });
  });
});

describe('what a token reaches in a folder that it may not list', () => {
  const can = (...capabilities: string[]) => ({ capabilities });

  test('is what its policies name', () => {
    const acl = {
      exact_paths: {
        'secret/data/pay/key': can('read'),
        'secret/data/top': can('read'),
        'secret/data/no': can('deny'),
        'other/data/x': can('read'),
      },
      glob_paths: {
        'secret/metadata/shop/': can('list'),
        'secret/data/te': can('read'),
        'secret/data/team/+/db': can('read'),
        'secret/data/+/any': can('read'),
      },
    };
    const roots = ['secret/data/', 'secret/metadata/'];
    expect(reachableIn(acl, roots, '')).toEqual(['pay/', 'shop/', 'team/', 'top']);
    expect(reachableIn(acl, roots, 'pay/')).toEqual(['key']);
    expect(reachableIn(acl, roots, 'shop/')).toEqual([]);
  });
});

describe('names', () => {
  test.each(NASTY_NAMES)('%j stands in an address and in a path, and comes back', (name) => {
    const url = new URL(`http://h/ui${pageUrl('/kv/$mount/show/$', { mount: 'team/kv', rest: `a/${name}/b` }, { version: 3 })}`);
    const [, , , mount, , ...rest] = url.pathname.split('/');
    expect(fromUrl(decodeURIComponent(mount!))).toBe('team/kv');
    expect(rest.map((part) => fromUrl(decodeURIComponent(part))).join('/')).toBe(`a/${name}/b`);
    expect(decodeURIComponent(apiPath('secret', 'data', name))).toBe(`secret/data/${name}`);
    expect(fromUrl(toUrl(name)).length).toBe(name.length);
  });
});

test('a draft is for those alone who began it', () => {
  drafts.keep('secret/shop', 'ada', { a: 1 });
  expect([drafts.find('secret/shop', 'ada'), drafts.find('secret/shop', 'bob'), drafts.any]).toEqual([{ a: 1 }, undefined, true]);
  drafts.drop('secret/shop');
  expect([drafts.find('secret/shop', 'ada'), drafts.any]).toEqual([undefined, false]);
});

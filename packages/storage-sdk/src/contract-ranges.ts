import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ContractCase } from './storage-contract.ts';
import type { RangeQuery, StorageDriver } from './driver.ts';

const KEYS = [
  '!',
  'a',
  'a b',
  'a!',
  'a/',
  'a/1',
  'a/10',
  'a/2',
  'a/2/x',
  'a\u007f',
  'ab',
  'aé',
  'a\u00ff',
  'a\u00ff1',
  'a\u07ff',
  'a\u0800',
  'a\ud7ff',
  'a\ue000',
  'a\uffff',
  'a\uffff/1',
  'a\u{10000}',
  'a\u{1f511}',
  'a\u{10ffff}',
  'a\u{10ffff}\u{10ffff}',
  'b',
  'b%',
  'b%/x',
  'b\\',
  'b_',
  "b'",
  'z',
  '\u0001',
  '\u007f',
  '\u00ff',
  '\u{10ffff}',
];

const sorted = [...KEYS].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

async function filled(driver: StorageDriver): Promise<void> {
  await driver.commit({ put: KEYS.map((key) => ({ key, value: Buffer.from(`value of ${key}`) })) });
}

/** What a query must give, worked out on the bytes of every key. */
function expected(query: RangeQuery): string[] {
  const bytes = (text: string): Buffer => Buffer.from(text);
  const found = sorted.filter(
    (key) =>
      bytes(key)
        .subarray(0, bytes(query.prefix ?? '').length)
        .equals(bytes(query.prefix ?? '')) &&
      (query.after === undefined || Buffer.compare(bytes(key), bytes(query.after)) > 0) &&
      (query.before === undefined || Buffer.compare(bytes(key), bytes(query.before)) < 0),
  );
  if (query.reverse) found.reverse();
  return found.slice(0, query.limit ?? found.length);
}

async function gives(driver: StorageDriver, query: RangeQuery): Promise<string[]> {
  const entries = await driver.range(query);
  const keys = entries.map(({ key }) => key);
  deepEqual(keys, expected(query), `range ${JSON.stringify(query)}`);
  for (const { key, value, version } of entries) {
    equal(Buffer.from(value).toString(), query.keysOnly ? '' : `value of ${key}`);
    ok(version > 0);
  }
  return keys;
}

export const rangeCases: readonly ContractCase[] = [
  {
    title: 'a range without bounds gives every entry in the order of UTF-8 bytes',
    async run({ driver }) {
      deepEqual(await driver.range({}), []);
      await filled(driver);
      deepEqual(await gives(driver, {}), sorted);
    },
  },
  {
    title: 'a prefix gives exactly the keys that begin with it, whatever characters follow or end it',
    async run({ driver }) {
      await filled(driver);
      for (const prefix of ['', ...KEYS, 'a/2/', 'a/3', 'nothing', '\u{10ffff}\u{10ffff}', 'k'.repeat(3_000)])
        await gives(driver, { prefix });
    },
  },
  {
    title: 'after and before are exclusive and need not exist',
    async run({ driver }) {
      await filled(driver);
      for (const bound of [...KEYS, 'a/15', 'aa', '\u0002', 'zz', '', 'a\0', `a${'\u{10ffff}'.repeat(600)}`]) {
        await gives(driver, { after: bound });
        await gives(driver, { before: bound });
      }
      equal((await gives(driver, { after: 'b', before: 'a' })).length, 0);
    },
  },
  {
    title: 'a limit cuts the list at its near end, and a limit of zero gives nothing',
    async run({ driver }) {
      await filled(driver);
      for (const limit of [0, 1, 3, KEYS.length, KEYS.length + 1]) {
        equal((await gives(driver, { limit })).length, Math.min(limit, KEYS.length));
        await gives(driver, { limit, reverse: true });
      }
    },
  },
  {
    title: 'prefix, after, before, limit, reverse and keysOnly combine',
    async run({ driver }) {
      await filled(driver);
      for (const prefix of ['', 'a', 'a/', 'b', 'a\u00ff'])
        for (const after of [undefined, '!', 'a/1', 'a\uffff', 'z'])
          for (const before of [undefined, 'a/2', 'a\u{10000}', 'b%', ''])
            for (const limit of [undefined, 2])
              for (const reverse of [false, true])
                for (const keysOnly of [false, true])
                  await gives(driver, {
                    prefix,
                    reverse,
                    keysOnly,
                    ...(after === undefined ? {} : { after }),
                    ...(before === undefined ? {} : { before }),
                    ...(limit === undefined ? {} : { limit }),
                  });
    },
  },
  {
    title: 'pages taken with after and limit give every entry once, in thousands too',
    async run({ driver }) {
      const keys = Array.from({ length: 5_000 }, (_, i) => `page/${String(i * 7919).padStart(9, '0')}`);
      await driver.commit({ put: keys.map((key) => ({ key, value: new Uint8Array(1) })) });
      for (const reverse of [false, true]) {
        const seen: string[] = [];
        for (;;) {
          const last = seen.at(-1);
          const from = last === undefined ? {} : reverse ? { before: last } : { after: last };
          const page = await driver.range({ prefix: 'page/', limit: 333, reverse, keysOnly: true, ...from });
          seen.push(...page.map(({ key }) => key));
          if (page.length < 333) break;
        }
        deepEqual(seen, reverse ? [...keys].sort().reverse() : [...keys].sort());
      }
    },
  },
];

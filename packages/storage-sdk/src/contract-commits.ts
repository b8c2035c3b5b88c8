import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { ContractCase } from './storage-contract.ts';
import type { StorageDriver } from './driver.ts';
import { Conflict } from './errors.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const put = (key: string, text = key) => ({ key, value: bytes(text) });
const conflictAt =
  (key: string) =>
  (error: unknown): boolean =>
    error instanceof Conflict && error.key === key;

/** Adds one to a counter by reading, expecting and retrying; gives how often it had to retry. */
export async function increment(driver: StorageDriver, key: string): Promise<number> {
  for (let retries = 0; ; retries++) {
    const stored = await driver.get(key);
    const next = Number(stored ? Buffer.from(stored.value).toString() : '0') + 1;
    try {
      await driver.commit({ expect: [{ key, version: stored?.version }], put: [put(key, String(next))] });
      return retries;
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }
}

export const commitCases: readonly ContractCase[] = [
  {
    title: 'a commit goes through when every expectation holds',
    async run({ driver }) {
      await driver.commit({ expect: [{ key: 'a', version: undefined }], put: [put('a')] });
      const version = (await driver.get('a'))?.version;
      await driver.commit({
        expect: [
          { key: 'a', version },
          { key: 'absent', version: undefined },
        ],
        put: [put('b')],
        delete: ['a'],
      });
      equal(await driver.get('a'), undefined);
      equal(Buffer.from((await driver.get('b'))?.value ?? []).toString(), 'b');
    },
  },
  {
    title: 'one expectation that does not hold leaves nothing of the change behind and names its key',
    async run({ driver }) {
      await driver.commit({ put: [put('a'), put('b'), put('doomed')] });
      const a = (await driver.get('a'))?.version;
      const stale = (await driver.get('b'))?.version;
      await driver.commit({ put: [put('b', 'newer')] });
      const before = await driver.range({});
      const change = { put: [put('a', 'changed'), put('new')], delete: ['doomed'], notify: ['a'] };
      await rejects(
        driver.commit({
          ...change,
          expect: [
            { key: 'a', version: a },
            { key: 'b', version: stale },
          ],
        }),
        conflictAt('b'),
      );
      await rejects(
        driver.commit({
          ...change,
          expect: [
            { key: 'a', version: a },
            { key: 'none', version: 1 },
          ],
        }),
        conflictAt('none'),
      );
      await rejects(driver.commit({ ...change, expect: [{ key: 'a', version: undefined }] }), conflictAt('a'));
      deepEqual(await driver.range({}), before);
    },
  },
  {
    title: 'a version from before a delete is no longer good after a new put of the same value',
    async run({ driver }) {
      await driver.commit({ put: [put('a')] });
      const old = (await driver.get('a'))?.version;
      await driver.commit({ delete: ['a'] });
      await rejects(driver.commit({ expect: [{ key: 'a', version: old }], put: [put('b')] }), conflictAt('a'));
      await driver.commit({ put: [put('a')] });
      await rejects(driver.commit({ expect: [{ key: 'a', version: old }], put: [put('b')] }), conflictAt('a'));
      equal(await driver.get('b'), undefined);
    },
  },
  {
    title: 'an expectation alone checks and writes nothing',
    async run({ driver }) {
      await driver.commit({ put: [put('a')] });
      const version = (await driver.get('a'))?.version;
      await driver.commit({ expect: [{ key: 'a', version }] });
      equal((await driver.get('a'))?.version, version);
      await rejects(driver.commit({ expect: [{ key: 'a', version: undefined }] }), conflictAt('a'));
    },
  },
  {
    title: 'of many that expect a key to be absent exactly one wins',
    async run({ driver }) {
      const attempts = Array.from({ length: 50 }, (_, i) =>
        driver.commit({ expect: [{ key: 'claim', version: undefined }], put: [put('claim', String(i)), put(`by/${i}`)] }).then(
          () => i,
          (error: unknown) => {
            ok(conflictAt('claim')(error), String(error));
            return undefined;
          },
        ),
      );
      const winners = (await Promise.all(attempts)).filter((winner) => winner !== undefined);
      equal(winners.length, 1);
      equal(Buffer.from((await driver.get('claim'))?.value ?? []).toString(), String(winners[0]));
      deepEqual(
        (await driver.range({ prefix: 'by/' })).map(({ key }) => key),
        [`by/${winners[0]}`],
      );
    },
  },
  {
    title: 'commits sent together fail and succeed independently',
    async run({ driver }) {
      const results = await Promise.allSettled(
        Array.from({ length: 60 }, (_, i) =>
          driver.commit(
            i % 3 === 0
              ? { expect: [{ key: `none/${i}`, version: 7 }], put: [put(`k/${i}`)] }
              : i % 3 === 1
                ? { put: [put('k'.repeat(1_901)), put(`k/${i}`)] }
                : { expect: [{ key: `k/${i}`, version: undefined }], put: [put(`k/${i}`)] },
          ),
        ),
      );
      results.forEach((result, i) => equal(result.status, i % 3 === 2 ? 'fulfilled' : 'rejected', `commit ${i}`));
      equal((await driver.range({ prefix: 'k/' })).length, 20);
    },
  },
  {
    title: '200 concurrent increments by read, expect, put and retry lose nothing',
    async run({ driver }) {
      await Promise.all(Array.from({ length: 200 }, () => increment(driver, 'counter')));
      equal(Buffer.from((await driver.get('counter'))?.value ?? []).toString(), '200');
    },
  },
  {
    title: 'a read begun after a commit was answered sees it',
    async run({ driver }) {
      for (let i = 0; i < 100; i++) {
        await driver.commit({ put: [put('a', String(i))] });
        equal(Buffer.from((await driver.get('a'))?.value ?? []).toString(), String(i));
        equal(Buffer.from((await driver.range({ prefix: 'a' }))[0]?.value ?? []).toString(), String(i));
      }
    },
  },
];

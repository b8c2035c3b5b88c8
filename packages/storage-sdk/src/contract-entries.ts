import { deepEqual, equal, notEqual, ok, rejects, throws } from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { ContractCase } from './storage-contract.ts';
import { LATER, MAX_KEY_BYTES, UNCHANGED } from './driver.ts';
import type { StorageDriver } from './driver.ts';
import { StorageClosed, StorageFailure } from './errors.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function valueOf(driver: StorageDriver, key: string): Promise<Uint8Array | undefined> {
  const stored = await driver.get(key);
  return stored && new Uint8Array(stored.value);
}

function patterned(length: number): Uint8Array {
  const value = new Uint8Array(length);
  for (let i = 0; i < length; i++) value[i] = (i * 31 + (i >> 8)) & 0xff;
  return value;
}

function isAbsentOrLater(answer: unknown): boolean {
  return answer === undefined || answer === LATER;
}

export const entryCases: readonly ContractCase[] = [
  {
    title: 'a key that was never put is absent',
    async run({ driver }) {
      equal(await driver.get('nowhere'), undefined);
      equal(await driver.get('k'.repeat(MAX_KEY_BYTES + 1)), undefined);
    },
  },
  {
    title: 'what is put is read back, replaced by a later put and gone after a delete',
    async run({ driver }) {
      await driver.commit({ put: [{ key: 'a', value: bytes('one') }] });
      deepEqual(await valueOf(driver, 'a'), bytes('one'));
      await driver.commit({ put: [{ key: 'a', value: bytes('two, longer') }] });
      deepEqual(await valueOf(driver, 'a'), bytes('two, longer'));
      await driver.commit({ delete: ['a'] });
      equal(await driver.get('a'), undefined);
    },
  },
  {
    title: 'where a driver answers at once, it answers what it answers later',
    async run({ driver }) {
      if (!driver.getSync) return;
      for (const text of ['one', 'two']) {
        await driver.commit({ put: [{ key: 'a', value: bytes(text) }] });
        const stored = driver.getSync('a');
        if (stored !== LATER) deepEqual(stored, await driver.get('a'));
      }
      for (const key of ['nowhere', '', 'k'.repeat(MAX_KEY_BYTES + 1)]) ok(isAbsentOrLater(driver.getSync(key)), key);
      await driver.commit({ delete: ['a'] });
      ok(isAbsentOrLater(driver.getSync('a')));
      await driver.close();
      throws(() => driver.getSync!('a'), StorageClosed);
    },
  },
  {
    title: 'where a driver answers at once, a caller reads what is new whichever version it knows',
    async run({ driver }) {
      if (!driver.getSync) return;
      await driver.commit({ put: [{ key: 'a', value: bytes('one') }] });
      const first = await driver.get('a');
      const known = driver.getSync('a', first!.version);
      ok(known === UNCHANGED || known === LATER || isDeepStrictEqual(known, first));
      for (const text of ['two', 'one']) {
        await driver.commit({ put: [{ key: 'a', value: bytes(text) }] });
        const stored = driver.getSync('a', first!.version);
        if (stored !== LATER) deepEqual(stored, await driver.get('a'));
      }
      ok(isAbsentOrLater(driver.getSync('nowhere', first!.version)));
      await driver.commit({ delete: ['a'] });
      ok(isAbsentOrLater(driver.getSync('a', first!.version)));
    },
  },
  {
    title: 'a commit that resolves with a version tells that of all that it put',
    async run({ driver }) {
      for (const text of ['one', 'two']) {
        const version = await driver.commit({ put: ['a', 'b'].map((key) => ({ key, value: bytes(text) })) });
        if (typeof version !== 'number') continue;
        deepEqual(
          (await driver.range({})).map((entry) => [entry.key, entry.version]),
          [
            ['a', version],
            ['b', version],
          ],
        );
      }
    },
  },
  {
    title: 'deleting what is not there succeeds, and so does an empty change',
    async run({ driver }) {
      await driver.commit({ delete: ['nowhere'] });
      await driver.commit({});
      deepEqual(await driver.range({}), []);
    },
  },
  {
    title: 'within one change deletes apply before puts and the last put of a key holds',
    async run({ driver }) {
      await driver.commit({
        put: [
          { key: 'a', value: bytes('first') },
          { key: 'b', value: bytes('b') },
          { key: 'a', value: bytes('last') },
        ],
        delete: ['a', 'b'],
      });
      deepEqual(await valueOf(driver, 'a'), bytes('last'));
      deepEqual(await valueOf(driver, 'b'), bytes('b'));
    },
  },
  {
    title: 'values may be empty, hold any byte and be views into larger buffers',
    async run({ driver }) {
      const every = Uint8Array.from({ length: 256 }, (_, i) => i);
      const view = Buffer.from('...inside...').subarray(3, 9);
      await driver.commit({
        put: [
          { key: 'empty', value: new Uint8Array(0) },
          { key: 'every', value: every },
          { key: 'view', value: view },
        ],
      });
      deepEqual(await valueOf(driver, 'empty'), new Uint8Array(0));
      deepEqual(await valueOf(driver, 'every'), every);
      deepEqual(await valueOf(driver, 'view'), bytes('inside'));
    },
  },
  {
    title: 'values of several MiB are kept whole',
    async run({ driver }) {
      const sizes = [4_095, 4_096, 65_537, (1 << 20) + 1, 4 << 20];
      await driver.commit({ put: sizes.map((size) => ({ key: `size/${size}`, value: patterned(size) })) });
      for (const size of sizes)
        ok(Buffer.compare((await driver.get(`size/${size}`))?.value ?? bytes(''), patterned(size)) === 0, `${size} bytes`);
      const listed = await driver.range({ prefix: 'size/' });
      deepEqual(
        listed.map(({ value }) => value.length).sort((a, b) => a - b),
        sizes,
      );
    },
  },
  {
    title: 'a value read stays as it is while its key is overwritten, and the store keeps no link to buffers of the caller',
    async run({ driver }) {
      const given = bytes('before');
      await driver.commit({ put: [{ key: 'a', value: given }] });
      given.fill(0);
      const first = await driver.get('a');
      deepEqual(first && new Uint8Array(first.value), bytes('before'));
      const kept = (await driver.range({ prefix: 'a' }))[0]?.value;
      for (let i = 0; i < 50; i++) await driver.commit({ put: [{ key: 'a', value: bytes(`after ${i}`) }] });
      deepEqual(first && new Uint8Array(first.value), bytes('before'));
      deepEqual(kept && new Uint8Array(kept), bytes('before'));
      first?.value.fill(0);
      deepEqual(await valueOf(driver, 'a'), bytes('after 49'));
    },
  },
  {
    title: 'the longest key works and a longer one is refused with a plain failure, changing nothing',
    async run({ driver }) {
      const ascii = 'k'.repeat(MAX_KEY_BYTES);
      const wide = 'é'.repeat(MAX_KEY_BYTES / 2);
      await driver.commit({ put: [ascii, wide].map((key) => ({ key, value: bytes(key) })) });
      deepEqual(await valueOf(driver, ascii), bytes(ascii));
      deepEqual(await valueOf(driver, wide), bytes(wide));
      deepEqual(
        (await driver.range({})).map(({ key }) => key),
        [ascii, wide],
      );
      deepEqual((await driver.range({ after: `${ascii}k` })).length, 1);
      deepEqual((await driver.range({ before: `${ascii}k` })).length, 1);
      for (const key of [`${ascii}k`, `${wide}k`]) {
        const failure = (error: unknown): boolean =>
          error instanceof StorageFailure && error.store === driver.name && /1901 bytes/.test(error.reason);
        await rejects(
          driver.commit({
            put: [
              { key: 'beside', value: bytes('x') },
              { key, value: bytes('x') },
            ],
          }),
          failure,
        );
        await rejects(driver.commit({ expect: [{ key, version: undefined }] }), failure);
      }
      equal(await driver.get('beside'), undefined);
    },
  },
  {
    title: 'keys that not every store can hold are refused',
    async run({ driver }) {
      for (const key of ['', 'a\0b', 'half \ud83d']) {
        await rejects(driver.commit({ put: [{ key, value: bytes('x') }] }), StorageFailure);
        equal(await driver.get(key), undefined);
      }
      deepEqual(await driver.range({}), []);
    },
  },
  {
    title: 'a version is positive and never the same again, also across a delete and a new put',
    async run({ driver }) {
      const seen = new Set<number>();
      for (let i = 0; i < 20; i++) {
        await driver.commit({ put: [{ key: 'a', value: bytes('same') }] });
        const { version } = (await driver.get('a')) ?? { version: 0 };
        ok(Number.isSafeInteger(version) && version > 0);
        equal((await driver.range({ prefix: 'a', keysOnly: true }))[0]?.version, version);
        seen.add(version);
        if (i % 3 === 0) await driver.commit({ delete: ['a'] });
      }
      equal(seen.size, 20);
    },
  },
  {
    title: 'a put of other keys leaves the version of a key alone',
    async run({ driver }) {
      await driver.commit({ put: [{ key: 'a', value: bytes('a') }] });
      const before = (await driver.get('a'))?.version;
      await driver.commit({ put: [{ key: 'b', value: bytes('b') }], delete: ['c'] });
      equal((await driver.get('a'))?.version, before);
      notEqual((await driver.get('b'))?.version, undefined);
    },
  },
];

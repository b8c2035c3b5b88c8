import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { ContractCase } from './storage-contract.ts';
import { EVERYTHING, type Entry, type StorageDriver } from './driver.ts';
import { decodeEntries } from './entry-stream.ts';
import { Conflict, StorageClosed, StorageFailure } from './errors.ts';

const DELIVERY_MS = 10_000;
const put = (key: string, text = key): Entry => ({ key, value: Buffer.from(text) });

/** Everything in a driver's copy, after a look at what the copy says of itself. */
async function copied(driver: StorageDriver): Promise<Map<string, string>> {
  const copy = await driver.copy!();
  const found = new Map<string, string>();
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of copy.read()) {
      bytes += piece.length;
      yield piece;
    }
  }
  for await (const entries of decodeEntries(counted())) for (const { key, value } of entries) found.set(key, Buffer.from(value).toString());
  await copy.close();
  await copy.close();
  deepEqual([copy.entries, copy.bytes], [found.size, bytes]);
  return found;
}

async function contentOf(driver: StorageDriver): Promise<Map<string, string>> {
  return new Map((await driver.range({})).map(({ key, value }) => [key, Buffer.from(value).toString()]));
}

/** A driver that has neither `copy` nor `replace` passes: nobody asks it for them. */
export const copyCases: readonly ContractCase[] = [
  {
    title: 'a driver that copies its store also replaces it, and the other way round',
    async run({ driver }) {
      equal(driver.copy === undefined, driver.replace === undefined);
    },
  },
  {
    title: 'a copy has every entry, also the longest keys, empty and large values, and none of the driver’s own',
    async run({ driver }) {
      if (!driver.copy) return;
      deepEqual(await copied(driver), new Map());
      const large = 'x'.repeat((3 << 20) + 7);
      const many = Array.from({ length: 3_000 }, (_, i) => put(`many/${String(i).padStart(5, '0')}`));
      const special = [put('k'.repeat(1_900), 'long'), put('empty', ''), put('large', large), put('\u0001'), put('é/𝒳'), put('\uffff')];
      await driver.commit({ put: [...many, ...special], notify: ['many/0'] });
      await driver.commit({ delete: ['many/00007'] });
      const found = await copied(driver);
      deepEqual(found, await contentOf(driver));
      equal(found.size, 3_005);
      equal(found.get('large')?.length, large.length);
    },
  },
  {
    title: 'a copy is of one moment: commits made while it is taken and read are in it whole or not at all',
    async run({ driver }) {
      if (!driver.copy) return;
      const keys = ['a', ...Array.from({ length: 500 }, (_, i) => `m/${i}`), 'z'];
      await driver.commit({ put: keys.map((key) => put(key, '0')) });
      let writing = true;
      let round = 0;
      const writer = (async () => {
        while (writing) {
          round += 1;
          await driver.commit({ put: keys.map((key) => put(key, String(round))) });
        }
      })();
      try {
        for (let i = 0; i < 3; i++) {
          const begun = round;
          const found = await copied(driver);
          equal(new Set(found.values()).size, 1);
          // What was acknowledged before is in it.
          ok(Number(found.get('a')) >= begun - 1);
        }
      } finally {
        writing = false;
        await writer;
      }
    },
  },
  {
    title: 'a copy that is given up in the middle is in nobody’s way',
    async run({ driver }) {
      if (!driver.copy) return;
      await driver.commit({ put: Array.from({ length: 2_000 }, (_, i) => put(`k/${i}`, 'x'.repeat(2_000))) });
      const copy = await driver.copy();
      for await (const piece of copy.read()) {
        ok(piece.length > 0);
        break;
      }
      await copy.close();
      await driver.commit({ put: [put('after')] });
      equal((await copied(driver)).size, 2_001);
    },
  },
  {
    title: 'a replacement is invisible until it is installed, and then all there is',
    async run({ driver, reopen }) {
      if (!driver.replace) return;
      await driver.commit({ put: [put('old'), put('both', 'old')] });
      const next = await driver.replace();
      await next.put([put('both', 'new')]);
      await next.put(Array.from({ length: 2_000 }, (_, i) => put(`new/${String(i).padStart(5, '0')}`)));
      await driver.commit({ put: [put('meanwhile')] });
      deepEqual([...(await contentOf(driver)).keys()], ['both', 'meanwhile', 'old']);
      await next.install();
      await next.discard();
      const content = await contentOf(driver);
      equal(content.size, 2_001);
      equal(content.get('both'), 'new');
      equal(await driver.get('old'), undefined);
      await driver.commit({ put: [put('later')] });
      deepEqual(await copied(driver), await contentOf(driver));
      if (!reopen) return;
      const again = await reopen();
      equal((await contentOf(again)).size, 2_002);
    },
  },
  {
    title: 'a replacement that is given up changes nothing',
    async run({ driver, reopen }) {
      if (!driver.replace) return;
      await driver.commit({ put: [put('old')] });
      const next = await driver.replace();
      await next.put([put('new')]);
      await next.discard();
      await next.discard();
      await rejects(next.install(), (error) => error instanceof StorageFailure || error instanceof StorageClosed);
      deepEqual(await contentOf(driver), new Map([['old', 'old']]));
      if (reopen) deepEqual(await contentOf(await reopen()), new Map([['old', 'old']]));
    },
  },
  {
    title: 'a version from before a replacement is no longer good after it',
    async run({ driver }) {
      if (!driver.replace) return;
      await driver.commit({ put: [put('a')] });
      const old = (await driver.get('a'))?.version;
      for (let i = 0; i < 2; i++) {
        const next = await driver.replace();
        await next.put([put('a')]);
        await next.install();
        await rejects(driver.commit({ expect: [{ key: 'a', version: old }], put: [put('b')] }), Conflict);
        const version = (await driver.get('a'))?.version;
        await driver.commit({ expect: [{ key: 'a', version }], put: [put('a', 'again')] });
      }
    },
  },
  {
    title: 'other drivers hear EVERYTHING of a replacement, read it, and write into it',
    async run({ driver, other }) {
      if (!driver.replace || !other) return;
      const two = await other();
      await driver.commit({ put: [put('old')] });
      let own = 0;
      driver.changes(() => (own += 1));
      for (let i = 0; i < 2; i++) {
        let unsubscribe = (): void => undefined;
        const heard = new Promise<void>((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error(`nothing was heard within ${DELIVERY_MS} ms`)), DELIVERY_MS);
          unsubscribe = two.changes((changed) => {
            if (changed !== EVERYTHING) return;
            clearTimeout(timer);
            resolve();
          });
        });
        const next = await driver.replace();
        await next.put([put('new', String(i))]);
        await next.install();
        await heard;
        unsubscribe();
        deepEqual(await contentOf(two), new Map([['new', String(i)]]));
        await two.commit({ put: [put('by two')] });
        equal(Buffer.from((await driver.get('by two'))?.value ?? []).toString(), 'by two');
        equal(own, 0);
      }
    },
  },
  {
    title: 'a commit by another driver that is acknowledged after a replacement is in it',
    async run({ driver, other }) {
      if (!driver.replace || !other) return;
      const two = await other();
      await driver.commit({ put: [put('old')] });
      const next = await driver.replace();
      await next.put([put('new')]);
      await next.install();
      // It may not have heard yet, and refuse; what it acknowledges is kept.
      for (let refused = 0; ; refused++) {
        try {
          await two.commit({ put: [put('by two')] });
          break;
        } catch (error) {
          ok(error instanceof StorageFailure && error.transient && refused < 1_000, String(error));
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      }
      deepEqual([...(await contentOf(driver)).keys()], ['by two', 'new']);
    },
  },
];

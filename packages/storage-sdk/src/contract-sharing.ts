import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { increment } from './contract-commits.ts';
import type { ContractCase, ContractStore } from './storage-contract.ts';
import { EVERYTHING, type Announced, type StorageDriver } from './driver.ts';
import { Conflict } from './errors.ts';

const DELIVERY_MS = 10_000;
/** What a server puts up with. */
const STALE_MS = 10_000;
const put = (key: string, text = key) => ({ key, value: Buffer.from(text) });

async function second(store: ContractStore): Promise<StorageDriver> {
  ok(store.other, 'open() gives no other: skip this case with a reason');
  const driver = await store.other();
  ok(driver.shared && store.driver.shared);
  return driver;
}

/** Stands for EVERYTHING among collected keys: no driver takes a key with U+0000. */
const ALL = '\0everything';

function namesOf(announced: Announced): readonly string[] {
  return announced === EVERYTHING ? [ALL] : announced;
}

/** Collects announced keys; `until` resolves once a key has come, or rejects after DELIVERY_MS. */
function collect(driver: StorageDriver) {
  const seen: string[] = [];
  const waiting = new Map<string, () => void>();
  const stop = driver.changes((announced) => {
    const keys = namesOf(announced);
    seen.push(...keys);
    for (const key of keys) waiting.get(key)?.();
  });
  const until = (key: string): Promise<void> =>
    seen.includes(key)
      ? Promise.resolve()
      : new Promise((resolve, reject) => {
          const timer = setTimeout(
            () => reject(new Error(`"${key.slice(0, 60)}" was not announced within ${DELIVERY_MS} ms`)),
            DELIVERY_MS,
          );
          waiting.set(key, () => {
            clearTimeout(timer);
            resolve();
          });
        });
  return { seen, stop, until };
}

export const sharingCases: readonly ContractCase[] = [
  {
    title: 'drivers over one store see what each other committed',
    async run(store) {
      const [one, two] = [store.driver, await second(store)];
      for (let i = 0; i < 50; i++) {
        const [writer, reader] = i % 2 ? [one, two] : [two, one];
        await writer.commit({ put: [put('a', String(i))] });
        equal(Buffer.from((await reader.get('a'))?.value ?? []).toString(), String(i));
        equal(Buffer.from((await reader.range({ prefix: 'a' }))[0]?.value ?? []).toString(), String(i));
      }
    },
  },
  {
    title: 'expectations hold across drivers over one store',
    async run(store) {
      const [one, two] = [store.driver, await second(store)];
      await one.commit({ put: [put('a')] });
      const version = (await two.get('a'))?.version;
      await two.commit({ expect: [{ key: 'a', version }], put: [put('a', 'two')] });
      await rejects(one.commit({ expect: [{ key: 'a', version }], put: [put('a', 'one')] }), Conflict);
      await Promise.all(Array.from({ length: 100 }, (_, i) => increment(i % 2 ? one : two, 'counter')));
      equal(Buffer.from((await one.get('counter'))?.value ?? []).toString(), '100');
    },
  },
  {
    title: 'announced keys reach the listeners of other drivers and never those of the driver that announced',
    async run(store) {
      const [one, two] = [store.driver, await second(store)];
      const [first, other] = [collect(one), collect(two)];
      await one.commit({ put: [put('from/one'), put('unannounced')], announce: ['from/one', 'need not be written'] });
      await other.until('need not be written');
      await two.commit({ delete: ['from/one'], announce: ['from/two'] });
      await first.until('from/two');
      await one.commit({ announce: ['last'] });
      await other.until('last');
      deepEqual(other.seen, ['from/one', 'need not be written', 'last']);
      deepEqual(first.seen, ['from/two']);
    },
  },
  {
    title: 'a change that conflicts announces nothing, and a listener that left hears nothing',
    async run(store) {
      const [one, two] = [store.driver, await second(store)];
      const [left, stays] = [collect(two), collect(two)];
      left.stop();
      left.stop();
      await rejects(one.commit({ expect: [{ key: 'a', version: 1 }], announce: ['never'] }), Conflict);
      await one.commit({ announce: ['then'] });
      await stays.until('then');
      deepEqual(stays.seen, ['then']);
      deepEqual(left.seen, []);
    },
  },
  {
    title: 'announcements of many and of the longest keys arrive whole',
    async run(store) {
      const [one, two] = [store.driver, await second(store)];
      const { seen, until } = collect(two);
      const long = Array.from({ length: 40 }, (_, i) => `${i}/"'\\\n\u0001`.padEnd(1_900, '\u0001'));
      await one.commit({ announce: long });
      const many = Array.from({ length: 300 }, (_, i) => `many/${i}`);
      await Promise.all(many.map((key) => one.commit({ put: [put(key)], announce: [key] })));
      await one.commit({ announce: ['end'] });
      await until('end');
      deepEqual([...seen].sort(), [...long, ...many, 'end'].sort());
    },
  },
  {
    title: 'announcements that are gone before they were read are told as EVERYTHING, and later ones by their keys',
    async run(store) {
      ok(store.missing, 'open() gives no missing: skip this case with a reason');
      const [one, two] = [store.driver, await second(store)];
      const { seen, until } = collect(one);
      await two.commit({ announce: ['before'] });
      await until('before');
      await store.missing(async () => two.commit({ announce: ['missed'] }));
      await until(ALL);
      await two.commit({ announce: ['after'] });
      await until('after');
      deepEqual(seen, ['before', ALL, 'after']);
    },
  },
  {
    title: 'a driver that hears the others is never called stale, whether they announce anything or not',
    async run(store) {
      const drivers = [store.driver, ...(store.other ? [await store.other()] : [])];
      const heard = drivers.map(collect);
      for (const driver of drivers) await driver.commit({ announce: ['a'] });
      for (let i = 0; i < 20; i++) {
        for (const driver of drivers) {
          const { millis, reason } = driver.staleness();
          ok(millis >= 0 && millis < STALE_MS, `stale for ${millis} ms: ${reason}`);
        }
        await drivers[0]?.get('a');
      }
      for (const { stop } of heard) stop();
    },
  },
];

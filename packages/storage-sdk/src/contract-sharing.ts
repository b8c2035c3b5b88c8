import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { increment } from './contract-commits.ts';
import type { ContractCase, ContractStore } from './storage-contract.ts';
import { EVERYTHING, type ChangedKeys, type StorageDriver } from './driver.ts';
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

function namesOf(changed: ChangedKeys): readonly string[] {
  return changed === EVERYTHING ? [ALL] : changed;
}

/** Collects changed keys; `until` resolves once a key has come, or rejects after DELIVERY_MS. */
function collect(driver: StorageDriver) {
  const seen: string[] = [];
  const waiting = new Map<string, () => void>();
  const stop = driver.changes((changed) => {
    const keys = namesOf(changed);
    seen.push(...keys);
    for (const key of keys) waiting.get(key)?.();
  });
  const until = (key: string): Promise<void> =>
    seen.includes(key)
      ? Promise.resolve()
      : new Promise((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error(`"${key.slice(0, 60)}" was not notified within ${DELIVERY_MS} ms`)), DELIVERY_MS);
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
    title: 'change notifications reach the listeners of other drivers and never those of the driver that committed',
    async run(store) {
      const [one, two] = [store.driver, await second(store)];
      const [first, other] = [collect(one), collect(two)];
      await one.commit({ put: [put('from/one'), put('unnotified')], notify: ['from/one', 'need not be written'] });
      await other.until('need not be written');
      await two.commit({ delete: ['from/one'], notify: ['from/two'] });
      await first.until('from/two');
      await one.commit({ notify: ['last'] });
      await other.until('last');
      deepEqual(other.seen, ['from/one', 'need not be written', 'last']);
      deepEqual(first.seen, ['from/two']);
    },
  },
  {
    title: 'a change that conflicts notifies nobody, and an unsubscribed listener is not called',
    async run(store) {
      const [one, two] = [store.driver, await second(store)];
      const [left, stays] = [collect(two), collect(two)];
      left.stop();
      left.stop();
      await rejects(one.commit({ expect: [{ key: 'a', version: 1 }], notify: ['never'] }), Conflict);
      await one.commit({ notify: ['then'] });
      await stays.until('then');
      deepEqual(stays.seen, ['then']);
      deepEqual(left.seen, []);
    },
  },
  {
    title: 'notifications of many and of the longest keys arrive complete',
    async run(store) {
      const [one, two] = [store.driver, await second(store)];
      const { seen, until } = collect(two);
      const long = Array.from({ length: 40 }, (_, i) => `${i}/"'\\\n\u0001`.padEnd(1_900, '\u0001'));
      await one.commit({ notify: long });
      const many = Array.from({ length: 300 }, (_, i) => `many/${i}`);
      await Promise.all(many.map((key) => one.commit({ put: [put(key)], notify: [key] })));
      await one.commit({ notify: ['end'] });
      await until('end');
      deepEqual([...seen].sort(), [...long, ...many, 'end'].sort());
    },
  },
  {
    title: 'notifications that are gone before they were read are delivered as EVERYTHING, and later ones by their keys',
    async run(store) {
      ok(store.missing, 'open() gives no missing: skip this case with a reason');
      const [one, two] = [store.driver, await second(store)];
      const { seen, until } = collect(one);
      await two.commit({ notify: ['before'] });
      await until('before');
      await store.missing(async () => {
        await two.commit({ notify: ['missed'] });
      });
      await until(ALL);
      await two.commit({ notify: ['after'] });
      await until('after');
      deepEqual(seen, ['before', ALL, 'after']);
    },
  },
  {
    title: 'a driver that reads notifications is never stale, whether others change anything or not',
    async run(store) {
      const drivers = [store.driver, ...(store.other ? [await store.other()] : [])];
      const heard = drivers.map(collect);
      for (const driver of drivers) await driver.commit({ notify: ['a'] });
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

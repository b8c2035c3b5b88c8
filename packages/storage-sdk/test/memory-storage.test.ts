import { describe, expect, test } from '@jest/globals';
import { memoryStorage, storageDriverContract } from '../src/index.ts';

const alone = 'nothing else can open the memory of this process';

storageDriverContract(
  { describe, test },
  {
    name: 'inmem',
    async open() {
      const driver = memoryStorage();
      return { driver, cleanup: () => driver.close() };
    },
    skip: [
      { test: 'what was answered is there after the store is opened again, with its version', reason: 'it forgets everything, by design' },
      { test: 'drivers over one store see what each other committed', reason: alone },
      { test: 'expectations hold across drivers over one store', reason: alone },
      { test: 'change notifications reach the listeners of other drivers and never those of the driver that committed', reason: alone },
      { test: 'a change that conflicts notifies nobody, and an unsubscribed listener is not called', reason: alone },
      { test: 'notifications of many and of the longest keys arrive complete', reason: alone },
      {
        test: 'notifications that are gone before they were read are delivered as EVERYTHING, and later ones by their keys',
        reason: alone,
      },
    ],
  },
);

describe('the contract', () => {
  const runner = { describe: (_: string, body: () => void) => body(), test: () => undefined };
  const open = () => Promise.reject(new Error('unused'));

  test('refuses to skip a case that does not exist', () => {
    expect(() => storageDriverContract(runner, { name: 'x', open, skip: [{ test: 'nonsense', reason: 'because' }] })).toThrow(/no case/);
  });

  test('refuses to skip without a reason', () => {
    const skip = [{ test: 'a key that was never put is absent', reason: ' ' }];
    expect(() => storageDriverContract(runner, { name: 'x', open, skip })).toThrow(/reason/);
  });
});

describe('the memory driver', () => {
  test('agrees with a sorted list through thousands of puts and deletes in random order', async () => {
    const driver = memoryStorage();
    const model = new Set<string>();
    let seed = 1;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let i = 0; i < 12_000; i++) {
      const key = `${String.fromCodePoint(0xd000 + random(16) * 0x800 + (random(2) ? 0x8000 : 0))}${random(900)}`;
      if (/[\ud800-\udfff]/u.test(key)) continue;
      if (random(3) === 0) {
        model.delete(key);
        await driver.commit({ delete: [key] });
      } else {
        model.add(key);
        await driver.commit({ put: [{ key, value: Buffer.from(key) }] });
      }
    }
    const sorted = [...model].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect((await driver.range({})).map(({ key }) => key)).toEqual(sorted);
    expect((await driver.range({ reverse: true })).map(({ key }) => key)).toEqual(sorted.reverse());
  });

  test('keeps 100,000 entries without slowing down', async () => {
    const driver = memoryStorage();
    const count = 100_000;
    for (let i = 0; i < count; i++) await driver.commit({ put: [{ key: `k/${(i * 7_919) % count}`, value: new Uint8Array(8) }] });
    const start = process.cpuUsage();
    for (let i = 0; i < 20_000; i++) {
      await driver.get(`k/${i}`);
      await driver.range({ prefix: 'k/', after: `k/${i}`, limit: 1 });
    }
    const used = process.cpuUsage(start);
    // A linear search would need tens of seconds.
    expect(used.user + used.system).toBeLessThan(3_000_000);
  });
});

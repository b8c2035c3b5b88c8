// eslint-disable-next-line no-restricted-syntax -- etcd keeps the time of its watches and alarms
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWhere, etcdMissing, startEtcd, type EtcdCluster } from '@strongroom/lab';
import { storageDriverContract, type StorageDriver } from '@strongroom/storage-sdk';
import { etcdStorage, type EtcdOptions } from '../src/index.ts';

let etcd: EtcdCluster;
let stores = 0;

async function store(options: Partial<EtcdOptions> = {}) {
  const prefix = `store-${stores++}/`;
  const drivers: StorageDriver[] = [];
  let paused = false;
  const opened = async (first = false): Promise<StorageDriver> => {
    const reading = { paused: () => first && paused };
    const driver = await etcdStorage({ endpoints: etcd.endpoints, prefix, reading, ...options });
    drivers.push(driver);
    return driver;
  };
  /** As if the process of the first driver had been stopped while etcd was compacted. */
  const missing = async (work: () => Promise<void>): Promise<void> => {
    paused = true;
    await delay(1_200);
    await work();
    const { header } = (await etcd.call('/v3/kv/put', { key: base64('elsewhere'), value: '' })) as { header: { revision: string } };
    await etcd.call('/v3/kv/compaction', { revision: header.revision });
    paused = false;
  };
  return { prefix, opened, missing, cleanup: async () => void (await Promise.all(drivers.map((each) => each.close()))) };
}

const put = (key: string, text = key) => ({ key, value: Buffer.from(text) });

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

describeWhere(etcdMissing(), 'the driver on three members', () => {
  beforeAll(async () => {
    etcd = await startEtcd({ members: 3 });
  }, 60_000);
  afterAll(() => etcd?.stop(), 60_000);

  storageDriverContract(
    { describe, test },
    {
      name: 'etcd',
      async open() {
        const { opened, missing, cleanup } = await store();
        const driver = await opened(true);
        return {
          driver,
          other: () => opened(),
          missing,
          cleanup,
          async reopen() {
            await driver.close();
            return opened();
          },
        };
      },
    },
  );

  describe('several nodes on one prefix', () => {
    test('may start at once on an empty cluster, and agree on one store', async () => {
      const { opened, cleanup } = await store();
      const drivers = await Promise.all(Array.from({ length: 4 }, () => opened()));
      await drivers[0]!.commit({ put: [put('a')] });
      for (const driver of drivers) expect((await driver.get('a'))?.version).toBeGreaterThan(0);
      await cleanup();
    });

    test('commits that only read a record in common share one transaction, and none slips through between two that cross', async () => {
      const { opened, cleanup } = await store();
      const driver = await opened();
      await driver.commit({ put: [put('a'), put('b')] });
      const [a, b] = [await driver.get('a'), await driver.get('b')];
      // Each relies on what the other one writes: at most one can have been first.
      const results = await Promise.allSettled([
        driver.commit({ expect: [{ key: 'a', version: a?.version }], put: [put('b', 'x')] }),
        driver.commit({ expect: [{ key: 'b', version: b?.version }], put: [put('a', 'x')] }),
      ]);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await cleanup();
    });

    test('stores whose prefixes begin alike do not see each other', async () => {
      const [one, two] = await Promise.all([
        etcdStorage({ endpoints: etcd.endpoints, prefix: 'alike' }),
        etcdStorage({ endpoints: etcd.endpoints, prefix: 'alike/entries/' }),
      ]);
      await one.commit({ put: [put('of one')] });
      await two.commit({ put: [put('of two')] });
      expect((await one.range({})).map(({ key }) => key)).toEqual(['of one']);
      expect((await two.range({})).map(({ key }) => key)).toEqual(['of two']);
      await Promise.all([one.close(), two.close()]);
    });
  });

  describe('what etcd does not take', () => {
    test('is refused by the name of the flag, as too large, and nothing is written', async () => {
      const { opened, cleanup } = await store();
      const driver = await opened();
      const large = { key: 'large', value: Buffer.alloc(36 << 20) };
      await expect(driver.commit({ put: [put('beside'), large] })).rejects.toMatchObject({
        tooLarge: true,
        reason: expect.stringContaining('--max-request-bytes'),
      });
      const many = Array.from({ length: 10_001 }, (_, i) => put(`many/${i}`));
      await expect(driver.commit({ put: many })).rejects.toMatchObject({
        tooLarge: true,
        reason: expect.stringContaining('--max-txn-ops'),
      });
      expect(await driver.range({})).toEqual([]);
      await cleanup();
    });

    test('keeps a server from starting whose etcd has its limits as shipped, unless that is allowed', async () => {
      const small = await startEtcd({ asShipped: true });
      try {
        await expect(etcdStorage({ endpoints: small.endpoints })).rejects.toThrow(
          /no requests of 2 MiB and 128 operations.*--max-txn-ops=10000 --max-request-bytes=33554432/,
        );
        const warned: string[] = [];
        const log = { info: () => undefined, warn: (text: string) => void warned.push(text) };
        const driver = await etcdStorage({ endpoints: small.endpoints, allowSmallLimits: true, log });
        expect(warned).toEqual(['etcd takes no requests of 2 MiB and 128 operations in a transaction: larger changes are refused']);
        await Promise.all(Array.from({ length: 300 }, (_, i) => driver.commit({ put: [put(`one/${i}`), put(`two/${i}`)] })));
        await driver.commit({ put: Array.from({ length: 126 }, (_, i) => put(`fits/${i}`)) });
        await expect(driver.commit({ put: Array.from({ length: 127 }, (_, i) => put(`many/${i}`)) })).rejects.toMatchObject({
          tooLarge: true,
        });
        await driver.close();
      } finally {
        await small.stop();
      }
    }, 30_000);

    test('wrong endpoints, plain connections to other machines and half a login are refused before anything is sent', async () => {
      const reasons: [Partial<EtcdOptions>, RegExp][] = [
        [{ endpoints: [] }, /at least one endpoint/],
        [{ endpoints: ['ftp://etcd'] }, /such as https:/],
        [{ endpoints: ['https://u:p@etcd'] }, /set username and password/],
        [{ endpoints: ['http://etcd.example:2379'] }, /etcd\.example:2379 is not on this machine/],
        [{ username: 'a' }, /needs its password/],
        [{ certFile: '/none' }, /needs its key/],
        [{ caFile: '/none' }, /the file \/none cannot be read: ENOENT/],
        [{ prefix: 'a\u0000b' }, /visible ASCII/],
      ];
      for (const [options, reason] of reasons) await expect(etcdStorage({ endpoints: etcd.endpoints, ...options })).rejects.toThrow(reason);
    });
  });

  describe('housekeeping', () => {
    test('compacts up to where etcd was two rounds ago, by one process a round, and removes what dead processes have left', async () => {
      const { prefix, opened, cleanup } = await store();
      const [one, two] = [await opened(), await opened()];
      await two.commit({ put: [put('a')], notify: ['a'] });
      const nodes = async (): Promise<number> => {
        const answer = await etcd.call('/v3/kv/range', {
          key: base64(`${prefix}nodes/`),
          range_end: base64(`${prefix}nodes0`),
          count_only: true,
        });
        return Number(answer['count'] ?? 0);
      };
      const round = async (driver: StorageDriver): Promise<void> => (driver as unknown as { tidy(): Promise<void> }).tidy();
      await round(two);
      const before = await nodes();
      expect(before).toBeGreaterThan(0);
      await two.close();
      // A process that ends in order leaves nothing; this one is as if it had been killed.
      await etcd.call('/v3/kv/put', { key: base64(`${prefix}nodes/dead`), value: base64('x') });
      for (let i = 0; i < 6; i++) {
        await one.commit({ put: [put('a', String(i))] });
        await round(one);
      }
      expect(await nodes()).toBe(4);
      await expect(etcd.call('/v3/kv/range', { key: base64(`${prefix}state`), revision: '2' })).rejects.toThrow(/compacted/);
      expect(Buffer.from((await one.get('a'))!.value).toString()).toBe('5');
      await cleanup();
    });
  });
});

describeWhere(etcdMissing(), 'a quota', () => {
  test('that is used up is an error that says what to do, reads go on, and the capacity tells the alarm', async () => {
    const small = await startEtcd({ flags: ['--quota-backend-bytes=20971520'] });
    try {
      const warned: string[] = [];
      const log = { info: () => undefined, warn: (text: string) => void warned.push(text) };
      const driver = await etcdStorage({ endpoints: small.endpoints, quotaBytes: 20 << 20, log });
      let failure: unknown;
      for (let i = 0; i < 60 && !failure; i++)
        await driver.commit({ put: [{ key: `k/${i}`, value: Buffer.alloc(1 << 20) }] }).catch((error: unknown) => (failure = error));
      expect(failure).toMatchObject({ full: true, reason: expect.stringContaining('NOSPACE') });
      expect(await driver.get('k/0')).toBeDefined();
      while (!driver.capacity!()?.alarms.length) await delay(100);
      expect(driver.capacity!()).toMatchObject({ limitBytes: 20 << 20, alarms: ['NOSPACE'] });
      expect(warned).toContain('etcd has raised an alarm');
      await driver.close();
    } finally {
      await small.stop();
    }
  }, 60_000);
});

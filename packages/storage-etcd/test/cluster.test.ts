// eslint-disable-next-line no-restricted-syntax -- etcd elects its leaders in its own time
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { describeWhere, etcdMissing, startEtcd, startFreezingProxy, type EtcdCluster } from '@strongroom/lab';
import { Conflict, EVERYTHING, type ChangedKeys, type StorageDriver } from '@strongroom/storage-sdk';
import { etcdStorage, type EtcdOptions } from '../src/index.ts';

const put = (key: string, text = key) => ({ key, value: Buffer.from(text) });
const textOf = async (driver: StorageDriver, key: string): Promise<string> => Buffer.from((await driver.get(key))?.value ?? []).toString();

async function withEtcd(
  members: number,
  work: (etcd: EtcdCluster, open: (options?: Partial<EtcdOptions>) => Promise<StorageDriver>) => Promise<void>,
) {
  const etcd = await startEtcd({ members });
  const drivers: StorageDriver[] = [];
  try {
    await work(etcd, async (options) => {
      const driver = await etcdStorage({ endpoints: etcd.endpoints, ...options });
      drivers.push(driver);
      return driver;
    });
  } finally {
    await Promise.all(drivers.map((driver) => driver.close()));
    await etcd.stop();
  }
}

/** Everything that the driver tells its listeners; `everything` resolves once it tells EVERYTHING. */
function heardBy(driver: StorageDriver) {
  const heard: ChangedKeys[] = [];
  const everything = new Promise<void>((resolve) => {
    driver.changes((changed) => {
      heard.push(changed);
      if (changed === EVERYTHING) resolve();
    });
  });
  return { heard, everything };
}

describeWhere(etcdMissing(), 'three members', () => {
  test('answer nothing without a majority, say so, and go on once there is one again', async () => {
    await withEtcd(3, async (etcd, open) => {
      const driver = await open({ requestTimeoutMs: 1_000 });
      await driver.commit({ put: [put('a')] });
      await etcd.members[0]!.kill();
      await etcd.members[1]!.kill();
      await expect(driver.get('a')).rejects.toMatchObject({ transient: true, reason: expect.stringMatching(/etcd/) });
      await expect(driver.commit({ put: [put('b')] })).rejects.toMatchObject({ name: 'StorageFailure' });
      while (driver.staleness().millis < 3_100) await delay(100);
      expect(driver.staleness().reason).toMatch(/etcd/);
      await etcd.members[0]!.start();
      while (driver.staleness().millis > 3_000) await delay(50);
      expect(await textOf(driver, 'a')).toBe('a');
      await driver.commit({ put: [put('b')] });
    });
  }, 60_000);
});

describeWhere(etcdMissing(), 'an answer that is lost', () => {
  test('is worked out: what happened is acknowledged once, what conflicted conflicts, and what did not happen is done again', async () => {
    await withEtcd(1, async (etcd, open) => {
      const direct = await open();
      const target = { host: '127.0.0.1', port: etcd.members[0]!.port };
      const proxies = [await startFreezingProxy(target), await startFreezingProxy(target)];
      const driver = await open({ endpoints: proxies.map(({ port }) => `http://127.0.0.1:${port}`) });
      try {
        await direct.commit({ put: [put('counter', '0'), put('stale')] });
        const stale = (await direct.get('stale'))?.version;
        await direct.commit({ put: [put('stale', 'newer')] });
        for (let round = 1; round <= 2; round++) {
          const version = (await driver.get('counter'))?.version;
          for (const proxy of proxies) {
            proxy.intercept((data) => {
              if (!data.includes(`value ${round}`)) return data;
              for (const each of proxies) each.intercept(undefined);
              // The request does not arrive, or its answer does not.
              if (round % 2) return 'cut';
              proxy.freeze();
              return data;
            });
          }
          const [done, conflicted] = await Promise.allSettled([
            driver.commit({ expect: [{ key: 'counter', version }], put: [put('counter', `value ${round}`)] }),
            driver.commit({ expect: [{ key: 'stale', version: stale }], put: [put(`never/${round}`)] }),
          ]);
          for (const proxy of proxies) proxy.thaw();
          expect(done).toMatchObject({ status: 'fulfilled' });
          expect(conflicted).toMatchObject({ status: 'rejected', reason: expect.any(Conflict) });
          expect(await textOf(direct, 'counter')).toBe(`value ${round}`);
        }
        expect(await direct.range({ prefix: 'never/' })).toEqual([]);
      } finally {
        await Promise.all(proxies.map((proxy) => proxy.close()));
      }
    });
  }, 60_000);
});

describeWhere(etcdMissing(), 'a member that does not answer', () => {
  test('is left for one that does, whatever the next in order is', async () => {
    await withEtcd(1, async (etcd, open) => {
      const target = { host: '127.0.0.1', port: etcd.members[0]!.port };
      const proxies = await Promise.all([1, 2, 3].map(() => startFreezingProxy(target)));
      // Time for one member that does not answer, and not for two.
      const driver = await open({ endpoints: proxies.map(({ port }) => `http://127.0.0.1:${port}`), requestTimeoutMs: 2_500 });
      let used = 0;
      proxies.forEach((proxy, i) =>
        proxy.intercept((data) => {
          used = i;
          return data;
        }),
      );
      try {
        await driver.commit({ put: [put('a')] });
        for (const proxy of [proxies[used]!, proxies[(used + 1) % 3]!]) proxy.freeze();
        expect(await textOf(driver, 'a')).toBe('a');
        await driver.commit({ put: [put('b')] });
      } finally {
        await Promise.all(proxies.map((proxy) => proxy.close()));
      }
    });
  }, 60_000);
});

describeWhere(etcdMissing(), 'an etcd with another past', () => {
  test('is noticed before anything is read from it: all copies go, versions go on, and what was begun before is not written', async () => {
    await withEtcd(1, async (etcd, open) => {
      const [one, two] = [await open(), await open()];
      await one.commit({ put: [put('kept', 'old'), put('changed', 'old')] });
      await etcd.backup();
      const given = new Map<number, string>();
      for (let i = 0; i < 20; i++) {
        await one.commit({ put: [put('changed', `lost ${i}`)] });
        given.set((await one.get('changed'))!.version, `lost ${i}`);
      }
      const expected = (await two.get('changed'))!.version;
      const heard = [heardBy(one), heardBy(two)];
      await etcd.restore();
      expect(await textOf(two, 'changed')).toBe('old');
      await Promise.all(heard.map(({ everything }) => everything));
      await expect(
        two.commit({ expect: [{ key: 'changed', version: expected }], put: [put('changed', 'by the old')] }),
      ).rejects.toBeInstanceOf(Conflict);
      for (let i = 0; i < 30; i++) {
        await one.commit({ put: [put('changed', `new ${i}`)] });
        const { version } = (await two.get('changed'))!;
        expect(given.has(version)).toBe(false);
        expect(version).toBeGreaterThan(expected);
      }
    });
  }, 60_000);

  test('and no store any more is an error that says so, not an empty store', async () => {
    await withEtcd(1, async (etcd, open) => {
      const driver = await open({ requestTimeoutMs: 3_000 });
      await driver.commit({ put: [put('a')] });
      await etcd.wipe();
      await expect(driver.get('a')).rejects.toMatchObject({ reason: expect.stringContaining('the store is not in etcd any more') });
      await expect(driver.commit({ put: [put('b')] })).rejects.toMatchObject({
        reason: expect.stringContaining('the store is not in etcd any more'),
      });
      expect(await etcd.call('/v3/kv/range', { key: 'AA==', range_end: 'AA==', count_only: true })).not.toHaveProperty('count');
    });
  }, 60_000);
});

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
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await work();
    const { header } = (await etcd.call('/v3/kv/put', { key: base64('elsewhere'), value: '' })) as { header: { revision: string } };
    await etcd.call('/v3/kv/compaction', { revision: header.revision });
    paused = false;
  };
  return { prefix, opened, missing, cleanup: async () => void (await Promise.all(drivers.map((each) => each.close()))) };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

describeWhere(etcdMissing(), 'the driver on one member', () => {
  beforeAll(async () => {
    etcd = await startEtcd();
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
  void expect;
});

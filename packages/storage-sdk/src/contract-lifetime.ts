import { deepEqual, equal, notEqual, ok, rejects, throws } from 'node:assert/strict';
import type { ContractCase } from './storage-contract.ts';
import { StorageClosed } from './errors.ts';

const put = (key: string) => ({ key, value: Buffer.from(key) });

export const lifetimeCases: readonly ContractCase[] = [
  {
    title: 'what was answered is there after the store is opened again, with its version',
    async run({ driver, reopen }) {
      ok(reopen, 'open() gives no reopen: skip this case with a reason');
      await Promise.all(Array.from({ length: 100 }, (_, i) => driver.commit({ put: [put(`k/${i}`), put(`l/${i}`)] })));
      await driver.commit({ delete: ['l/7'] });
      const before = await driver.range({});
      equal(before.length, 199);
      const again = await reopen();
      deepEqual(await again.range({}), before);
      await again.commit({ put: [put('l/7')] });
      const version = (await again.get('l/7'))?.version;
      ok(before.every((entry) => entry.version !== version));
      notEqual(version, undefined);
    },
  },
  {
    title: 'close waits for commits under way, may be called again, and later calls are rejected',
    async run({ driver }) {
      const pending = Array.from({ length: 50 }, (_, i) => driver.commit({ put: [put(`k/${i}`)] }));
      const closing = driver.close();
      equal((await Promise.allSettled(pending)).filter(({ status }) => status === 'rejected').length, 0);
      await Promise.all([closing, driver.close()]);
      await driver.close();
      await rejects(driver.get('k/1'), StorageClosed);
      await rejects(driver.range({}), StorageClosed);
      await rejects(driver.commit({ put: [put('k/1')] }), StorageClosed);
      throws(() => driver.changes(() => undefined), StorageClosed);
    },
  },
];

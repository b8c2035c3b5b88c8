import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { storageDriverContract } from '@strongroom/storage-sdk';
import type { StorageDriver } from '@strongroom/storage-sdk';
import { lmdbStorage } from '../src/index.ts';

const HOUR = 3_600_000;

describe.each([
  ['each process writes by itself', false],
  ['processes share transactions', true],
])('%s', (_how, shareTransactions) => {
  storageDriverContract(
    { describe, test },
    {
      name: 'lmdb',
      async open() {
        const path = mkdtempSync(join(tmpdir(), 'strongroom-lmdb-'));
        const drivers: StorageDriver[] = [];
        // The clock of the machine, which all its processes share.
        let ahead = 0;
        let paused = false;
        const opened = async (first = false): Promise<StorageDriver> => {
          const reading = { now: () => Date.now() + ahead, paused: () => first && paused };
          const driver = await lmdbStorage({ path, reading, shareTransactions });
          drivers.push(driver);
          return driver;
        };
        const driver = await opened(true);
        return {
          driver,
          other: () => opened(),
          async missing(work) {
            paused = true;
            await work();
            ahead += 2 * HOUR;
            // Whoever opens the store removes what has been kept for long enough.
            await (await opened()).close();
            paused = false;
          },
          async reopen() {
            await driver.close();
            return opened();
          },
          async cleanup() {
            await Promise.all(drivers.map((each) => each.close()));
            rmSync(path, { recursive: true });
          },
        };
      },
    },
  );
});

test('reads are answered at once while the file is open', async () => {
  const path = mkdtempSync(join(tmpdir(), 'strongroom-lmdb-'));
  const driver = await lmdbStorage({ path });
  const version = await driver.commit({ put: [{ key: 'a', value: Buffer.from('x') }] });
  expect(driver.getSync!('a')).toEqual({ value: Buffer.from('x'), version });
  expect(driver.getSync!('b')).toBeUndefined();
  await driver.close();
  rmSync(path, { recursive: true });
});

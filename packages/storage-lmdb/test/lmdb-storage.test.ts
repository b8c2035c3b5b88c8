import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from '@jest/globals';
import { storageDriverContract } from '@strongroom/storage-sdk';
import type { StorageDriver } from '@strongroom/storage-sdk';
import { lmdbStorage } from '../src/index.ts';

storageDriverContract(
  { describe, test },
  {
    name: 'lmdb',
    async open() {
      const path = mkdtempSync(join(tmpdir(), 'strongroom-lmdb-'));
      const drivers: StorageDriver[] = [];
      const opened = async (): Promise<StorageDriver> => {
        const driver = await lmdbStorage({ path });
        drivers.push(driver);
        return driver;
      };
      const driver = await opened();
      return {
        driver,
        other: opened,
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

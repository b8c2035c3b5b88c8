import { memoryStorage, type StorageDriver, type StorageLog } from '@strongroom/storage-sdk';
import { isMissing } from './plugins/plugin-list.ts';
import { StorageNotInstalled } from './failures.ts';
import type { StorageChoice } from './config/configuration.ts';

/** Opens the storage that was chosen; other drivers are not even loaded. @throws StorageFailure, StorageNotInstalled */
export async function openStorage(choice: StorageChoice, log: StorageLog): Promise<StorageDriver> {
  switch (choice.type) {
    case 'inmem':
      return memoryStorage();
    case 'lmdb': {
      const { type: _, ...options } = choice;
      return (await import('@strongroom/storage-lmdb')).lmdbStorage({ ...options, log });
    }
    case 'postgresql': {
      const { type: _, ...options } = choice;
      const driver = await import('@strongroom/storage-postgresql').catch((error: unknown) => {
        throw isMissing(error, '@strongroom/storage-postgresql') ? new StorageNotInstalled('postgresql') : error;
      });
      return driver.postgresqlStorage({ ...options, log });
    }
    case 'etcd': {
      const { type: _, ...options } = choice;
      const driver = await import('@strongroom/storage-etcd').catch((error: unknown) => {
        throw isMissing(error, '@strongroom/storage-etcd') ? new StorageNotInstalled('etcd') : error;
      });
      return driver.etcdStorage({ ...options, log });
    }
  }
}

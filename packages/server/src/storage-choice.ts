import { memoryStorage, type StorageDriver, type StorageLog } from '@strongroom/storage-sdk';
import type { StorageChoice } from './config/configuration.ts';

/** Opens the storage that was chosen; other drivers are not even loaded. @throws StorageFailure */
export async function openStorage(choice: StorageChoice, log: StorageLog): Promise<StorageDriver> {
  switch (choice.type) {
    case 'inmem':
      return memoryStorage();
    case 'lmdb': {
      const { type: _, ...options } = choice;
      return (await import('@strongroom/storage-lmdb')).lmdbStorage(options);
    }
    case 'postgresql': {
      const { type: _, ...options } = choice;
      return (await import('@strongroom/storage-postgresql')).postgresqlStorage({ ...options, log });
    }
  }
}

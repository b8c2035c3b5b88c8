import { readMigration } from '../config/read-configuration.ts';
import { openStorage } from '../storage-choice.ts';
import { migrateStorage, unlock } from './migrate-storage.ts';

/** What `operator migrate` is asked for. */
export interface MigrationOrder {
  /** Files with `storage_source` and `storage_destination`. */
  readonly config: readonly string[];
  /** Only removes the lock of a migration that was killed. */
  readonly reset: boolean;
  readonly say: (text: string) => void;
}

/** Carries out a migration as its configuration says. @throws ConfigurationInvalid, StorageNotInstalled, StorageFailure, MigrationRefused */
export async function runMigration({ config, reset, say }: MigrationOrder): Promise<void> {
  const choice = readMigration(config);
  const log = { info: () => undefined, warn: (message: string) => say(message) };
  const source = await openStorage(choice.source, log);
  try {
    if (reset) {
      await unlock(source);
      say('The lock of the migration was removed. Nothing was migrated.');
      return;
    }
    const destination = await openStorage(choice.destination, log);
    try {
      const wait = async (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis));
      const { entries, bytes, digest } = await migrateStorage(source, destination, { wait, say });
      say(`Migrated ${entries} records, ${bytes} bytes, from ${source.name} to ${destination.name}.`);
      say(`Both stores were read back and are equal: SHA-256 ${digest}. Nothing was decrypted, as that needs the unseal keys.`);
      say('Start the server with the new storage, and keep the old store until you have unsealed it.');
    } finally {
      await destination.close();
    }
  } finally {
    await source.close();
  }
}

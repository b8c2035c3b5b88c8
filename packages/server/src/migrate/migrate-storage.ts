import { createHash } from 'node:crypto';
import { Conflict, decodeEntries, encodeEntries, type Entry, type StorageDriver } from '@strongroom/storage-sdk';
import { MIGRATION } from '@strongroom/core';

/** Servers that still run on the source hear of the migration within this time, and seal themselves. Milliseconds. */
const HEARD = 3_000;
/** Records of the migration itself. */
const OWN: ReadonlySet<string> = new Set([MIGRATION]);

/** A migration that was refused, or that went wrong. The text is for the operator; the destination is as it was. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused';
}

/** What was carried over. */
export interface Migrated {
  readonly entries: number;
  readonly bytes: number;
  /** Of all entries, in the source and in the destination alike. */
  readonly digest: string;
}

/**
 * Copies a store into an empty one, with its encryption as it is. The source is locked meanwhile: no server opens it, and those that run on it seal
 * themselves. The destination has nothing before it has everything. At the end both are read and compared, byte by byte.
 * @throws MigrationRefused, StorageFailure
 */
export async function migrateStorage(
  source: StorageDriver,
  destination: StorageDriver,
  { wait, say }: { wait: (millis: number) => Promise<void>; say: (text: string) => void },
): Promise<Migrated> {
  if (!source.copy) throw new MigrationRefused(`the storage ${source.name} cannot be copied`);
  if (!destination.replace || !destination.copy) throw new MigrationRefused(`the storage ${destination.name} cannot take a whole store`);
  if ((await source.range({ limit: 1, keysOnly: true })).length === 0) throw new MigrationRefused('the source is empty');
  if ((await destination.range({ limit: 1, keysOnly: true })).length > 0) {
    throw new MigrationRefused('the destination is not empty: a migration never overwrites a store');
  }
  await lock(source);
  try {
    say('The source is locked. Waiting for servers that run on it to seal themselves.');
    await wait(HEARD);
    const next = await destination.replace();
    try {
      const sent = await eachOf(source, async (entries) => next.put(entries));
      await next.install();
      const arrived = await eachOf(destination, async () => undefined);
      if (arrived.digest !== sent.digest) {
        throw new MigrationRefused(
          `the destination has ${arrived.entries} records and not the ${sent.entries} of the source: do not use it`,
        );
      }
      return arrived;
    } finally {
      await next.discard();
    }
  } finally {
    await unlock(source);
  }
}

/** Removes the lock that a migration has left which was killed. Nothing else is changed. */
export async function unlock(source: StorageDriver): Promise<void> {
  await source.commit({ delete: [MIGRATION], notify: [MIGRATION] });
}

async function lock(source: StorageDriver): Promise<void> {
  const value = Buffer.from(JSON.stringify({ started: new Date().toISOString(), pid: process.pid }));
  try {
    await source.commit({ expect: [{ key: MIGRATION, version: undefined }], put: [{ key: MIGRATION, value }], notify: [MIGRATION] });
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    throw new MigrationRefused(
      'a migration of the source is under way, or was killed; if none runs, remove its lock with -reset and begin again',
    );
  }
}

/** Hands on every entry but those of migrations, and adds them up. */
async function eachOf(driver: StorageDriver, take: (entries: readonly Entry[]) => Promise<void>): Promise<Migrated> {
  const copy = await driver.copy!();
  const hash = createHash('sha256');
  let [count, bytes] = [0, 0];
  try {
    for await (const found of decodeEntries(copy.read())) {
      const entries = found.filter(({ key }) => !OWN.has(key));
      const encoded = encodeEntries(entries);
      hash.update(encoded);
      count += entries.length;
      bytes += encoded.length;
      await take(entries);
    }
  } finally {
    await copy.close();
  }
  return { entries: count, bytes, digest: hash.digest('hex') };
}

import { constants } from 'node:fs';
import { access, lstat, readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Capacity, StorageLog } from '@strongroom/storage-sdk';
import type { Configuration } from '../config/configuration.ts';
import { openStorage } from '../storage-choice.ts';
import { Findings, reasonOf, type Finding } from './finding.ts';

const MIB = 1 << 20;
/** Bytes. With less, the first busy hour fills the disk. */
const LITTLE = 1024 * MIB;
const NONE = 64 * MIB;
/** Of a quota. */
const MUCH = 0.8;

/** Permissions and room of a folder, and whether what is there opens. A store that is not there yet is not made. */
export async function checkStorage({ storage }: Configuration): Promise<Finding[]> {
  const found = new Findings(`storage ${storage.type}`);
  if (storage.type === 'inmem') {
    found.warning('everything is kept in memory, and gone when the server stops', 'Configure storage "lmdb", "postgresql" or "etcd"');
    return found.all;
  }
  const there = storage.type !== 'lmdb' || (await checkFolder(storage.path, found));
  if (!there || found.all.some(({ status }) => status === 'failure')) return found.all;
  const warnings: string[] = [];
  const log: StorageLog = { info: () => undefined, warn: (message) => void warnings.push(message) };
  try {
    const driver = await openStorage(storage, log);
    const [first] = await driver.range({ prefix: '', limit: 1 });
    checkCapacity(driver.capacity?.(), found);
    await driver.close();
    found.ok(first ? 'it opens, and is in use' : 'it opens, and is empty');
    for (const message of warnings) found.warning(message, 'See the page on operating');
  } catch (error) {
    found.failure(
      `it does not open: ${(error as Error).message}`,
      'Correct the cause; restore a backup only if the store itself is damaged',
    );
  }
  return found.all;
}

/** How full a store is that has a limit of its own, and its alarms. */
function checkCapacity(capacity: Capacity | undefined, found: Findings): void {
  if (!capacity) return;
  const { usedBytes, limitBytes, alarms } = capacity;
  const used = `${mebibytes(usedBytes)} of its quota of ${mebibytes(limitBytes)} are used`;
  if (alarms.length > 0) found.failure(`it has raised the alarm ${alarms.join(', ')}: ${used}`, 'See the page on operating');
  else if (usedBytes > MUCH * limitBytes) found.warning(used, 'Defragment its members, or raise --quota-backend-bytes');
  else found.ok(used);
}

/** Whether there is a store in it. */
async function checkFolder(path: string, found: Findings): Promise<boolean> {
  const folder = resolve(path);
  const there = await stat(folder).catch(() => undefined);
  if (there && !there.isDirectory()) {
    found.failure(`${folder} is not a folder`, 'Choose another path');
    return false;
  }
  const place = there ? folder : await existing(folder);
  if (place === undefined) {
    found.failure(`${folder} is, or is below, a symbolic link to nothing`, 'Create the target of the link, or choose another path');
    return false;
  }
  try {
    await access(place, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    found.failure(`the folder ${place} cannot be written: ${reasonOf(error)}`, 'Make the user that runs the server its owner');
    return false;
  }
  if (there && (there.mode & 0o077) !== 0)
    found.warning(`other users may look into ${folder} (mode ${(there.mode & 0o777).toString(8)})`, `chmod 700 ${folder}`);
  const { bavail, bsize } = await statfs(place);
  const names = there ? await readdir(folder) : [];
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).blocks * 512));
  const [free, used] = [bavail * bsize, sizes.reduce((sum, size) => sum + size, 0)];
  const room = `${mebibytes(free)} are free, and the store takes ${mebibytes(used)}`;
  if (free < NONE) found.failure(room, 'Free space: writes fail on a full disk');
  else if (free < Math.max(LITTLE, used)) found.warning(room, 'Free space: a snapshot needs as much room as the store');
  else found.ok(room);
  if (names.length === 0) found.ok('there is no store yet: the first start makes one');
  return names.length > 0;
}

/** The nearest folder above that is there; undefined where a symbolic link leads to nothing. */
async function existing(folder: string): Promise<string | undefined> {
  const parent = dirname(folder);
  if (parent === folder || (await stat(folder).catch(() => undefined))) return folder;
  return (await lstat(folder).catch(() => undefined)) ? undefined : existing(parent);
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / MIB).toLocaleString('en-US')} MiB`;
}

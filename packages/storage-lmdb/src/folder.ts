import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { StorageFailure } from '@strongroom/storage-sdk';
import { asFailure, diskFull, NAME } from './failure.ts';

const TIB = 2 ** 40;
const ROOM_FOR_A_NEW_STORE = 2 ** 20;
/** Pages at the end of the file that a transaction took and returned may never have been written. */
const UNWRITTEN_PAGES = 4_096;

/** Where LMDB keeps what is checked here, in each of the two pages the file begins with. Little-endian. */
const META = { flags: 18, magic: 24, version: 28, pageSize: 48, lastPage: 144, transaction: 152, length: 160 };
const META_PAGE = 8;
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;

/**
 * Makes the folder and an empty data file when they are missing, and finds out what would keep LMDB from opening it: the native code of lmdb 3.5.6 crashes the
 * process when an open fails.
 * @throws StorageFailure
 */
export function prepareFolder(path: string): void {
  try {
    makeFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    const lock = join(path, 'lock.mdb');
    if (statSync(lock, { throwIfNoEntry: false })) accessSync(lock, constants.R_OK | constants.W_OK);
    const data = join(path, 'data.mdb');
    if (statSync(data, { throwIfNoEntry: false })?.size) checkFile(data);
    else {
      if (roomIn(path) < ROOM_FOR_A_NEW_STORE) throw diskFull();
      closeSync(openSync(data, 'a', 0o600));
    }
  } catch (error) {
    throw asFailure(error);
  }
}

/**
 * Makes a folder, and those above it, where they are missing. Node's own recursive mkdir names no symbolic link as the cause, and does not return below /proc.
 * @throws StorageFailure for a symbolic link to nothing
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let folder = resolve(path); !statSync(folder, { throwIfNoEntry: false }); folder = dirname(folder)) {
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new StorageFailure(NAME, `${folder} is a symbolic link to ${readlinkSync(folder)}, which does not exist`);
    missing.unshift(folder);
  }
  for (const folder of missing) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      // Another process made it meanwhile.
      if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
    }
  }
}

/** The bytes that this process can still write below the folder. Some file systems keep a part for the superuser. */
export function roomIn(folder: string): number {
  const { bavail, bfree, bsize } = statfsSync(folder);
  return (process.getuid?.() === 0 ? bfree : bavail) * bsize;
}

function checkFile(data: string): void {
  accessSync(data, constants.R_OK | constants.W_OK);
  const file = openSync(data, 'r');
  try {
    const first = readMeta(file, 0);
    const second = readMeta(file, first.pageSize);
    const { lastPage } = second.transaction > first.transaction ? second : first;
    if (fstatSync(file).size < (lastPage + 1 - UNWRITTEN_PAGES) * first.pageSize)
      throw new StorageFailure(NAME, 'the file has been cut short');
  } finally {
    closeSync(file);
  }
}

function readMeta(file: number, position: number) {
  const page = Buffer.alloc(META.length);
  const whole = readSync(file, page, 0, page.length, position) === page.length;
  if (!whole || !(page.readUInt16LE(META.flags) & META_PAGE) || page.readUInt32LE(META.magic) !== MAGIC) {
    throw new StorageFailure(NAME, 'the file is damaged or is not an LMDB store');
  }
  if (page.readUInt16LE(META.version) !== DATA_VERSION)
    throw new StorageFailure(NAME, 'the file was written by an incompatible version of LMDB');
  return {
    pageSize: page.readUInt32LE(META.pageSize),
    lastPage: Number(page.readBigUInt64LE(META.lastPage)),
    transaction: Number(page.readBigUInt64LE(META.transaction)),
  };
}

/** Address space to map for a file that may become large: 1 TiB, or a quarter of what this process may still use where that is limited. */
export function addressSpace(): number {
  try {
    const limit = Number(/^Max address space +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]);
    if (Number.isNaN(limit)) return TIB;
    const used = 1024 * Number(/^VmSize:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]);
    return Math.min(TIB, Math.max(2 ** 20, Math.floor((limit - used) / 4 / 2 ** 20) * 2 ** 20));
  } catch {
    return TIB;
  }
}

import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { StorageFailure } from '@strongroom/storage-sdk';
import { asFailure, NAME } from './failure.ts';

export type Key = string | Buffer;
export type Database = RootDatabase<Uint8Array, Key>;

const TIB = 2 ** 40;
const SMALLEST_DEFAULT = 2 ** 30;
const PAGE_BYTES = 4_096;
/** Pages at the end of the file that a transaction took and gave back may never have been written. */
const UNWRITTEN_PAGES = 4_096;

const keyEncoder = {
  writeKey(key: Key, target: Buffer, start: number): number {
    if (typeof key === 'string') return start + target.write(key, start, 'utf8');
    target.set(key, start);
    return start + key.length;
  },
  readKey(source: Buffer, start: number, end: number): string {
    return source.toString('utf8', start, end);
  },
};

/**
 * One folder's LMDB file, opened. Whatever part of the file was read or changed stays mapped and counts as this process's memory,
 * until `renew` closes the file and opens it again: a few milliseconds, in which the page cache keeps the contents.
 */
export class Environment {
  readonly #path: string;
  readonly #mapBytes: number | undefined;
  #db: Database | undefined;
  #baseline = 0;
  #closing = false;

  /** @throws StorageFailure */
  constructor(path: string, mapBytes: number | undefined) {
    this.#path = path;
    this.#mapBytes = mapBytes;
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw asFailure(error);
    }
    this.#open();
  }

  /** @throws StorageFailure while the file is being closed, or when it cannot be opened after a renewal that failed. */
  get db(): Database {
    if (this.#closing) throw new StorageFailure(NAME, 'the file is being closed');
    return this.#db ?? this.#open();
  }

  /** Bytes of files mapped into this process since the file was opened, or 0 where the system does not tell. */
  mappedBytes(): number {
    return residentFileBytes() - this.#baseline;
  }

  /** Nothing may be under way. @throws StorageFailure */
  async renew(): Promise<void> {
    await this.close();
    this.#closing = false;
    this.#open();
  }

  async close(): Promise<void> {
    this.#closing = true;
    const db = this.#db;
    this.#db = undefined;
    await db?.close();
  }

  #open(): Database {
    try {
      const db = this.#openMapped();
      this.#db = db;
      this.#baseline = residentFileBytes();
      return db;
    } catch (error) {
      throw asFailure(error);
    }
  }

  /** Address space is limited in some places (RLIMIT_AS): then a smaller map has to do, which grows with the file. */
  #openMapped(): Database {
    let mapSize = this.#mapBytes ?? TIB;
    for (;;) {
      try {
        return this.#openAs(mapSize);
      } catch (error) {
        if (this.#mapBytes !== undefined || mapSize <= SMALLEST_DEFAULT || !/allocate memory|ENOMEM/i.test(String(error))) throw error;
        mapSize /= 8;
      }
    }
  }

  #openAs(mapSize: number): Database {
    const file = join(this.#path, 'data.mdb');
    const db: Database = open<Uint8Array, Key>({
      path: this.#path,
      noSubdir: false,
      mapSize,
      permissionsMode: 0o600,
      maxReaders: 512,
      encoding: 'binary',
      useVersions: true,
      keyEncoder,
      // A commit is answered after its flush, by LMDB's own order of writing.
      overlappingSync: false,
      noReadAhead: true,
    } as Parameters<typeof open>[0] & { path: string });
    try {
      chmodSync(join(this.#path, 'lock.mdb'), 0o600);
      const { lastPageNumber } = db.getStats() as { lastPageNumber: number };
      if (statSync(file).size < (lastPageNumber + 1 - UNWRITTEN_PAGES) * PAGE_BYTES)
        throw new StorageFailure(NAME, 'the file has been cut short');
    } catch (error) {
      void db.close();
      throw error;
    }
    return db;
  }
}

function residentFileBytes(): number {
  try {
    const shared = readFileSync('/proc/self/statm', 'latin1').split(' ', 3)[2];
    return Number(shared) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

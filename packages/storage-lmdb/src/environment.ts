import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import type { RootDatabase, RootDatabaseOptionsWithPath } from 'lmdb';
import { StorageFailure } from '@strongroom/storage-sdk';
import { asFailure, NAME } from './failure.ts';
import { addressSpace, prepareFolder } from './folder.ts';
import { placeOf, stampOf, type Place } from './store-folder.ts';

export type Key = string | Buffer;
export type Database = RootDatabase<Uint8Array, Key>;

const ROOM_KEY = '\0room';
const ROOM = Buffer.alloc(2 ** 17);
const LARGE_ROOM_BYTES = 2 ** 21;

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

/** The LMDB file of the store below one folder, opened. */
export class Environment {
  readonly root: string;
  readonly #mapBytes: number;
  #db: Database | undefined;
  #closing = false;
  #place: Place | undefined;

  /** @throws StorageFailure */
  constructor(root: string, mapBytes: number | undefined) {
    this.root = root;
    this.#mapBytes = mapBytes ?? addressSpace();
    this.#open();
  }

  /** Where the opened file is. */
  get folder(): string {
    return this.#place!.folder;
  }

  /** The file that LMDB maps, shared and for reading: it writes by system calls. */
  get dataFile(): string {
    return join(this.folder, 'data.mdb');
  }

  /** Whether another store has taken the place of the opened one. */
  get replaced(): boolean {
    return this.#place !== undefined && stampOf(this.root) !== this.#place.stamp;
  }

  /** @throws StorageFailure while the file is being closed, or when it cannot be opened again after a renewal that failed. */
  get db(): Database {
    if (this.#closing) throw new StorageFailure(NAME, 'the file is being closed');
    return this.#db ?? this.#open();
  }

  /**
   * Adds to the commits being written an entry that is gone again at their end. lmdb 3.5.6 can lose its place in the list of free pages
   * and give the whole transaction up when it has to read more of that list while it saves the list. After a request for many pages in
   * a row it has read as much as it will need. Each transaction makes some room; `large` is for one that is tried again.
   */
  makeRoom(large = false): void {
    const { db } = this;
    const work = (): void => {
      void db.put(ROOM_KEY, large ? Buffer.alloc(LARGE_ROOM_BYTES) : ROOM, 1);
      void db.remove(ROOM_KEY);
    };
    if (large) db.batch(work).catch(() => undefined);
    else work();
  }

  /** Closes the file and opens it again. Nothing may be under way. @throws StorageFailure */
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
      this.#place = placeOf(this.root);
      prepareFolder(this.folder);
      this.#db = this.#openPrepared();
      return this.#db;
    } catch (error) {
      throw asFailure(error);
    }
  }

  #openPrepared(): Database {
    const options = {
      path: this.folder,
      noSubdir: false,
      mapSize: this.#mapBytes,
      permissionsMode: 0o600,
      maxReaders: 512,
      encoding: 'binary',
      useVersions: true,
      keyEncoder,
      // A commit is answered after its flush, by LMDB's own order of writing.
      overlappingSync: false,
      noReadAhead: true,
    };
    const db: Database = open<Uint8Array, Key>(options as RootDatabaseOptionsWithPath);
    db.on('beforecommit', () => {
      if (this.#db === db) this.makeRoom();
      // The promise that lmdb makes for these commits is nobody's, and its rejection would end the process.
      process.nextTick(() => void db.committed.then(undefined, ignored));
    });
    chmodSync(join(this.folder, 'lock.mdb'), 0o600);
    return db;
  }
}

/** Callers whose commit failed get the error from their own promises. */
function ignored(error: unknown): void {
  (error as { commitError?: Promise<unknown> } | null)?.commitError?.catch(() => undefined);
}

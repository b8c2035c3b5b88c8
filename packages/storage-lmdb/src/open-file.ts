import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import type { RootDatabase, RootDatabaseOptionsWithPath } from 'lmdb';
import { dataFileIn, holdUntilExit } from './gate.ts';

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

/** The files that this process has open, by device and inode. */
const files = new Map<string, OpenFile>();

/**
 * A file that LMDB has opened, once for all its users in this process. Opened twice it would lose its lock among processes: the system releases a process's `fcntl` locks
 * on a file when the process closes any descriptor of it, and lmdb opens and closes one to find out that it has the file already. The next process to open the store
 * would think itself alone, and set up the locks anew under those who use them.
 */
export class OpenFile {
  readonly db: Database;
  readonly #identity: string;
  readonly #root: string;
  #users = 1;

  private constructor(identity: string, root: string, db: Database) {
    this.#identity = identity;
    this.#root = root;
    this.db = db;
  }

  /** `folder`: prepared, with a data file. Nobody else may open or write it meanwhile. */
  static open(root: string, folder: string, mapBytes: number): OpenFile {
    const { dev, ino } = statSync(dataFileIn(folder), { bigint: true });
    const identity = `${dev} ${ino}`;
    const known = files.get(identity);
    if (known) {
      known.#users += 1;
      return known;
    }
    const file: OpenFile = new OpenFile(
      identity,
      root,
      opened(folder, mapBytes, () => file.#users > 0),
    );
    if (files.size === 0) process.on('exit', holdDoors);
    files.set(identity, file);
    return file;
  }

  /** Adds to the transaction being written an entry that is gone again at its end, as each has one already, but larger. */
  async makeRoom(): Promise<void> {
    await this.db.batch(() => addRoom(this.db, Buffer.alloc(LARGE_ROOM_BYTES)));
  }

  /** For one user: the last one closes the file. */
  async close(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    files.delete(this.#identity);
    if (files.size === 0) process.off('exit', holdDoors);
    await this.db.close();
  }

  static holdDoors(): void {
    for (const file of files.values()) holdUntilExit(file.#root);
  }
}

/** At the end of the process lmdb closes what is open, and destroys locks that a process being about to open the file would get. */
function holdDoors(): void {
  OpenFile.holdDoors();
}

function opened(folder: string, mapBytes: number, isOpen: () => boolean): Database {
  const options = {
    path: folder,
    noSubdir: false,
    mapSize: mapBytes,
    permissionsMode: 0o600,
    maxReaders: 512,
    encoding: 'binary',
    useVersions: true,
    keyEncoder,
    // A commit is answered after its flush, by LMDB's own order of writing.
    overlappingSync: false,
    // By default a block of more than 1,000 writes is begun in the file before its turn of the event loop has ended. LMDB's writer then waits for the rest with the lock of
    // all processes, and a process that exits in that turn neither ends nor gives the lock back.
    batchStartThreshold: Infinity,
    noReadAhead: true,
  };
  const db: Database = open<Uint8Array, Key>(options as RootDatabaseOptionsWithPath);
  db.on('beforecommit', () => {
    if (isOpen()) addRoom(db, ROOM);
    // The promise that lmdb makes for these commits is nobody's, and its rejection would end the process.
    process.nextTick(() => void db.committed.then(undefined, ignored));
  });
  chmodSync(join(folder, 'lock.mdb'), 0o600);
  return db;
}

/**
 * lmdb 3.5.6 can lose its place in the list of free pages and give the whole transaction up when it has to read more of that list while it saves the list. After a
 * request for many pages in a row it has read as much as it will need.
 */
function addRoom(db: Database, room: Buffer): void {
  void db.put(ROOM_KEY, room, 1);
  void db.remove(ROOM_KEY);
}

/** Callers whose commit failed get the error from their own promises. */
function ignored(error: unknown): void {
  (error as { commitError?: Promise<unknown> } | null)?.commitError?.catch(() => undefined);
}

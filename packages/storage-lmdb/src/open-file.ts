import { chmodSync, statSync } from 'node:fs';
import { open } from 'lmdb';
import type { RootDatabase, RootDatabaseOptionsWithPath } from 'lmdb';
import { StorageFailure } from '@strongroom/storage-sdk';
import { NAME } from './failure.ts';
import { roomIn } from './folder.ts';
import { dataFileIn, holdUntilExit, lockFileIn } from './gate.ts';
import { WriteGroups } from './write-groups.ts';

export type Key = string | Buffer;
export type Database = RootDatabase<Uint8Array, Key>;

const ROOM_KEY = '\0room';
const ROOM = Buffer.alloc(2 ** 17);
export const LARGE_ROOM_BYTES = 2 ** 21;

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
 * would think itself alone, and set up the locks again under those who use them.
 */
export class OpenFile {
  readonly db: Database;
  readonly #identity: string;
  readonly #root: string;
  readonly #writes: WriteGroups;
  /** Each is called when the file has to be reopened. */
  readonly #users = new Set<() => void>();
  /** Resolves when all users have closed the file. */
  readonly closed: Promise<void>;
  #close!: () => void;

  private constructor(identity: string, root: string, folder: string, mapBytes: number) {
    this.#identity = identity;
    this.#root = root;
    this.closed = new Promise((resolve) => (this.#close = resolve));
    this.db = opened(folder, mapBytes);
    const requireInPlace = placeChecks(folder);
    this.#writes = new WriteGroups({
      transaction: async (hand) => this.#transaction(hand),
      onSpoiled: () => this.#spoiled(),
      free: () => {
        for (const check of requireInPlace) check();
        return roomIn(folder);
      },
    });
  }

  /**
   * `folder`: prepared, with a data file. Nobody else may open or write it meanwhile. `onSpoiled` is called when a write has failed in a way after which all users have to
   * close the file, and can open it again.
   */
  static open(root: string, folder: string, mapBytes: number, onSpoiled: () => void): OpenFile {
    const { dev, ino } = statSync(dataFileIn(folder), { bigint: true });
    const identity = `${dev} ${ino}`;
    const known = files.get(identity);
    const file = known ?? new OpenFile(identity, root, folder, mapBytes);
    file.#users.add(onSpoiled);
    if (known) return file;
    if (files.size === 0) process.on('exit', holdDoors);
    files.set(identity, file);
    return file;
  }

  /** Whether it has to be closed, and opened again when all users have closed it. */
  get spoiled(): boolean {
    return this.#writes.spoiled;
  }

  /** Has `hand` hand its writes to lmdb; they go with those of others. @throws as WriteGroups.run */
  async writing<T>(hand: () => T | Promise<T>, room?: number): Promise<T> {
    return this.#writes.run(hand, room);
  }

  /** Within `writing`: adds an entry that is gone again at the end of the transaction, as each has one already, but larger. */
  makeRoom(): void {
    void this.db.put(ROOM_KEY, Buffer.alloc(LARGE_ROOM_BYTES), 1);
  }

  /** For one user, by what it gave to `open`: the last one closes the file. */
  async close(onSpoiled: () => void): Promise<void> {
    this.#users.delete(onSpoiled);
    if (this.#users.size > 0) return;
    files.delete(this.#identity);
    if (files.size === 0) process.off('exit', holdDoors);
    await this.#writes.idle();
    await this.db.close();
    this.#close();
  }

  #spoiled(): void {
    for (const onSpoiled of this.#users) onSpoiled();
  }

  /**
   * lmdb 3.5.6 can lose its place in the list of free pages and give the whole transaction up when it has to read more of that list while it saves the list. After a
   * request for many pages in a row, as for an entry that is gone again at the end, it has read as much as it will need.
   */
  async #transaction(hand: () => void): Promise<unknown> {
    const { db } = this;
    const whole = db.batch(() => {
      hand();
      void db.put(ROOM_KEY, ROOM, 1);
    });
    // lmdb begins a transaction by itself in the next turn of the event loop, and at once when there are more writes than its threshold.
    db.remove(ROOM_KEY).then(undefined, () => undefined);
    return whole;
  }

  static holdDoors(): void {
    for (const file of files.values()) holdUntilExit(file.#root);
  }
}

/** At the end of the process lmdb closes what is open, and destroys locks that a process being about to open the file would get. */
function holdDoors(): void {
  OpenFile.holdDoors();
}

function opened(folder: string, mapBytes: number): Database {
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
    // What is to be in one transaction is handed over as one batch, and begins at the first write after it.
    eventTurnBatching: false,
    txnStartThreshold: 1,
    // By default a block of more than 1,000 writes is begun in the file before all of it has been handed over. LMDB's writer then waits for the rest with the lock of
    // all processes, and a process that exits meanwhile neither ends nor gives the lock back.
    batchStartThreshold: Infinity,
    noReadAhead: true,
  };
  const db: Database = open<Uint8Array, Key>(options as RootDatabaseOptionsWithPath);
  chmodSync(lockFileIn(folder), 0o600);
  return db;
}

/** What another process opens is another file then, and what is written to this one is gone when it is closed. */
export class FileGone extends StorageFailure {
  constructor(file: string) {
    super(
      NAME,
      `${file} was removed or replaced while it was in use; nothing was written: put it back, or restart the server and restore a snapshot`,
    );
  }
}

/** Each throws FileGone once a file of the opened store is not in its place any more. */
function placeChecks(folder: string): (() => void)[] {
  return [dataFileIn(folder), lockFileIn(folder)].map((file) => {
    const { dev, ino } = statSync(file);
    return () => {
      const now = statSync(file, { throwIfNoEntry: false });
      if (now?.ino !== ino || now.dev !== dev) throw new FileGone(file);
    };
  });
}

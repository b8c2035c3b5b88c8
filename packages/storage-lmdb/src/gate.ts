import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StorageFailure, type StorageLog } from '@strongroom/storage-sdk';
import { NAME } from './failure.ts';
import { FileLock } from './file-lock.ts';

/** Milliseconds between two tries. */
const POLL_MS = 1;
/** Milliseconds for which a process goes on writing without a look whether another waits to open the store. */
const LOOK_MS = 20;
/** Milliseconds for which writers are held up by a process that waits until all have stopped; for as long they go on afterwards. */
const DRAIN_MS = 1_000;
const OPENING_MS = 60_000;
/** Milliseconds after which the log says what an opening waits for. */
const NOTICE_MS = 3_000;
const WRITING_MS = 30_000;

/**
 * Keeps the opening of a store apart from all writing to it, in every process of the machine. An open of lmdb 3.5.6 reads the number of the last transaction from the
 * file and a moment later makes it the current one for all processes: whatever was committed in between is written over by the next commit.
 *
 * Two locks: the door, a lock on the root folder, and the floor, a lock on the data file. Who opens takes the door and then the floor, exclusively. Who writes shares the
 * floor while it writes, and gets there through the door, so that new writers wait while somebody opens.
 */
export class Gate {
  readonly #door: FileLock;
  readonly #floor: FileLock;
  #writers = 0;
  /** Monotonic: when nobody was at the door. */
  #lookedAt = 0;

  /** `folder`: of the store, which has its data file already. */
  constructor(root: string, folder: string) {
    this.#door = new FileLock(root);
    this.#floor = new FileLock(dataFileIn(folder));
  }

  /** Runs work that writes to the store. It begins at once unless somebody opens the store. @throws StorageFailure when that takes 30 s */
  async writing<T>(work: () => Promise<T>): Promise<T> {
    const begin = performance.now();
    while (!this.#admitted()) {
      if (performance.now() - begin > WRITING_MS)
        throw new StorageFailure(NAME, 'another process has been opening the store for 30 s; nothing was written', { transient: true });
      await delay(POLL_MS);
    }
    this.#writers += 1;
    try {
      return await work();
    } finally {
      this.#writers -= 1;
      if (this.#writers === 0) this.#floor.release();
    }
  }

  /** Nobody may be writing. */
  close(): void {
    this.#door.close();
    this.#floor.close();
  }

  #admitted(): boolean {
    const now = performance.now();
    if (this.#writers > 0 && now - this.#lookedAt < LOOK_MS) return true;
    if (!this.#door.tryShared()) return false;
    try {
      if (this.#writers === 0 && !this.#floor.tryShared()) return false;
      this.#lookedAt = now;
      return true;
    } finally {
      this.#door.release();
    }
  }
}

/** Who hears what an opening waits for, and after how many milliseconds. */
export interface OpeningNotice {
  readonly log: StorageLog;
  readonly afterMs?: number;
}

/**
 * Runs `open` while nobody else opens, closes or writes the store. `prepare`, which runs while nobody else opens or closes, makes sure that the store has a data file
 * and returns its folder.
 * @throws StorageFailure when a process does not end its writing, or its opening, within 60 s
 */
export async function opening<T>(root: string, prepare: () => string, open: (folder: string) => T, notice?: OpeningNotice): Promise<T> {
  const deadline = performance.now() + OPENING_MS;
  let other = '';
  const timer = setTimeout(() => {
    notice?.log.warn(`the store is not open yet: another process is ${other}`, {
      path: root,
      remedy: 'if that process is stopped (SIGSTOP, a debugger), resume it or end it; this process gives up after 60 s',
    });
  }, notice?.afterMs ?? NOTICE_MS);
  try {
    for (;;) {
      const door = new FileLock(root);
      let floor: FileLock | undefined;
      other = 'opening it';
      try {
        if (!(await taken(door, deadline)))
          throw new StorageFailure(NAME, 'another process has been opening the store for 60 s', { transient: true });
        const folder = prepare();
        floor = new FileLock(dataFileIn(folder));
        other = 'writing to it';
        if (await taken(floor, performance.now() + DRAIN_MS)) return open(folder);
      } finally {
        floor?.close();
        door.close();
      }
      if (performance.now() > deadline)
        throw new StorageFailure(NAME, 'another process has been writing for 60 s and does not go on', { transient: true });
      await delay(DRAIN_MS);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Runs `close` while nobody opens the store, or after 5 s. */
export async function closing<T>(root: string, close: () => Promise<T>): Promise<T> {
  const door = new FileLock(root);
  try {
    await taken(door, performance.now() + 5_000);
    return await close();
  } finally {
    door.close();
  }
}

/** Takes the lock until the process ends. `deadline` as below; this blocks the thread. */
export function holdUntilExit(root: string): void {
  const door = new FileLock(root);
  const until = performance.now() + 200;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  while (!door.tryExclusively() && performance.now() < until) Atomics.wait(sleeper, 0, 0, POLL_MS);
}

export function dataFileIn(folder: string): string {
  return join(folder, 'data.mdb');
}

export function lockFileIn(folder: string): string {
  return join(folder, 'lock.mdb');
}

/** `deadline`: monotonic, in milliseconds. */
async function taken(lock: FileLock, deadline: number): Promise<boolean> {
  while (!lock.tryExclusively()) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

import type { StorageLog } from '@strongroom/storage-sdk';

/** Milliseconds without the end of a commit after which the log says so. */
const NOTICE_MS = 3_000;

/** Tells the log when commits wait and none ends: LMDB lets one process write at a time, and one that is stopped while it writes holds up all others. */
export class CommitStall {
  readonly #log: StorageLog | undefined;
  readonly #path: string;
  readonly #now: () => number;
  #waiting = 0;
  /** Monotonic, in milliseconds: when the last commit ended, or the first one of those that wait began. */
  #since = 0;
  #told = false;
  /** Monotonic, in milliseconds. */
  #lookedAt = 0;

  /** `now` is monotonic, in milliseconds. */
  constructor(log: StorageLog | undefined, path: string, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#path = path;
    this.#now = now;
  }

  begin(): void {
    if (this.#waiting === 0) this.#since = this.#now();
    this.#waiting += 1;
  }

  end(): void {
    this.#waiting -= 1;
    this.#since = this.#now();
    if (!this.#told) return;
    this.#told = false;
    this.#log?.info('writes to the store go on', { path: this.#path });
  }

  /** To be called every now and then. */
  look(): void {
    const now = this.#now();
    // This process itself stood still: nobody else is to blame.
    if (now - this.#lookedAt > NOTICE_MS) this.#since = now;
    this.#lookedAt = now;
    if (this.#told || this.#waiting === 0 || now - this.#since < NOTICE_MS) return;
    this.#told = true;
    this.#log?.warn('writes to the store are waiting: the disk does not answer, or another process holds the lock of the store', {
      path: this.#path,
      remedy: 'if a process that uses the store is stopped (SIGSTOP, a debugger), resume it or end it',
    });
  }
}

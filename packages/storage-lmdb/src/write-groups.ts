import { StorageFailure, type Change } from '@strongroom/storage-sdk';
import { causeOf, diskFull, leftNothing, NAME } from './failure.ts';

/** Bytes that one of the driver's own writes may add. */
const SMALL = 2 ** 16;
/** Bytes that stay free on the disk, for what a transaction adds besides, and for what other processes write meanwhile. */
const RESERVE = 2 ** 20;

/** A write that had not begun when another one failed. It may be tried again once the file has been reopened. */
export class NotBegun extends StorageFailure {
  constructor() {
    super(NAME, 'the store is being reopened after a failed write; nothing was written', { transient: true });
  }
}

interface Write {
  /** Hands the write to lmdb. Its result may be a promise that is settled with the transaction. */
  readonly hand: () => unknown;
  /** Bytes that it may add to the file. */
  readonly room: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Writes to one file, of which a group is in one transaction. A group that nothing is in front of begins at the end of the turn of the event loop, and otherwise as soon
 * as the one in front has ended. lmdb 3.5.6 would prepare the next transaction while one is written, but does not survive that if the one fails: it may forget to say why,
 * and after a failed write of LMDB's own head it neither ends the next transaction nor gives its lock back.
 */
export class WriteGroups {
  readonly #transaction: (hand: () => void) => Promise<unknown>;
  readonly #onSpoiled: () => void;
  readonly #free: () => number;
  #waiting: Write[] = [];
  /** Whether a group is being written, or will begin by itself. */
  #busy = false;
  #idle: (() => void)[] = [];
  #spoiled = false;

  /**
   * `transaction` has lmdb begin a transaction of what is handed over in the call, and resolves when that is on the disk. `onSpoiled` is called when a write has failed in
   * a way after which the file has to be reopened; before any other write ends. `free`: how many bytes there are for the file to grow; it may throw what the writes of
   * the group are refused with.
   */
  constructor(options: {
    readonly transaction: (hand: () => void) => Promise<unknown>;
    readonly onSpoiled: () => void;
    readonly free: () => number;
  }) {
    this.#transaction = options.transaction;
    this.#onSpoiled = options.onSpoiled;
    this.#free = options.free;
  }

  /** After a failed write: nothing can be written any more. */
  get spoiled(): boolean {
    return this.#spoiled;
  }

  /**
   * Has `hand` called when the write's group begins, and resolves to its result when the group is on the disk. `room`: how many bytes it may add. The disk is full before it
   * has no room at all: lmdb 3.5.6 reports a write that finds none in a text that is longer than its memory, and destroys what lies behind that.
   * @throws NotBegun, StorageFailure when the disk is full, what `free` throws, or the cause of the failure
   */
  run<T>(hand: () => T | Promise<T>, room = SMALL): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#spoiled) throw new NotBegun();
      this.#waiting.push({ hand, room, resolve: resolve as Write['resolve'], reject });
      if (this.#busy) return;
      this.#busy = true;
      setImmediate(() => this.#next());
    });
  }

  /** Resolves when no write waits or is under way. */
  async idle(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Begins the group of those that wait. */
  #next(): void {
    const group = this.#admitted(this.#waiting);
    this.#waiting = [];
    this.#busy = group.length > 0;
    if (!this.#busy) {
      for (const resolve of this.#idle.splice(0)) resolve();
      return;
    }
    const results: unknown[] = [];
    this.#transaction(() => {
      for (const { hand } of group) results.push(attempt(hand));
    }).then(
      () => {
        this.#next();
        for (const [at, { resolve }] of group.entries()) resolve(results[at]);
      },
      (error: unknown) => void this.#failed(group, error),
    );
  }

  /** Those that there is room for; the others are refused. */
  #admitted(writes: readonly Write[]): readonly Write[] {
    if (writes.length === 0) return writes;
    let room: number;
    try {
      room = this.#free() - RESERVE;
    } catch (error) {
      for (const { reject } of writes) reject(error);
      return [];
    }
    return writes.filter((write) => {
      const fits = write.room <= room;
      if (fits) room -= write.room;
      else write.reject(diskFull());
      return fits;
    });
  }

  async #failed(group: readonly Write[], error: unknown): Promise<void> {
    const cause = await causeOf(error);
    if (!(cause instanceof StorageFailure) && !leftNothing(cause)) this.#spoil();
    for (const { reject } of group) reject(cause);
    this.#next();
  }

  #spoil(): void {
    if (this.#spoiled) return;
    this.#spoiled = true;
    this.#onSpoiled();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(new NotBegun());
  }
}

/** A write that cannot be handed over fails alone. Its caller hears of that when the group has ended, and until then nobody looks at the result. */
function attempt(hand: () => unknown): unknown {
  let result: unknown;
  try {
    result = hand();
  } catch (error) {
    result = Promise.reject(error as Error);
  }
  Promise.resolve(result).catch(() => undefined);
  return result;
}

/** Bytes that a transaction may take for each key: the pages from the root of the tree to it, and those of the list of free pages. */
const ROOM_OF_A_KEY = 2 ** 15;

/** At most so many bytes are added to the file. Deletions take room, too: what they free is used by later transactions. */
export function roomFor({ put = [], delete: deleted = [], notify = [] }: Change): number {
  return put.reduce((sum, { value }) => sum + 2 * value.length, ROOM_OF_A_KEY * (put.length + deleted.length + notify.length));
}

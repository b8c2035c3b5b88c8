import { StorageFailure, type Change } from '@strongroom/storage-sdk';
import { causeOf, diskFull, leftNothing, NAME } from './failure.ts';

/** Bytes that one of the driver's own writes may add. */
const SMALL = 2 ** 16;
/** Bytes that stay free on the disk, for what a transaction adds besides, and for what other processes write meanwhile. */
const RESERVE = 2 ** 20;

/** A write that had not begun when another one failed. It may be tried again once the file has been opened anew. */
export class NotBegun extends StorageFailure {
  constructor() {
    super(NAME, 'the store is being reopened after a failed write; nothing was written', { transient: true });
  }
}

/**
 * Writes to one file, of which a group is in one transaction, and the next group begins when that has ended. lmdb 3.5.6 would prepare the next transaction while one
 * is written, but does not survive that if the one fails: it may forget to say why, and after a failed write of LMDB's own head it neither ends the next transaction
 * nor gives its lock back.
 */
export class WriteGroups {
  readonly #onSpoiled: () => void;
  readonly #free: () => number;
  /** Whether the transaction of the group has taken all that it will. */
  #complete = false;
  #underWay = 0;
  #waiting: { begin(): void; refuse(reason: unknown): void }[] = [];
  #spoiled = false;
  /** Bytes that the group may still add to the file. */
  #room = 0;

  /**
   * `onSpoiled` is called when a write has failed in a way after which the file has to be opened anew; before any other write ends. `free`: how many bytes there are
   * for the file to grow; it may throw what the writes of the group are refused with.
   */
  constructor({ onSpoiled, free }: { readonly onSpoiled: () => void; readonly free: () => number }) {
    this.#onSpoiled = onSpoiled;
    this.#free = free;
  }

  /** After a failed write: nothing can be written any more. */
  get spoiled(): boolean {
    return this.#spoiled;
  }

  /**
   * Runs work that hands its writes to lmdb at once. `room`: how many bytes it may add. The disk is full before it has no room at all: lmdb 3.5.6 reports a write
   * that finds none in a text that is longer than its memory, and destroys what lies behind that.
   * @throws NotBegun, StorageFailure when the disk is full, what `free` throws, or the cause of the failure
   */
  async run<T>(work: () => Promise<T>, room = SMALL): Promise<T> {
    if (this.#complete && !this.#spoiled) await new Promise<void>((begin, refuse) => this.#waiting.push({ begin, refuse }));
    if (this.#spoiled) throw new NotBegun();
    if (this.#underWay === 0) this.#room = this.#free() - RESERVE;
    if (this.#room < room) throw diskFull();
    this.#room -= room;
    this.#underWay += 1;
    try {
      return await work();
    } catch (error) {
      const cause = await causeOf(error);
      if (!(cause instanceof StorageFailure) && !leftNothing(cause)) this.#spoil();
      throw cause;
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#next();
    }
  }

  /** The transaction begins: whatever comes from now on has to wait. */
  completed(): void {
    this.#complete = true;
  }

  #next(): void {
    this.#complete = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { begin } of waiting) begin();
  }

  #spoil(): void {
    if (this.#spoiled) return;
    this.#spoiled = true;
    this.#onSpoiled();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { refuse } of waiting) refuse(new NotBegun());
  }
}

/** Bytes that a transaction may take for each key: the pages from the root of the tree to it, and those of the list of free pages. */
const ROOM_OF_A_KEY = 2 ** 15;

/** At most so many bytes are added to the file. Deletions take room, too: what they free is used by later transactions. */
export function roomFor({ put = [], delete: deleted = [], notify = [] }: Change): number {
  return put.reduce((sum, { value }) => sum + 2 * value.length, ROOM_OF_A_KEY * (put.length + deleted.length + notify.length));
}

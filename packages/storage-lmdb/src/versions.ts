import type { Environment } from './environment.ts';
import type { Database } from './open-file.ts';

const KEY = '\0version';
const BLOCK = 2 ** 20;
const BLOCKS_BETWEEN_STORES = 10_000;

/**
 * Version numbers that no other process and no earlier run uses: each driver takes whole blocks of them from a counter in the store,
 * so that a commit needs no counter of its own.
 */
export class Versions {
  readonly #environment: Environment;
  #block = 0;
  #next = 0;
  #taking: Promise<void> | undefined;
  /** Blocks taken by this driver. */
  readonly own = new Set<number>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** The one that versions are taken from now; 0 while there is none. No other driver has it. */
  get block(): number {
    return this.#block;
  }

  /** The next version, or undefined when `take` has to come first. */
  next(): number | undefined {
    return this.#block === 0 || this.#next === BLOCK ? undefined : this.#block * BLOCK + this.#next++;
  }

  static blockOf(version: number): number {
    return Math.floor(version / BLOCK);
  }

  static firstOf(block: number): number {
    return block * BLOCK;
  }

  /** Has the drivers of a new store begin behind this block. */
  static begin(db: Database, block: number): void {
    void db.put(KEY, Buffer.alloc(0), block);
  }

  /** A block that no driver of the store has used, nor will before it takes so many more. */
  static unused(db: Database): number {
    return (db.getEntry(KEY)?.version ?? 0) + BLOCKS_BETWEEN_STORES;
  }

  /** The store is another one: the next version is of a block of that. */
  begin(): Promise<void> {
    this.#block = 0;
    return this.take();
  }

  take(): Promise<void> {
    this.#taking ??= this.#take().finally(() => (this.#taking = undefined));
    return this.#taking;
  }

  async #take(): Promise<void> {
    for (;;) {
      const { db } = this.#environment;
      db.resetReadTxn();
      const last = db.getEntry(KEY);
      const block = (last?.version ?? 0) + 1;
      const taken = await this.#environment.writing((file) =>
        file.ifVersion(KEY, last ? (last.version as number) : (null as unknown as number), () => {
          void file.put(KEY, Buffer.alloc(0), block);
        }),
      );
      if (!taken) continue;
      this.own.add(block);
      this.#block = block;
      this.#next = 0;
      return;
    }
  }
}

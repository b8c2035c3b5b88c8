import { mkdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getLastVersion, type RangeOptions } from 'lmdb';
import { checkKeys, Conflict, keyProblem, LATER, Lifetime, StorageFailure, UNCHANGED } from '@strongroom/storage-sdk';
import type {
  ChangedKeys,
  Change,
  RangeQuery,
  Replacement,
  Staleness,
  StorageDriver,
  StorageLog,
  StoreCopy,
  Stored,
  StoredEntry,
  Unsubscribe,
} from '@strongroom/storage-sdk';
import { ChangeNotifications, type ReadingClock } from './change-notifications.ts';
import { boundsOf } from './bounds.ts';
import { writeChange } from './change-writer.ts';
import { CommitStall } from './commit-stall.ts';
import { CopyThread } from './copy-thread.ts';
import { Environment } from './environment.ts';
import { FileGone, type Database } from './open-file.ts';
import { asFailure, leftNothing, NAME } from './failure.ts';
import { roomIn } from './folder.ts';
import { MappedPages } from './mapped-pages.ts';
import { NewStore } from './replacement.ts';
import { roomOf, type Batch, type Outcome } from './shared-transactions/batch.ts';
import { writeBatch } from './shared-transactions/sender-records.ts';
import { NOT_WRITTEN, SharedTransactions } from './shared-transactions/shared-transactions.ts';
import { newName, removeLeftovers, removeStore } from './store-folder.ts';
import { Versions } from './versions.ts';
import { NotBegun, roomFor } from './write-groups.ts';

export interface LmdbOptions {
  /** The folder; created for its owner alone when missing. */
  readonly path: string;
  /** Address space to map at first, in bytes; it grows with the file. Default: 1 TiB, or less where the process may not have that. */
  readonly mapSizeBytes?: number;
  /** How much of the file may stay in this process's resident memory, in bytes; at rest it is 4 MiB at most. Default: 32 MiB. Linux only. */
  readonly residentBytes?: number;
  /** Hears what opening and writing wait for, and why processes do not share transactions. Default: nobody. */
  readonly log?: StorageLog;
  /**
   * Puts what several processes write at the same time into common transactions, if all of them have this option. One of them writes for all; with `'send'`, this process does not.
   * Default: false, each process writes by itself. Not on Windows.
   */
  readonly shareTransactions?: boolean | 'send';
  /** The time of notifications, and whether they are read: for tests. */
  readonly reading?: ReadingClock;
}

const EMPTY = new Uint8Array(0);
const RESIDENT_BYTES = 32 * 2 ** 20;
/** Entries touched between two looks at the resident memory. */
const LOOK_EVERY = 256;
/** Milliseconds between two looks whether the store is at rest. */
const REST_LOOK_MS = 250;
/** How much of the file stays in resident memory while few entries are touched, in bytes. */
const RESIDENT_AT_REST = 4 * 2 ** 20;
/** How often a commit is written before its failure is reported, where the failure left nothing of it behind. */
const ATTEMPTS = 5;
/** Milliseconds between two looks of readers whether the store has been replaced. */
const LOOK_MS = 50;
const REPLACED =
  'a snapshot took the place of the store during the request; nothing was written to it, and the same request may succeed now';

/**
 * Storage in one folder, for all processes of one machine.
 * @throws StorageFailure when the folder cannot be made or its file cannot be opened.
 */
export async function lmdbStorage(options: LmdbOptions): Promise<StorageDriver> {
  const environment = await Environment.open(options.path, options.mapSizeBytes, options.log);
  try {
    const versions = new Versions(environment);
    await versions.take();
    removeLeftovers(environment.root, environment.folder);
    return new LmdbStorage(environment, versions, options);
  } catch (error) {
    await environment.close();
    throw asFailure(error);
  }
}

class LmdbStorage implements StorageDriver {
  readonly name = NAME;
  readonly code = [new URL('.', import.meta.url).href, 'lmdb', 'koffi'];
  readonly shared = true;
  readonly #environment: Environment;
  readonly #versions: Versions;
  readonly #notifications: ChangeNotifications;
  readonly #options: LmdbOptions;
  #pages: MappedPages;
  #shared: SharedTransactions | undefined;
  readonly #lifetime = new Lifetime(NAME, async () => this.#close());
  #underWay = 0;
  readonly #stall: CommitStall;
  #idle: (() => void) | undefined;
  #touched = 0;
  /** Whether `LOOK_EVERY` entries or more have been touched since the last look whether the store is at rest. */
  #busy = false;
  readonly #restLooks = setInterval(() => this.#rest(), REST_LOOK_MS).unref();
  /** Set while commits must wait, after a failed write: the file is about to be, or being, reopened. */
  #renewing: Promise<void> | undefined;
  /** Set while reads must wait too. */
  #reopening: Promise<void> | undefined;
  /** Rises when another store takes the place of this one. */
  #store = 0;
  /** Set while this driver puts another store in its place: its own listeners hear nothing of that. */
  #replacing = false;
  /** Monotonic. */
  #lookedAt = 0;
  /** What the look after a commit has found in this turn. */
  #found: boolean | undefined;

  constructor(environment: Environment, versions: Versions, options: LmdbOptions) {
    this.#environment = environment;
    this.#versions = versions;
    this.#options = options;
    this.#stall = new CommitStall(options.log, environment.root);
    environment.onSpoiled = () => void this.#recover();
    this.#pages = this.#openPages();
    this.#notifications = new ChangeNotifications(environment, versions.own, () => this.#follow(), options.reading);
    this.#shared = this.#share();
  }

  async get(key: string): Promise<Stored | undefined> {
    this.#lifetime.assertOpen();
    if (keyProblem(key) !== undefined) return undefined;
    if (!this.#readable) await this.#opened();
    return this.#stored(key);
  }

  getSync(key: string, known?: number): Stored | undefined | typeof LATER | typeof UNCHANGED {
    this.#lifetime.assertOpen();
    if (keyProblem(key) !== undefined) return undefined;
    if (!this.#readable) return LATER;
    return known !== undefined && this.#has(key, known) ? UNCHANGED : this.#stored(key);
  }

  async range(query: RangeQuery): Promise<StoredEntry[]> {
    this.#lifetime.assertOpen();
    const bounds = boundsOf(query);
    if (!bounds || (query.limit ?? 1) <= 0) return [];
    if (this.#reopening || !this.#environment.opened) await this.#opened();
    const found: StoredEntry[] = reading(() => {
      const { from, to } = bounds;
      const span = query.reverse
        ? { start: to, end: from, reverse: true, exclusiveStart: true, inclusiveEnd: true }
        : { start: from, end: to };
      const wanted = { ...span, ...(query.limit === undefined ? {} : { limit: query.limit }), versions: true };
      const entries: StoredEntry[] = [];
      if (query.keysOnly) {
        for (const { key, version } of keysWithVersions(this.#current(), wanted)) entries.push({ key, value: EMPTY, version });
        return entries;
      }
      for (const { key, value, version } of this.#current().getRange(wanted)) {
        entries.push({ key: key as string, value, version: version as number });
      }
      return entries;
    });
    this.#touch(1 + found.length);
    return found;
  }

  async commit(change: Change): Promise<number> {
    this.#lifetime.assertOpen();
    checkKeys(NAME, change);
    this.#stall.begin();
    try {
      return await this.#committed(change);
    } finally {
      this.#stall.end();
      this.#touch(touchedBy(change));
    }
  }

  changes(listener: (changed: ChangedKeys) => void): Unsubscribe {
    this.#lifetime.assertOpen();
    return this.#notifications.subscribe(listener);
  }

  staleness(): Staleness {
    return this.#notifications.staleness();
  }

  async copy(): Promise<StoreCopy> {
    this.#lifetime.assertOpen();
    const { root } = this.#environment;
    const folder = join(root, newName('copy'));
    const remove = async (): Promise<void> => rm(folder, { recursive: true, force: true });
    try {
      await this.#holdingOpen(async () => {
        requireRoom(root, statSync(this.#environment.dataFile).size);
        mkdirSync(folder, { mode: 0o700 });
        await this.#environment.db.backup(folder, true);
      });
      return await CopyThread.open(folder, remove);
    } catch (error) {
      await remove();
      throw asFailure(error);
    }
  }

  async replace(): Promise<Replacement> {
    this.#lifetime.assertOpen();
    while (this.#renewing) await this.#renewing;
    const { environment, mapBytes } = { environment: this.#environment, mapBytes: this.#options.mapSizeBytes };
    const unused = reading(() => Versions.unused(this.#current()));
    return NewStore.make(environment.root, mapBytes, unused, async () => this.#moveOn());
  }

  close(): Promise<void> {
    return this.#lifetime.close();
  }

  #stored(key: string): Stored | undefined {
    const entry = reading(() => this.#current().getEntry(key));
    this.#touch(1);
    return entry && { value: entry.value, version: entry.version as number };
  }

  /** Whether reads need not wait for the file. */
  get #readable(): boolean {
    return !this.#reopening && this.#environment.opened;
  }

  /** Whether a key has this version. The value is not copied. */
  #has(key: string, version: number): boolean {
    const found = reading(() => this.#current().getBinaryFast(key) !== undefined && getLastVersion() === version);
    if (found) this.#touch(1);
    return found;
  }

  /** The database in its newest state, with what other processes have committed. */
  #current(): Database {
    const now = performance.now();
    if (now - this.#lookedAt > LOOK_MS) {
      this.#lookedAt = now;
      this.#follow();
    }
    const { db } = this.#environment;
    db.resetReadTxn();
    return db;
  }

  #share(): SharedTransactions | undefined {
    const { block } = this.#versions;
    if (!this.#options.shareTransactions || block === 0 || process.platform === 'win32') return undefined;
    return new SharedTransactions(this.#environment, {
      sender: block,
      mayWrite: this.#options.shareTransactions !== 'send',
      apply: async (batch) => this.#applied(batch),
      log: this.#options.log,
    });
  }

  /** After the store was reopened where no versions were to be had, as on a full disk. */
  async #shareAgain(): Promise<void> {
    if (!this.#options.shareTransactions || this.#renewing || this.#lifetime.closed || this.#environment.unwritable) return;
    const store = this.#store;
    if (this.#versions.block === 0) await this.#holdingOpen(async () => this.#versions.take()).catch(() => undefined);
    if (store === this.#store && !this.#renewing && !this.#lifetime.closed) this.#shared ??= this.#share();
  }

  #openPages(): MappedPages {
    return new MappedPages(this.#environment.dataFile, this.#options.residentBytes ?? RESIDENT_BYTES);
  }

  /** Whether another store has taken the place of the open one, which is opened then. */
  #follow(): boolean {
    if (!this.#environment.replaced) return false;
    this.#renew();
    return true;
  }

  /**
   * As `#follow`, after a commit. All commits of one transaction are flushed before the first of them gets here, and the others follow in the same turn:
   * one look does for all of them.
   */
  #replacedMeanwhile(): boolean {
    if (this.#found === undefined) {
      this.#found = this.#follow();
      process.nextTick(() => (this.#found = undefined));
    }
    return this.#found;
  }

  /** This driver has put another store in the place of its own. */
  async #moveOn(): Promise<void> {
    const { root, folder } = this.#environment;
    this.#replacing = true;
    try {
      while (this.#environment.replaced && !this.#lifetime.closed) {
        this.#renew();
        await this.#renewing;
      }
    } finally {
      this.#replacing = false;
    }
    if (this.#environment.folder !== folder) removeStore(root, folder);
  }

  /** Runs work that needs the file open, and the file stays open until it has ended. */
  async #holdingOpen<T>(work: () => Promise<T>): Promise<T> {
    while (this.#renewing) await this.#renewing;
    if (!this.#environment.opened) await this.#opened();
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#idle?.();
    }
  }

  /** Waits while the file is being reopened, and opens it where that has failed. */
  async #opened(): Promise<void> {
    while (this.#reopening) await this.#reopening;
    if (this.#environment.opened) return;
    this.#renew();
    await this.#renewing;
  }

  /** Writes it, again where it had not begun when another write failed. */
  async #committed(change: Change): Promise<number> {
    const store = this.#store;
    for (;;) {
      try {
        return await this.#holdingOpen(async () => {
          if (store !== this.#store) throw new StorageFailure(NAME, REPLACED, { transient: true });
          return this.#written(change);
        });
      } catch (error) {
        if (!(error instanceof NotBegun)) throw error;
        const unwritable = this.#recover();
        if (unwritable) throw unwritable;
      }
    }
  }

  async #written(change: Change): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { failed, version } = await this.#tried(change);
        // What was written to a store that is in use no longer has not been written.
        if (this.#replacedMeanwhile()) throw new StorageFailure(NAME, REPLACED, { transient: true });
        if (failed === undefined) return version;
        throw new Conflict(failed);
      } catch (error) {
        if (error instanceof Conflict || (error instanceof StorageFailure && error.transient)) throw error;
        if (error instanceof FileGone && this.#follow()) throw new StorageFailure(NAME, REPLACED, { transient: true });
        if (leftNothing(error) && attempt < ATTEMPTS) {
          this.#environment.makeRoom();
          continue;
        }
        if (leftNothing(error)) this.#renew();
        throw asFailure(error);
      }
    }
  }

  async #tried(change: Change): Promise<{ failed: string | undefined; version: number }> {
    return (await this.#writtenElsewhere(change)) ?? this.#writtenHere(change);
  }

  /** By the process that writes for others; undefined where this process has to write the change. */
  async #writtenElsewhere(change: Change): Promise<{ failed: string | undefined; version: number } | undefined> {
    if (!this.#shared?.takes(change)) return undefined;
    const version = this.#versions.next();
    if (version === undefined) return undefined;
    const result = await this.#shared.write(change, version);
    return result === NOT_WRITTEN ? undefined : { failed: result ?? undefined, version };
  }

  /** With a version of its own: those of one block are notified in order, so the version is taken in the moment of writing. */
  async #writtenHere(change: Change): Promise<{ failed: string | undefined; version: number }> {
    for (;;) {
      let version: number | undefined;
      const failed = await this.#environment.writing((db) => {
        const drawn = this.#versions.next();
        version = drawn;
        if (drawn === undefined) return undefined;
        const { notify } = change;
        return writeChange(db, change, drawn, notify?.length ? () => this.#notifications.write(db, notify, drawn) : undefined);
      }, roomFor(change));
      if (version !== undefined) return { failed, version };
      await this.#versions.take();
    }
  }

  /** Makes the changes of another process. */
  async #applied(batch: Batch): Promise<Outcome> {
    if (this.#lifetime.closed || this.#renewing || batch.store !== this.#environment.folder) return { kind: 'refused' };
    try {
      const results = await this.#holdingOpen(async () => this.#environment.writing((db) => writeBatch(db, batch), roomOf(batch)));
      return results ? { kind: 'applied', results } : { kind: 'refused' };
    } catch (error) {
      // As for changes of its own, which a process that only writes for others does not have.
      if (error instanceof NotBegun) this.#recover();
      else if (leftNothing(error)) this.#environment.makeRoom();
      if (error instanceof StorageFailure || leftNothing(error)) return { kind: 'refused' };
      const { reason, full } = asFailure(error);
      return { kind: 'failed', reason, full };
    } finally {
      this.#touch(batch.changes.reduce((sum, { change }) => sum + touchedBy(change), 0));
    }
  }

  #touch(entries: number): void {
    this.#touched += entries;
    if (this.#touched < LOOK_EVERY) return;
    this.#touched = 0;
    this.#busy = true;
    this.#bound();
  }

  /** Runs at each look. A store at rest returns most of what it has mapped: others may need the memory, and reading it again costs little. */
  #rest(): void {
    this.#stall.look();
    if (!this.#shared) void this.#shareAgain();
    if (!this.#busy) this.#bound(RESIDENT_AT_REST);
    this.#busy = false;
  }

  #bound(most?: number): void {
    if (!this.#lifetime.closed && !this.#reopening) this.#pages.bound(most);
  }

  /** After a failed write: reopens the file where that can succeed. Otherwise returns why not, and what is open can still be read. */
  #recover(): StorageFailure | undefined {
    const { unwritable } = this.#environment;
    if (!unwritable) this.#renew();
    return unwritable;
  }

  /** Lets commits under way end, holds new ones back, and reopens the file. */
  #renew(): void {
    if (this.#lifetime.closed) return;
    this.#renewing ??= this.#drained()
      .then(() => {
        this.#reopening = this.#reopen().catch(() => undefined);
        return this.#reopening;
      })
      .finally(() => {
        this.#renewing = undefined;
        this.#reopening = undefined;
      });
  }

  async #reopen(): Promise<void> {
    const { folder } = this.#environment;
    await this.#environment.renew();
    if (this.#environment.folder === folder) return;
    await this.#shared?.leave();
    this.#store += 1;
    this.#pages.close();
    this.#pages = this.#openPages();
    // Where a block cannot be had now, the next commit takes one.
    await this.#versions.begin().catch(() => undefined);
    this.#shared = this.#share();
    this.#notifications.begin(!this.#replacing);
  }

  #drained(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle = () => {
        this.#idle = undefined;
        resolve();
      };
    });
  }

  async #close(): Promise<void> {
    clearInterval(this.#restLooks);
    this.#notifications.stop();
    await this.#renewing;
    await this.#drained();
    await this.#shared?.close();
    this.#pages.close();
    await this.#environment.close();
  }
}

/** Entries that a commit is likely to touch. */
function touchedBy({ put = [], delete: deleted = [] }: Change): number {
  return 4 * (put.length + deleted.length);
}

/** Values are not looked at. The types of lmdb do not know that `versions` makes objects of the keys. */
function keysWithVersions(db: Database, range: RangeOptions): Iterable<{ readonly key: string; readonly version: number }> {
  return db.getKeys(range) as Iterable<unknown> as Iterable<{ key: string; version: number }>;
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw asFailure(error);
  }
}

/** The copy is at most as large as the store. @throws StorageFailure */
function requireRoom(root: string, bytes: number): void {
  const room = roomIn(root);
  if (room >= bytes) return;
  const [needed, free] = [bytes, room].map((size) => Math.ceil(size / 2 ** 20));
  throw new StorageFailure(NAME, `a copy of the store needs up to ${needed} MiB in ${root}, where ${free} MiB are free`, { full: true });
}

import { checkKeys, Conflict, keyProblem, Lifetime } from '@strongroom/storage-sdk';
import type {
  ChangedKeys,
  Change,
  Expectation,
  RangeQuery,
  Staleness,
  StorageDriver,
  Stored,
  StoredEntry,
  Unsubscribe,
} from '@strongroom/storage-sdk';
import { ChangeNotifications, type ReadingClock } from './change-notifications.ts';
import { boundsOf } from './bounds.ts';
import { Environment } from './environment.ts';
import type { Database } from './environment.ts';
import { asFailure, leftNothing, NAME } from './failure.ts';
import { MappedPages } from './mapped-pages.ts';
import { Versions } from './versions.ts';

export interface LmdbOptions {
  /** The folder; created for its owner alone when missing. */
  readonly path: string;
  /** Address space to map at first, in bytes; it grows with the file. Default: 1 TiB, or less where the process may not have that. */
  readonly mapSizeBytes?: number;
  /** How much of the file may stay in this process's resident memory, in bytes. Default: 32 MiB. Linux only, and where `koffi` can be loaded. */
  readonly residentBytes?: number;
  /** The time of notifications, and whether they are read: for tests. */
  readonly reading?: ReadingClock;
}

const EMPTY = new Uint8Array(0);
const RESIDENT_BYTES = 32 * 2 ** 20;
/** Entries touched between two looks at the resident memory. */
const LOOK_EVERY = 256;
/** How often a commit is written before its failure is reported, where the failure left nothing of it behind. */
const ATTEMPTS = 5;

/**
 * Storage in one folder, for all processes of one machine.
 * @throws StorageFailure when the folder cannot be made or its file cannot be opened.
 */
export async function lmdbStorage(options: LmdbOptions): Promise<StorageDriver> {
  const environment = new Environment(options.path, options.mapSizeBytes);
  try {
    const versions = new Versions(environment);
    await versions.take();
    return new LmdbStorage(environment, versions, options.residentBytes ?? RESIDENT_BYTES, options.reading);
  } catch (error) {
    await environment.close();
    throw asFailure(await causeOf(error));
  }
}

class LmdbStorage implements StorageDriver {
  readonly name = NAME;
  readonly code = [new URL('.', import.meta.url).href, 'lmdb', 'koffi'];
  readonly shared = true;
  readonly #environment: Environment;
  readonly #versions: Versions;
  readonly #notifications: ChangeNotifications;
  readonly #pages: MappedPages;
  readonly #lifetime = new Lifetime(NAME, async () => this.#close());
  #underWay = 0;
  #idle: (() => void) | undefined;
  #touched = 0;
  /** Set while commits must wait, after a failed write: the file is about to be, or being, opened anew. */
  #renewing: Promise<void> | undefined;
  /** Set while reads must wait too. */
  #reopening: Promise<void> | undefined;

  constructor(environment: Environment, versions: Versions, residentBytes: number, reading: ReadingClock | undefined) {
    this.#environment = environment;
    this.#versions = versions;
    this.#pages = new MappedPages(environment.dataFile, residentBytes);
    this.#notifications = new ChangeNotifications(environment, versions.own, reading);
  }

  async get(key: string): Promise<Stored | undefined> {
    this.#lifetime.assertOpen();
    if (keyProblem(key) !== undefined) return undefined;
    while (this.#reopening) await this.#reopening;
    const entry = reading(() => this.#current().getEntry(key));
    this.#touch(1);
    return entry && { value: entry.value, version: entry.version as number };
  }

  async range(query: RangeQuery): Promise<StoredEntry[]> {
    this.#lifetime.assertOpen();
    const bounds = boundsOf(query);
    if (!bounds || (query.limit ?? 1) <= 0) return [];
    while (this.#reopening) await this.#reopening;
    const found: StoredEntry[] = reading(() => {
      const { from, to } = bounds;
      const span = query.reverse
        ? { start: to, end: from, reverse: true, exclusiveStart: true, inclusiveEnd: true }
        : { start: from, end: to };
      const limit = query.limit === undefined ? {} : { limit: query.limit };
      const entries: StoredEntry[] = [];
      for (const { key, value, version } of this.#current().getRange({ ...span, ...limit, versions: true })) {
        entries.push({ key: key as string, value: query.keysOnly ? EMPTY : value, version: version as number });
      }
      return entries;
    });
    this.#touch(1 + found.length);
    return found;
  }

  async commit(change: Change): Promise<void> {
    this.#lifetime.assertOpen();
    checkKeys(NAME, change);
    while (this.#renewing) await this.#renewing;
    this.#underWay += 1;
    try {
      await this.#written(change);
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#idle?.();
    }
    this.#touch(4 * ((change.put?.length ?? 0) + (change.delete?.length ?? 0)));
  }

  changes(listener: (changed: ChangedKeys) => void): Unsubscribe {
    this.#lifetime.assertOpen();
    return this.#notifications.subscribe(listener);
  }

  staleness(): Staleness {
    return this.#notifications.staleness();
  }

  close(): Promise<void> {
    return this.#lifetime.close();
  }

  /** The database in its newest state, with what other processes have committed. */
  #current(): Database {
    const { db } = this.#environment;
    db.resetReadTxn();
    return db;
  }

  async #nextVersion(): Promise<number> {
    for (;;) {
      await this.#versions.take();
      const version = this.#versions.next();
      if (version !== undefined) return version;
    }
  }

  async #written(change: Change): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        // Each attempt has a version of its own: those of one block are notified in order.
        const version = this.#versions.next() ?? (await this.#nextVersion());
        const failed = await this.#write(change, version);
        if (failed === undefined) return;
        throw new Conflict(failed);
      } catch (error) {
        if (error instanceof Conflict) throw error;
        const cause = await causeOf(error);
        if (leftNothing(cause) && attempt < ATTEMPTS) {
          this.#environment.makeRoom(true);
          continue;
        }
        // A failed write can leave the environment unusable; opened anew it is sound.
        this.#renew();
        throw asFailure(cause);
      }
    }
  }

  /**
   * Resolves to a key whose expectation does not hold, if there is one. The conditions are nested, the writes are innermost: LMDB's
   * writer checks and applies them in one transaction, with all others that wait.
   */
  async #write(change: Change, version: number): Promise<string | undefined> {
    const { db } = this.#environment;
    const write = (): void => {
      if (change.delete) for (const key of change.delete) void db.remove(key);
      if (change.put) for (const { key, value } of change.put) void db.put(key, value, version);
      if (change.notify?.length) this.#notifications.write(db, change.notify, version);
    };
    const expected = change.expect;
    if (!expected?.length) {
      await db.batch(write);
      return undefined;
    }
    const [first] = expected;
    if (first && expected.length === 1) return (await db.ifVersion(first.key, versionOf(first), write)) ? undefined : first.key;
    const held: Promise<boolean>[] = [];
    const nest = (index: number): void => {
      const expectation = expected[index];
      if (!expectation) return write();
      held[index] = db.ifVersion(expectation.key, versionOf(expectation), () => nest(index + 1));
    };
    nest(0);
    const results = await Promise.all(held);
    const failed = results.indexOf(false);
    return expected[failed]?.key;
  }

  #touch(entries: number): void {
    this.#touched += entries;
    if (this.#touched < LOOK_EVERY) return;
    this.#touched = 0;
    if (!this.#lifetime.closed && !this.#reopening) this.#pages.bound();
  }

  /** Lets commits under way end, holds new ones back, and opens the file anew. */
  #renew(): void {
    if (this.#lifetime.closed) return;
    this.#renewing ??= this.#drained()
      .then(() => {
        this.#reopening = this.#environment.renew().catch(() => undefined);
        return this.#reopening;
      })
      .finally(() => {
        this.#renewing = undefined;
        this.#reopening = undefined;
      });
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
    this.#notifications.stop();
    await this.#renewing;
    await this.#drained();
    this.#pages.close();
    await this.#environment.close();
  }
}

/** LMDB says null for a key that must not exist. */
function versionOf({ version }: Expectation): number {
  return version ?? (null as unknown as number);
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw asFailure(error);
  }
}

/** LMDB's writer rejects with an error that only points to the cause, which may come later. */
async function causeOf(error: unknown): Promise<unknown> {
  const cause = (error as { commitError?: Promise<unknown> } | null)?.commitError;
  return cause ? cause.then(() => error).catch((reason: unknown) => reason) : error;
}

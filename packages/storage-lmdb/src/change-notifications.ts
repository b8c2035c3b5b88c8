import { EVERYTHING, type ChangedKeys, type Staleness } from '@strongroom/storage-sdk';
import type { Environment } from './environment.ts';
import type { Database } from './open-file.ts';
import { asFailure } from './failure.ts';
import { Versions } from './versions.ts';

const PREFIX = '\0announced/';
const END = '\0announced0';
const LATEST = '\0latest';
/** Says when the newest notification that was removed had been made. */
const PRUNED = '\0pruned';
const RETENTION_MS = 10 * 60 * 1_000;
const POLL_MS = 50;
/** A poll that is so late is repeated before anybody relies on it. */
const OVERDUE_MS = 1_000;
/** Longer than a notification takes from its making to its commit. */
const COMMIT_MS = 60_000;
/** Notifications of this driver between two prunings. */
const PRUNE_EVERY = 1_000;
/** Notifications that a pruning removes, at most. */
const PRUNED_AT_ONCE = 2 * PRUNE_EVERY;

type Listener = (changed: ChangedKeys) => void;

/** The time that notifications are dated by, and whether they are read: tests move the one and hold up the other. */
export interface ReadingClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Whether the next reading has to wait. */
  paused(): boolean;
}

const systemClock: ReadingClock = { now: () => Date.now(), paused: () => false };

interface ChangeNotification {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly keys: readonly string[];
}

/**
 * Changed keys, kept in the store for ten minutes under the version of their commit: `\0announced/<version>`. The commits of one
 * block of versions belong to one process and happen in their order, so a reader remembers one position a block. One entry, whose
 * version changes with each notification, is all that a poll has to read. A process that stood still for longer finds that some
 * were removed after its last look, and says so. A busy server keeps hundreds of thousands: nothing here looks at all of them.
 */
export class ChangeNotifications {
  readonly #environment: Environment;
  readonly #own: ReadonlySet<number>;
  readonly #listeners = new Set<Listener>();
  readonly #positions = new Map<number, string>();
  readonly #clock: ReadingClock;
  readonly #replaced: () => boolean;
  #latest: number | undefined;
  /** When the newest of the removed ones was made, as the last look found it. */
  #removedAt = 0;
  /** By the clock that notifications are dated by: when all of them had been read. */
  #lookedAt = 0;
  /** The same moment, by the monotonic clock. */
  #currentAt = 0;
  #failure: string | undefined;
  #written = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `replaced`: looks whether another store has the place of the one that is open. Then it is not read. */
  constructor(environment: Environment, own: ReadonlySet<number>, replaced: () => boolean, clock: ReadingClock = systemClock) {
    this.#environment = environment;
    this.#own = own;
    this.#replaced = replaced;
    this.#clock = clock;
    this.#read();
    this.#prune();
  }

  /** Adds to a commit being written. */
  write(db: Database, keys: readonly string[], version: number): void {
    void db.put(entryKey(version), Buffer.from(JSON.stringify({ at: this.#clock.now(), keys } satisfies ChangeNotification)), version);
    void db.put(LATEST, Buffer.alloc(0), version);
    this.#written += 1;
    if (this.#written % PRUNE_EVERY === 0) setImmediate(() => this.#tried(() => this.#prune()));
  }

  subscribe(listener: Listener): () => void {
    const entry: Listener = (changed) => listener(changed);
    // A new listener already knows the changes before it subscribed.
    if (this.#listeners.size === 0) this.begin(false);
    this.#listeners.add(entry);
    this.#timer ??= setInterval(() => this.#poll(), POLL_MS).unref();
    return () => {
      this.#listeners.delete(entry);
      if (this.#listeners.size === 0) this.stop();
    };
  }

  /** The store is another one: reads what is new in that from here on. `tell`: all listeners are to hear that everything may have changed. */
  begin(tell: boolean): void {
    this.#positions.clear();
    this.#latest = undefined;
    this.#lookedAt = 0;
    this.#tried(() => this.#read());
    if (tell) for (const listener of [...this.#listeners]) listener(EVERYTHING);
  }

  /** A poll is late when the whole process was frozen: it is repeated. */
  staleness(): Staleness {
    if (this.#listeners.size === 0) return { millis: 0 };
    if (performance.now() - this.#currentAt > OVERDUE_MS) this.#poll();
    return { millis: performance.now() - this.#currentAt, reason: this.#failure };
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#listeners.clear();
  }

  #poll(): void {
    if (this.#clock.paused() || this.#replaced()) return;
    const found = this.#tried(() => this.#read()) ?? [];
    for (const changed of found) for (const listener of [...this.#listeners]) listener(changed);
  }

  /** While the file is being reopened it cannot be read: the next poll reads what was missed. */
  #tried<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#failure = asFailure(error).reason;
      return undefined;
    }
  }

  /** Notifications of others that were not read before; EVERYTHING where some are gone already, or nothing was read before. */
  #read(): ChangedKeys[] {
    const { db } = this.#environment;
    const [lookedAt, now, current] = [this.#lookedAt, this.#clock.now(), performance.now()];
    db.resetReadTxn();
    const latest = db.getEntry(LATEST)?.version;
    const [same, first] = [latest === this.#latest, lookedAt === 0];
    const found = same || first ? [] : this.#unread(db);
    if (first) for (const name of lastOfBlocks(db)) this.#positions.set(blockOf(name), name);
    const before = this.#removedAt;
    if (first || !same) this.#removedAt = prunedAt(db);
    // What was removed before the last look was judged then.
    const missed = first || (this.#removedAt !== before && this.#removedAt > lookedAt - COMMIT_MS);
    this.#latest = latest;
    this.#lookedAt = now;
    this.#currentAt = current;
    this.#failure = undefined;
    return missed ? [EVERYTHING] : found;
  }

  /** What was made after the positions, which move there. */
  #unread(db: Database): (readonly string[])[] {
    const found: (readonly string[])[] = [];
    for (let start: string | undefined = PREFIX; start !== undefined;) {
      let following: string | undefined;
      for (const { key, value } of db.getRange({ start, end: END })) {
        const name = String(key);
        const block = blockOf(name);
        const position = this.#positions.get(block);
        if (name === position) continue;
        if (position !== undefined && name < position) {
          // Go on behind what was read of this block.
          following = position;
          break;
        }
        this.#positions.set(block, name);
        if (!this.#own.has(block)) found.push(parsed(value).keys);
      }
      start = following;
    }
    return found;
  }

  /** Deletes what was kept for long enough, whichever process wrote it, and notes the time of the newest. */
  #prune(): void {
    const { db } = this.#environment;
    const { names, newest } = expired(db, this.#clock.now() - RETENTION_MS);
    if (names.length === 0) return;
    const at = Math.max(newest, prunedAt(db));
    this.#environment
      .writing((file) => {
        for (const name of names) void file.remove(name);
        void file.put(PRUNED, Buffer.from(JSON.stringify({ at })), 1);
      })
      .then(() => {
        if (names.length === PRUNED_AT_ONCE && this.#environment.opened) this.#tried(() => this.#prune());
      })
      .catch(() => undefined);
  }
}

/** The oldest notifications that were made before `before`, and when the newest of them was. Within a block, the older ones come first. */
function expired(db: Database, before: number): { readonly names: readonly string[]; readonly newest: number } {
  const names: string[] = [];
  let newest = 0;
  for (let start: string | undefined = PREFIX; start !== undefined;) {
    let following: string | undefined;
    for (const { key, value } of db.getRange({ start, end: END })) {
      const name = String(key);
      const { at } = parsed(value);
      if (at >= before) {
        following = entryKey(Versions.firstOf(blockOf(name) + 1));
        break;
      }
      names.push(name);
      newest = Math.max(newest, at);
      if (names.length === PRUNED_AT_ONCE) return { names, newest };
    }
    start = following;
  }
  return { names, newest };
}

/** The newest notification of each block. */
function* lastOfBlocks(db: Database): Iterable<string> {
  for (let end: string | undefined = END; end !== undefined;) {
    const [last] = db.getKeys({ start: end, end: PREFIX, reverse: true, exclusiveStart: true, limit: 1 });
    if (last === undefined) return;
    yield String(last);
    end = entryKey(Versions.firstOf(blockOf(String(last))));
  }
}

/** Milliseconds since the epoch; 0 where nothing was removed yet. */
function prunedAt(db: Database): number {
  const value = db.get(PRUNED);
  return value === undefined ? 0 : (JSON.parse(Buffer.from(value).toString()) as { at: number }).at;
}

function parsed(value: Uint8Array): ChangeNotification {
  return JSON.parse(Buffer.from(value).toString()) as ChangeNotification;
}

function blockOf(name: string): number {
  return Versions.blockOf(Number(name.slice(PREFIX.length)));
}

function entryKey(version: number): string {
  return PREFIX + String(version).padStart(16, '0');
}

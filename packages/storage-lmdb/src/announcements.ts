import type { Database, Environment } from './environment.ts';
import { Versions } from './versions.ts';

const PREFIX = '\0announced/';
const END = '\0announced0';
const LATEST = '\0latest';
const RETENTION_MS = 60 * 60 * 1_000;
const POLL_MS = 50;
/** Announcements of this driver between two prunings. */
const PRUNE_EVERY = 1_000;

type Listener = (keys: readonly string[]) => void;

interface Announcement {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly keys: readonly string[];
}

/**
 * Announced keys, kept in the store for an hour under the version of their commit: `\0announced/<block>/<version>`. The commits of one
 * block of versions belong to one process and happen in their order, so a reader remembers one position a block. One entry, whose
 * version changes with each announcement, is all that a poll has to read.
 */
export class Announcements {
  readonly #environment: Environment;
  readonly #own: ReadonlySet<number>;
  readonly #listeners = new Set<Listener>();
  readonly #positions = new Map<number, string>();
  #latest: number | undefined;
  #written = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(environment: Environment, own: ReadonlySet<number>) {
    this.#environment = environment;
    this.#own = own;
    this.#read();
    this.#prune();
  }

  /** Adds to a commit being written. */
  write(db: Database, keys: readonly string[], version: number): void {
    void db.put(entryKey(version), Buffer.from(JSON.stringify({ at: Date.now(), keys } satisfies Announcement)), version);
    void db.put(LATEST, Buffer.alloc(0), version);
    this.#written += 1;
    if (this.#written % PRUNE_EVERY === 0) setImmediate(() => this.#tried(() => this.#prune()));
  }

  subscribe(listener: Listener): () => void {
    const entry: Listener = (keys) => listener(keys);
    // What was announced before is known to whoever begins to listen now.
    if (this.#listeners.size === 0) this.#tried(() => this.#read());
    this.#listeners.add(entry);
    this.#timer ??= setInterval(() => this.#poll(), POLL_MS).unref();
    return () => {
      this.#listeners.delete(entry);
      if (this.#listeners.size === 0) this.stop();
    };
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#listeners.clear();
  }

  #poll(): void {
    const found = this.#tried(() => this.#read()) ?? [];
    for (const keys of found) for (const listener of [...this.#listeners]) listener(keys);
  }

  /** While the file is being opened anew it cannot be read: what was announced meanwhile is read at the next poll. */
  #tried<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch {
      return undefined;
    }
  }

  /** Announcements of others that were not read before. */
  #read(): (readonly string[])[] {
    const { db } = this.#environment;
    db.resetReadTxn();
    const latest = db.getEntry(LATEST)?.version;
    if (latest === this.#latest) return [];
    const found: (readonly string[])[] = [];
    for (let start: string | undefined = PREFIX; start !== undefined;) {
      let following: string | undefined;
      for (const { key, value } of db.getRange({ start, end: END })) {
        const name = String(key);
        const block = Versions.blockOf(Number(name.slice(PREFIX.length)));
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
    this.#latest = latest;
    return found;
  }

  /** Deletes what is older than an hour, whoever announced it. */
  #prune(): void {
    const { db } = this.#environment;
    const expired = Date.now() - RETENTION_MS;
    const stale = [...db.getRange({ start: PREFIX, end: END })].filter(({ value }) => parsed(value).at < expired).map(({ key }) => key);
    if (stale.length > 0) db.batch(() => stale.forEach((key) => void db.remove(key))).catch(() => undefined);
  }
}

function parsed(value: Uint8Array): Announcement {
  return JSON.parse(Buffer.from(value).toString()) as Announcement;
}

function entryKey(version: number): string {
  return PREFIX + String(version).padStart(16, '0');
}

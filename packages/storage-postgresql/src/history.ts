import { StorageFailure } from '@strongroom/storage-sdk';
import type { StorageLog } from '@strongroom/storage-sdk';
import type { Query } from './query.ts';
import { NAME } from './failure.ts';
import type { Identity } from './session.ts';

/** More versions than a server can have given that are lost: the next history begins behind all of them. */
const VERSIONS_PER_HISTORY = 2 ** 32;

/** The tables that say which history the store is in. */
export interface HistoryTables {
  readonly table: string;
  readonly state: string;
  readonly versions: string;
  readonly notifications: string;
  /** The table of the entries, as a quoted identifier. Set here when it is found to be another. */
  entries: string;
}

/**
 * Which past the database has: the cluster's identifier and its timeline. A promoted standby, a restored backup and another database have
 * another past, in which commits of this process may never have happened. Then the versions go on behind all that were given, and whoever
 * keeps copies hears of it before anything is read or written there.
 */
export class History {
  readonly #log: StorageLog;
  readonly #changed: () => void;
  #tables: HistoryTables | undefined;
  #current: Identity | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** Rises with each change: what began in one epoch is not written in the next. */
  epoch = 0;
  /** Rises with each change of the server's own past, in which acknowledged commits may never have happened. Not with a replacement, which waits for commits. */
  past = 0;

  constructor(log: StorageLog, changed: () => void) {
    this.#log = log;
    this.#changed = changed;
  }

  /** Whether the server tells its history. */
  get known(): boolean {
    return this.#current !== undefined;
  }

  /** Whether what is found is the history that this process knows; false where none is known. */
  isCurrent(found: Identity | undefined): boolean {
    return found !== undefined && this.#current?.system === found.system && this.#current.timeline === found.timeline;
  }

  /**
   * The entries are in the table of this name from here on. Where that is news, what began before is not written there, and `tell` has every listener hear of
   * it before anything is read there.
   */
  replaced(name: string | null, tell = true): void {
    const entries = name && `"${name}"`;
    if (!this.#tables || !entries || this.#tables.entries === entries) return;
    this.#tables.entries = entries;
    this.epoch += 1;
    this.#log.info('the store was replaced by another: everything is read again', { table: name });
    if (tell) this.#changed();
  }

  /** The server has crashed and recovered. All commits that were answered are there, but some notifications may never be read. */
  recovered(): void {
    this.#log.warn('PostgreSQL has recovered from a crash, or its statistics were reset: everything is read again');
    this.#changed();
  }

  /** Looks which table has the entries. Never rejects. */
  async look(query: (text: string) => Promise<{ rows: { entries: string | null }[] }>): Promise<void> {
    if (!this.#tables) return;
    try {
      const { rows } = await query(`SELECT entries FROM ${this.#tables.state}`);
      this.replaced(rows[0]?.entries ?? null);
    } catch {
      // The next one looks again.
    }
  }

  /** Takes up the history that the store is in, once its tables are there. @throws what pg throws */
  async begin(tables: HistoryTables, found: Identity | undefined, query: Query): Promise<void> {
    this.#tables = tables;
    if (found === undefined) {
      this.#log.warn('PostgreSQL does not show its history to this user, so a failover that lost commits goes unnoticed', {
        needed: 'EXECUTE on pg_control_system(), pg_walfile_name() and pg_current_wal_lsn()',
      });
      return;
    }
    await settle(tables, found, query);
    this.#current = found;
  }

  /**
   * To be called with what a new connection leads to, before it is used. Resolves when the store is settled in that history, and every listener
   * has been notified.
   * @throws StorageFailure for a server that was left behind by a failover, and what pg throws
   */
  async meet(found: Identity | undefined, query: Query): Promise<void> {
    if (this.#current === undefined || this.isCurrent(found)) return;
    const turn = this.#turn.then(() => this.#meet(found, query));
    this.#turn = turn.catch(() => undefined);
    await turn;
  }

  async #meet(found: Identity | undefined, query: Query): Promise<void> {
    const before = this.#current;
    if (!this.#tables || !before || this.isCurrent(found)) return;
    if (!found) throw new StorageFailure(NAME, 'PostgreSQL no longer tells its history: its user lacks a privilege that it had');
    if (found.system === before.system && found.timeline < before.timeline)
      throw new StorageFailure(
        NAME,
        `this server was left behind by a failover: it is on timeline ${found.timeline}, and the store went on with timeline ${before.timeline}`,
      );
    await settle(this.#tables, found, query);
    this.#current = found;
    this.epoch += 1;
    this.past += 1;
    this.#log.warn(
      'PostgreSQL has another history since a failover or a restore: everything is read again; commits acknowledged before may be lost',
      {
        timeline: found.timeline,
        previous_timeline: before.timeline,
        same_cluster: found.system === before.system,
      },
    );
    this.#changed();
  }
}

/** One node moves the versions; the others find it done. */
async function settle({ table, state, versions, notifications }: HistoryTables, found: Identity, query: Query): Promise<void> {
  await query('BEGIN');
  try {
    await query("SELECT pg_advisory_xact_lock(hashtextextended('strongroom ' || $1, 0))", [table]);
    const { rows } = await query<{ system: string; timeline: string }>(`SELECT system, timeline FROM ${state} FOR UPDATE`);
    const [stored] = rows;
    if (stored?.system !== found.system || Number(stored.timeline) !== found.timeline) {
      await query(`SELECT setval('${versions}', (SELECT last_value FROM ${versions}) + ${VERSIONS_PER_HISTORY})`);
      // Their transaction numbers count for the history that they were made in. Who has yet to notice this one drops all its copies then.
      await query(`DELETE FROM ${notifications}`);
      await query(
        `INSERT INTO ${state} (one, system, timeline) VALUES (true, $1, $2)
         ON CONFLICT (one) DO UPDATE SET system = excluded.system, timeline = excluded.timeline, pruned = 0`,
        [found.system, found.timeline],
      );
    }
    // Durable on its own: what follows relies on it.
    await query('SET LOCAL synchronous_commit TO on; COMMIT');
  } catch (error) {
    await query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

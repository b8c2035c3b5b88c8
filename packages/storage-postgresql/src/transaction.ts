import type { Change } from '@strongroom/storage-sdk';
import { keysOf, outcomeOf, type Outcome } from './batch.ts';
import type { Connections, Use } from './connections.ts';
import type { Query } from './query.ts';
import type { Schema } from './schema.ts';
import { IDENTITY, lastOf, LIMITS, readIdentity, type IdentityRow } from './session.ts';

/** How far a transaction has come. */
export interface Progress {
  /** How it is found again, once COMMIT was sent. */
  committing: SentCommit | undefined;
  /** For each change the key of its conflict, once they are known. */
  conflicts: readonly (string | undefined)[];
}

/** A transaction whose COMMIT was sent. */
export interface SentCommit {
  readonly txid: string;
  /** Of the server that gave it its number. */
  readonly incarnation: string;
  /** The table that it wrote to, as a quoted identifier. */
  readonly entries: string;
  /** By key; undefined where it removed the record. */
  readonly written: ReadonlyMap<string, Uint8Array | undefined>;
}

/** Another transaction inserted a key between our read and our insert. */
class Overtaken extends Error {
  /** PostgreSQL's own code for what can succeed when tried again. */
  readonly code = '40001';
  override readonly message = 'other processes keep inserting the same keys';
}

/** Behind a pooler another server, with another past, has taken the place of the one that was met. */
export class AnotherHistory extends Error {}

/** A commit that PostgreSQL made on this server alone. */
export class Unreplicated extends Error {}

interface BeginRow extends IdentityRow {
  readonly txid: string;
}

/** The setting can change while the server runs, and is another server's own after a failover: so it is looked at in each transaction. */
const DURABLE = "CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END";

/** Writes changes, all in one transaction. */
export class Transaction {
  readonly #connections: Connections;
  readonly #schema: Schema;
  readonly #origin: string;

  constructor(connections: Connections, schema: Schema, origin: string) {
    this.#connections = connections;
    this.#schema = schema;
    this.#origin = origin;
  }

  /**
   * Begins a transaction that waits no longer for a lock than this. Its number tells afterwards what became of it.
   * What a pooler forgets between transactions is set in each.
   */
  async begin(query: Query, lockMs: number): Promise<string> {
    const { sharesSessions, history } = this.#connections;
    const settings: Record<string, string | number> = sharesSessions ? { ...LIMITS, lock_timeout: lockMs } : { lock_timeout: lockMs };
    const set = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`);
    const identified = sharesSessions && history.known;
    const read = `txid_current()::text AS txid${identified ? `, ${IDENTITY}` : ''}`;
    const { rows } = lastOf(await query<BeginRow>(`BEGIN ISOLATION LEVEL READ COMMITTED; SELECT ${read}, ${DURABLE}, ${set.join(', ')}`));
    const [row] = rows as [BeginRow];
    if (identified && !history.isCurrent(readIdentity(row))) throw new AnotherHistory('another server stands in for the one that was met');
    return row.txid;
  }

  /** Fills in `progress` as it goes on. @throws what pg throws */
  async run(
    { query, synchronous, incarnation, unreplicated }: Use,
    changes: readonly Change[],
    lockMs: number,
    progress: Progress,
  ): Promise<void> {
    // That of the moment: what is found out meanwhile of another table must not have these changes written there.
    const { entries } = this.#schema;
    try {
      const txid = await this.begin(query, lockMs);
      const { conflicts, written } = await this.#write(query, entries, changes);
      progress.conflicts = conflicts;
      progress.committing = { txid, incarnation, entries, written };
      // A limit would end only the wait for the synchronous standby, and the commit would be answered without it.
      await query(synchronous ? 'SET LOCAL statement_timeout TO 0; COMMIT' : 'COMMIT');
    } catch (error) {
      if (!progress.committing) await query('ROLLBACK').catch(() => undefined);
      throw error;
    }
    if (unreplicated()) throw new Unreplicated();
  }

  async #write(
    query: Query,
    entries: string,
    changes: readonly Change[],
  ): Promise<Pick<SentCommit, 'written'> & Pick<Outcome, 'conflicts'>> {
    const keys = keysOf(changes);
    const found = new Map<string, number>();
    const simple = keys.length <= 1 && changes.every((change) => !change.expect?.length && !change.delete?.length);
    if (!simple) {
      // All transactions lock first what exists and then insert what does not, each in the order of keys: so they never deadlock.
      const { rows } = await query<{ key: string; version: string }>(
        `SELECT key, version FROM ${entries} WHERE key = ANY($1::text[]) ORDER BY key FOR UPDATE`,
        [keys],
      );
      for (const { key, version } of rows) found.set(key, Number(version));
    }
    const { conflicts, inserts, puts, deletes, changed } = outcomeOf(changes, found);
    if (simple)
      await this.#insert(query, entries, [...inserts, ...puts], '(key) DO UPDATE SET value = excluded.value, version = excluded.version');
    else {
      // An insert that is not committed yet keeps others from inserting the key: that is how absence is held fast.
      if ((await this.#insert(query, entries, [...inserts], 'DO NOTHING')) < inserts.size) throw new Overtaken();
      await this.#insert(query, entries, [...puts], '(key) DO UPDATE SET value = excluded.value, version = excluded.version');
    }
    const unwanted = [...inserts.keys()].filter((key) => inserts.get(key) === undefined);
    if (deletes.length + unwanted.length > 0)
      await query(`DELETE FROM ${entries} WHERE key = ANY($1::text[])`, [[...deletes, ...unwanted]]);
    if (changed.length > 0) await this.#notify(query, changed);
    const removed = [...deletes, ...unwanted].map((key) => [key, undefined] as const);
    return { conflicts, written: new Map<string, Uint8Array | undefined>([...inserts, ...puts, ...removed]) };
  }

  /** Values go as one binary string and are cut apart by the server. Gives the number of rows written. */
  async #insert(
    query: Query,
    entries: string,
    values: readonly (readonly [string, Uint8Array | undefined])[],
    onConflict: string,
  ): Promise<number> {
    if (values.length === 0) return 0;
    const { versions } = this.#schema;
    const keys: string[] = [];
    const starts: number[] = [];
    const lengths: number[] = [];
    const parts: Uint8Array[] = [];
    let position = 1;
    for (const [key, value] of values) {
      const length = value?.length ?? 0;
      keys.push(key);
      starts.push(position);
      lengths.push(length);
      if (value) parts.push(value);
      position += length;
    }
    const { rowCount } = await query(
      `INSERT INTO ${entries} (key, value, version)
       SELECT given.key, substr($4::bytea, given.start, given.length), (SELECT nextval('${versions}'))
       FROM unnest($1::text[], $2::int[], $3::int[]) AS given(key, start, length) ORDER BY given.key COLLATE "C"
       ON CONFLICT ${onConflict}`,
      [keys, starts, lengths, Buffer.concat(parts)],
    );
    return rowCount ?? 0;
  }

  async #notify(query: Query, keys: readonly string[]): Promise<void> {
    await query(
      `WITH announced AS (INSERT INTO ${this.#schema.notifications} (origin, keys) VALUES ($1, $2::text[]) RETURNING id)
       SELECT pg_notify($3, $1 || ' ' || id) FROM announced`,
      [this.#origin, keys, this.#schema.channel],
    );
  }
}

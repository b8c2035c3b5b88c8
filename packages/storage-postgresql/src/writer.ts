import { Conflict } from '@strongroom/storage-sdk';
import type { Change, StorageFailure } from '@strongroom/storage-sdk';
import { keysOf, outcomeOf } from './batch.ts';
import type { Connections, Query } from './connections.ts';
import { isAnswer, isCollision } from './failure.ts';
import type { Schema } from './schema.ts';

const MAX_CHANGES = 128;
const MAX_BYTES = 8 * 2 ** 20;
const ATTEMPTS = 20;

interface Waiting {
  readonly change: Change;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: Conflict | StorageFailure) => void;
}

/** Another transaction inserted a key between our look at it and our insert. */
class Overtaken extends Error {
  /** PostgreSQL's own code for what can succeed when tried again. */
  readonly code = '40001';
  override readonly message = 'other processes keep inserting the same keys';
}

/** Commits that wait for a connection share the next transaction; each succeeds or fails on its own. */
export class Writer {
  readonly #connections: Connections;
  readonly #schema: Schema;
  readonly #origin: string;
  readonly #parallel: number;
  #queue: Waiting[] = [];
  #running = 0;
  #scheduled = false;
  #idle: (() => void) | undefined;

  constructor(connections: Connections, schema: Schema, origin: string, parallel: number) {
    this.#connections = connections;
    this.#schema = schema;
    this.#origin = origin;
    this.#parallel = parallel;
  }

  /** @throws Conflict, StorageFailure */
  commit(change: Change): Promise<void> {
    return new Promise((resolve, reject) => {
      const bytes = (change.put ?? []).reduce((sum, { key, value }) => sum + key.length + value.length, 0);
      this.#queue.push({ change, bytes, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves once nothing waits or runs. */
  drained(): Promise<void> {
    if (this.#running === 0 && this.#queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#idle = resolve));
  }

  /** At the end of the turn, so that commits made in it come along. */
  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#parallel) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#running < this.#parallel && this.#queue.length > 0) {
        this.#running += 1;
        void this.#run(this.#take()).finally(() => {
          this.#running -= 1;
          if (this.#queue.length > 0) this.#schedule();
          else if (this.#running === 0) this.#idle?.();
        });
      }
    });
  }

  #take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#queue) {
      bytes += waiting.bytes;
      if (count > 0 && (count === MAX_CHANGES || bytes > MAX_BYTES)) break;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    try {
      const conflicts = await this.#persist(batch.map(({ change }) => change));
      batch.forEach(({ resolve, reject }, i) => {
        const key = conflicts[i];
        if (key === undefined) resolve();
        else reject(new Conflict(key));
      });
    } catch (error) {
      if (batch.length > 1 && isAnswer(error)) {
        // One of them the server will not have: find out which.
        for (const each of batch) await this.#run([each]);
        return;
      }
      const failure = this.#connections.failure(error);
      for (const { reject } of batch) reject(failure);
    }
  }

  /** Gives the key of the conflict for each change that has one. */
  async #persist(changes: readonly Change[]): Promise<readonly (string | undefined)[]> {
    let lost = false;
    for (let attempt = 1; ; attempt++) {
      const progress = { committing: false };
      try {
        return await this.#connections.use((query) => this.#transact(query, changes, progress));
      } catch (error) {
        if (attempt === ATTEMPTS) throw error;
        if (isCollision(error)) continue;
        // The pool may have kept a connection that the server closed long ago. Once COMMIT was sent its result is unknown.
        if (isAnswer(error) || progress.committing || lost) throw error;
        lost = true;
      }
    }
  }

  async #transact(query: Query, changes: readonly Change[], progress: { committing: boolean }): Promise<readonly (string | undefined)[]> {
    const { entries, begin } = this.#schema;
    await query(begin);
    try {
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
      const { conflicts, inserts, puts, deletes, announced } = outcomeOf(changes, found);
      if (simple)
        await this.#insert(query, [...inserts, ...puts], '(key) DO UPDATE SET value = excluded.value, version = excluded.version');
      else {
        // An insert that is not committed yet keeps others from inserting the key: that is how absence is held fast.
        if ((await this.#insert(query, [...inserts], 'DO NOTHING')) < inserts.size) throw new Overtaken();
        await this.#insert(query, [...puts], '(key) DO UPDATE SET value = excluded.value, version = excluded.version');
      }
      const unwanted = [...inserts.keys()].filter((key) => inserts.get(key) === undefined);
      if (deletes.length + unwanted.length > 0)
        await query(`DELETE FROM ${entries} WHERE key = ANY($1::text[])`, [[...deletes, ...unwanted]]);
      if (announced.length > 0) await this.#announce(query, announced);
      progress.committing = true;
      await query('COMMIT');
      return conflicts;
    } catch (error) {
      if (!progress.committing) await query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  /** Values go as one binary string and are cut apart by the server. Gives the number of rows written. */
  async #insert(query: Query, values: readonly (readonly [string, Uint8Array | undefined])[], onConflict: string): Promise<number> {
    if (values.length === 0) return 0;
    const { entries, versions } = this.#schema;
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

  async #announce(query: Query, keys: readonly string[]): Promise<void> {
    await query(
      `WITH announced AS (INSERT INTO ${this.#schema.announcements} (origin, keys) VALUES ($1, $2::text[]) RETURNING id)
       SELECT pg_notify($3, $1 || ' ' || id) FROM announced`,
      [this.#origin, keys, this.#schema.channel],
    );
  }
}

import type { Client } from 'pg';
import { EVERYTHING, type ChangedKeys, type Staleness } from '@strongroom/storage-sdk';
import { destroy, queryOf } from './connections.ts';
import type { Connections } from './connections.ts';
import type { Schema } from './schema.ts';
import { IDENTITY, INCARNATION, readIdentity, type IdentityRow, type IncarnationRow } from './session.ts';

const READ_EVERY_MS = 1_000;
/** For connecting to one host, and for one reading: two of them that fail leave time for a third before copies count as stale. */
const LIMIT_MS = 3_000;
const PRUNE_MS = 60 * 1_000;
/** How long notifications are kept for processes that do not read them. */
const KEPT = '10 minutes';
/** Notifications that one reading removes, at most: it has to end in time. */
const PRUNED_AT_ONCE = 5_000;

type Heard = (changed: ChangedKeys) => void;

interface Row extends IdentityRow, IncarnationRow {
  readonly xmin: string;
  readonly pruned: string;
  /** The table of the entries; null for the first. */
  readonly entries: string | null;
  /** Null where there are no notifications. */
  readonly id: string | null;
  readonly origin: string | null;
  readonly keys: string[] | null;
}

/** Transactions below this number have been read, in the history of that epoch and in that life of the server. */
interface Position extends IncarnationRow {
  readonly xmin: bigint;
  readonly epoch: number;
}

/** When notifications are read; tests hold it up. */
export interface ReadingClock {
  /** Whether the next reading has to wait. */
  paused(): boolean;
}

/**
 * Reads the change notifications of other processes, every second and whenever it is poked, on a connection of its own. Each reading begins
 * with the oldest transaction that was under way during the one before, however long that takes to commit: whatever was not visible then has
 * a number that is as high. So some notifications are found twice, and the ids of the last reading are remembered.
 */
export class ChangeNotifications {
  readonly #connections: Connections;
  readonly #schema: Schema;
  readonly #origin: string;
  readonly #heard: Heard;
  readonly #clock: ReadingClock | undefined;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #position: Position | undefined;
  #seen: ReadonlySet<string> = new Set();
  #pruned = 0n;
  /** Monotonic: when the last reading that succeeded began. */
  #readAt = performance.now();
  #failure: string | undefined;
  #pruneAt = 0;

  constructor(connections: Connections, schema: Schema, origin: string, heard: Heard, clock?: ReadingClock) {
    this.#connections = connections;
    this.#schema = schema;
    this.#origin = origin;
    this.#heard = heard;
    this.#clock = clock;
  }

  /** Notifications from here on are delivered. @throws what pg throws */
  async start(): Promise<void> {
    while (!this.#position) await this.#read();
    this.#later();
  }

  staleness(): Staleness {
    const millis = performance.now() - this.#readAt;
    if (millis < LIMIT_MS) return { millis };
    return { millis, reason: this.#failure ?? 'PostgreSQL does not answer' };
  }

  /** There may be more to read. */
  poke(): void {
    if (this.#closed) return;
    if (this.#reading) this.#again = true;
    else this.#tryToRead();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (this.#client) destroy(this.#client);
    await this.#reading;
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.poke(), READ_EVERY_MS).unref();
  }

  #tryToRead(): void {
    if (this.#clock?.paused()) return this.#later();
    this.#reading = this.#read()
      .catch((error: unknown) => {
        this.#failure = this.#connections.failure(error).reason;
        if (this.#client) destroy(this.#client);
        this.#client = undefined;
      })
      .then(() => {
        this.#reading = undefined;
        const again = this.#again && this.#failure === undefined;
        this.#again = false;
        if (this.#closed) return;
        if (again) this.#tryToRead();
        else this.#later();
      });
  }

  async #read(): Promise<void> {
    const client = (this.#client ??= await this.#connect());
    const query = queryOf(client);
    const began = performance.now();
    const { epoch, known } = this.#connections.history;
    const position = this.#position?.epoch === epoch ? this.#position : undefined;
    // A new history begins with no notifications: all that are there now were made in it.
    const from = position?.xmin ?? (this.#position ? 0n : undefined);
    const { rows } = await query<Row>(this.#text(known), [from === undefined ? null : String(from), this.#origin]);
    const [first] = rows;
    if (!first) throw new Error(`the table ${this.#schema.state} is empty`);
    if (known && !this.#connections.history.isCurrent(readIdentity(first))) {
      // Behind a pooler another server stands in without a word. A new connection meets its history.
      destroy(client);
      this.#client = undefined;
      this.#again = true;
      return;
    }
    this.#connections.history.replaced(first.entries);
    if (epoch !== this.#connections.history.epoch || this.#closed) return void (this.#again = true);
    this.#take(rows, first, position, epoch);
    this.#readAt = began;
    this.#failure = undefined;
    await this.#prune(client);
  }

  #take(rows: readonly Row[], { incarnation, ...first }: Row, before: Position | undefined, epoch: number): void {
    const [xmin, pruned] = [BigInt(first.xmin), BigInt(first.pruned)];
    const found = rows.filter((row): row is Row & { id: string; keys: string[] } => row.id !== null);
    const seen = this.#seen;
    this.#seen = new Set(found.map(({ id }) => id));
    this.#position = { xmin, epoch, incarnation };
    const removed = before !== undefined && pruned > this.#pruned && pruned >= before.xmin;
    this.#pruned = pruned;
    // A crash sets the numbers back: some may be below those that were read.
    if (before !== undefined && incarnation !== before.incarnation) return this.#connections.history.recovered();
    // Some were removed before they were read here, or the transactions count again.
    if (removed || (before !== undefined && xmin < before.xmin)) return this.#heard(EVERYTHING);
    for (const { id, origin, keys } of found) if (origin !== this.#origin && !seen.has(id)) this.#heard(keys);
  }

  #text(withIdentity: boolean): string {
    const { notifications, state } = this.#schema;
    return `SELECT txid_snapshot_xmin(txid_current_snapshot())::text AS xmin, state.pruned, state.entries, announced.id, announced.origin, announced.keys, ${INCARNATION},
        ${withIdentity ? IDENTITY : 'NULL AS system, NULL AS timeline'}
      FROM ${state} AS state LEFT JOIN ${notifications} AS announced ON announced.txid >= $1::bigint AND announced.origin <> $2
      ORDER BY announced.id`;
  }

  async #connect(): Promise<Client> {
    const client = await this.#connections.single({ purpose: 'announcements', limitMs: LIMIT_MS });
    const lost = (): void => {
      if (this.#client === client) this.#client = undefined;
    };
    client.on('error', lost).on('end', lost);
    if (this.#closed) destroy(client);
    return client;
  }

  /**
   * Removes what has been kept for long enough, whichever process wrote it, and records up to which transaction. What a reading may still begin with stays, however long the
   * transaction takes that it waits for.
   */
  async #prune(client: Client): Promise<void> {
    if (performance.now() < this.#pruneAt) return;
    this.#pruneAt = performance.now() + PRUNE_MS;
    const { notifications, state } = this.#schema;
    const { rows } = await queryOf(client)<{ removed: string }>(
      `WITH old AS (SELECT id FROM ${notifications} WHERE at < now() - interval '${KEPT}' AND txid < txid_snapshot_xmin(txid_current_snapshot())
         ORDER BY at LIMIT ${PRUNED_AT_ONCE} FOR UPDATE SKIP LOCKED),
       gone AS (DELETE FROM ${notifications} WHERE id IN (SELECT id FROM old) RETURNING txid),
       noted AS (UPDATE ${state} SET pruned = GREATEST(pruned, (SELECT max(txid) FROM gone)) WHERE EXISTS (SELECT FROM gone))
       SELECT count(*) AS removed FROM gone`,
    );
    if (Number(rows[0]?.removed) === PRUNED_AT_ONCE) this.#pruneAt = 0;
  }
}

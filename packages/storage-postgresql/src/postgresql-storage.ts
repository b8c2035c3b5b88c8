import { randomUUID } from 'node:crypto';
import type { QueryResultRow } from 'pg';
import { checkKeys, EVERYTHING, keyProblem, Lifetime } from '@strongroom/storage-sdk';
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
import { readConnectionUrl } from './connection-url.ts';
import { Connections } from './connections.ts';
import { NAME } from './failure.ts';
import { Listener } from './listener.ts';
import { NewTable } from './new-table.ts';
import { Reader } from './reader.ts';
import { prepareSchema } from './schema.ts';
import type { Schema } from './schema.ts';
import { checkLimits, IDENTITY, LIMITS, readIdentity, type IdentityRow } from './session.ts';
import { TableCopy } from './table-copy.ts';
import { Transaction } from './transaction.ts';
import { Writer } from './writer.ts';

export interface PostgresqlOptions {
  /**
   * `postgresql://user:password@host:port/database`, with parameters such as `?sslmode=verify-full`. Several hosts are separated by commas;
   * then only one that takes writes is used. An unknown parameter is refused.
   */
  readonly connectionUrl: string;
  /** Letters, digits and `_`, at most 40. A sequence and two more tables are named after it. Default: `strongroom_store`. */
  readonly table?: string;
  /** Most connections at once, besides the two for notifications. At least 3; default: 10. */
  readonly poolSize?: number;
  /** Hears of a pooler, of what a failover can lose, and of failovers. Default: nobody. */
  readonly log?: StorageLog;
  /** Holds up the reading of notifications: for tests. */
  readonly reading?: ReadingClock;
}

type ChangeListener = (changed: ChangedKeys) => void;

const silent: StorageLog = { info: () => undefined, warn: () => undefined };

const EMPTY = new Uint8Array(0);

/**
 * Storage in one PostgreSQL table, for any number of nodes. Creates what is missing.
 * @throws StorageFailure when PostgreSQL cannot be reached or refuses, for a connection URL with an unknown parameter, and where the time limits
 *   of sessions cannot be set.
 */
export async function postgresqlStorage(options: PostgresqlOptions): Promise<StorageDriver> {
  const poolSize = Math.max(3, options.poolSize ?? 10);
  const log = options.log ?? silent;
  const listeners = new Set<ChangeListener>();
  const tell = (changed: ChangedKeys): void => {
    for (const listener of [...listeners]) listener(changed);
  };
  const connections = new Connections(readConnectionUrl(options.connectionUrl), poolSize, log, () => tell(EVERYTHING));
  let driver: PostgresqlStorage | undefined;
  try {
    const schema = await prepareSchema(connections, options.table ?? 'strongroom_store');
    await beginHistory(connections, schema);
    driver = new PostgresqlStorage({ connections, schema, poolSize, listeners, tell, reading: options.reading });
    await driver.start(log);
    await warnOfLoss(connections, log);
    return driver;
  } catch (error) {
    await (driver ?? connections).close();
    throw connections.failure(error);
  }
}

async function beginHistory(connections: Connections, schema: Schema): Promise<void> {
  await connections.use(async ({ query }) => {
    const found = await query<IdentityRow>(`SELECT ${IDENTITY}`).then(
      ({ rows }) => readIdentity(rows[0]),
      () => undefined,
    );
    await connections.history.begin(schema, found, query);
  });
}

interface DurabilityRow {
  readonly fsync: string;
  readonly names: string;
  readonly commit: string;
  readonly standbys: number;
}

const READ_DURABILITY = `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_standby_names') AS names,
  current_setting('synchronous_commit') AS commit, (SELECT count(*)::int FROM pg_stat_replication) AS standbys`;

/** Of what the server's own settings can lose: a standby that a commit does not wait for may lack the newest ones when it takes over. */
async function warnOfLoss(connections: Connections, log: StorageLog): Promise<void> {
  const [row] = (await connections.read<DurabilityRow & QueryResultRow>(READ_DURABILITY, [])) as [DurabilityRow];
  const { fsync, names, commit, standbys } = row;
  if (fsync === 'off')
    log.warn('fsync is off on the PostgreSQL server: a crash of its machine can lose commits that were acknowledged, or damage the store', {
      remedy: 'set fsync to on',
    });
  const noneNamed = names.trim() === '';
  if (standbys > 0 && (noneNamed || commit === 'local'))
    log.warn('PostgreSQL has standbys, and no commit waits for them: a failover can lose commits that were acknowledged', {
      standbys,
      remedy: noneNamed ? 'set synchronous_standby_names on the PostgreSQL server' : 'set synchronous_commit to on, or to remote_apply',
    });
}

interface Parts {
  readonly connections: Connections;
  readonly schema: Schema;
  readonly poolSize: number;
  readonly listeners: Set<ChangeListener>;
  readonly tell: ChangeListener;
  readonly reading: ReadingClock | undefined;
}

class PostgresqlStorage implements StorageDriver {
  readonly name = NAME;
  readonly code = [new URL('.', import.meta.url).href, 'pg', 'pg-protocol', 'pg-pool', 'pg-connection-string', 'knex'];
  readonly shared = true;
  readonly #connections: Connections;
  readonly #schema: Schema;
  readonly #reader: Reader;
  readonly #writer: Writer;
  readonly #notifications: ChangeNotifications;
  readonly #listener: Listener;
  readonly #transaction: Transaction;
  readonly #origin: string;
  readonly #listeners: Set<ChangeListener>;
  readonly #lifetime = new Lifetime(NAME, async () => this.#close());

  constructor({ connections, schema, poolSize, listeners, tell, reading }: Parts) {
    const origin = (this.#origin = randomUUID());
    this.#connections = connections;
    this.#schema = schema;
    this.#listeners = listeners;
    this.#reader = new Reader(connections, schema, Math.min(4, Math.ceil(poolSize / 2)));
    this.#writer = new Writer(connections, schema, origin, Math.max(2, Math.min(3, Math.floor(poolSize / 2))));
    this.#transaction = new Transaction(connections, schema, origin);
    this.#notifications = new ChangeNotifications(connections, schema, origin, tell, reading);
    this.#listener = new Listener(connections, schema, origin, () => this.#notifications.poke());
  }

  /** @throws what pg throws, and StorageFailure where the time limits are not in force */
  async start(log: StorageLog): Promise<void> {
    await this.#notifications.start();
    await this.#listener.start();
    if (!(await this.#listener.works())) {
      this.#connections.sharesSessions = true;
      log.warn(
        'LISTEN does not work over this connection URL, as behind a pooler in transaction mode: notifications are read every second',
        {
          remedy: 'let the connection URL lead to PostgreSQL itself, or to a pooler in session mode',
        },
      );
    }
    await this.#checkLimits();
  }

  /** As a commit has them: whatever stands between may have dropped what the session was given. */
  async #checkLimits(): Promise<void> {
    await this.#connections.use(async ({ query }) => {
      await this.#transaction.begin(query, LIMITS.lock_timeout);
      await checkLimits(query, LIMITS);
      await query('ROLLBACK');
    });
  }

  async get(key: string): Promise<Stored | undefined> {
    this.#lifetime.assertOpen();
    return keyProblem(key) === undefined ? this.#reader.get(key) : undefined;
  }

  async range(query: RangeQuery): Promise<StoredEntry[]> {
    this.#lifetime.assertOpen();
    const bounds = boundsOf(query);
    if (!bounds || (query.limit ?? 1) <= 0) return [];
    const { conditions, values } = bounds;
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
    const limit = query.limit === undefined ? '' : `LIMIT ${Math.ceil(query.limit)}`;
    const rows = await this.#connections.read<{ key: string; value?: Buffer; version: string }>(
      () =>
        `SELECT key, version${query.keysOnly ? '' : ', value'} FROM ${this.#schema.entries} ${where} ORDER BY key ${query.reverse ? 'DESC' : ''} ${limit}`,
      values,
    );
    return rows.map(({ key, value, version }) => ({ key, value: value ?? EMPTY, version: Number(version) }));
  }

  async commit(change: Change): Promise<void> {
    this.#lifetime.assertOpen();
    checkKeys(NAME, change);
    await this.#writer.commit(change);
  }

  changes(listener: ChangeListener): Unsubscribe {
    this.#lifetime.assertOpen();
    const entry: ChangeListener = (keys) => listener(keys);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  staleness(): Staleness {
    return this.#notifications.staleness();
  }

  async copy(): Promise<StoreCopy> {
    this.#lifetime.assertOpen();
    return TableCopy.open(this.#connections, this.#schema);
  }

  async replace(): Promise<Replacement> {
    this.#lifetime.assertOpen();
    return NewTable.begin(this.#connections, this.#schema, this.#origin);
  }

  close(): Promise<void> {
    return this.#lifetime.close();
  }

  async #close(): Promise<void> {
    this.#listeners.clear();
    await this.#writer.drained();
    this.#listener.close();
    await this.#notifications.close();
    await this.#connections.close();
  }
}

import knex from 'knex';
import type { Knex } from 'knex';
import { Client } from 'pg';
import type { QueryResultRow } from 'pg';
import { StorageFailure } from '@strongroom/storage-sdk';
import type { StorageLog } from '@strongroom/storage-sdk';
import type { ConnectionUrl, Host } from './connection-url.ts';
import { asFailure, isAnswer, isElsewhere, isGone, NAME } from './failure.ts';
import { History } from './history.ts';
import { beginSession } from './session.ts';
import { shown } from './shown.ts';
import type { Query } from './query.ts';

/** With one host there is nothing better to do than to wait for it. */
const CONNECT_MS = 10_000;
const CONNECT_TO_ONE_OF_SEVERAL_MS = 2_000;
/** For a connection of the pool to become free, beyond the time that making one may take. */
const ACQUIRE_MS = 2_000;
const QUERY_MS = 20_000;
const silent = (): void => undefined;

/** A connection as the pool keeps it. */
interface Pooled extends Client {
  /** Why it is not to be used again. */
  __knex__disposed?: unknown;
}

/** What somebody may do with a connection while he has it. */
export interface Use {
  readonly query: Query;
  /** Whether commits wait for a standby, as far as was known when the connection was made. */
  readonly synchronous: boolean;
  /** Of the server, at the latest when the connection was made. */
  readonly incarnation: string;
  /** True once PostgreSQL has said that a commit did not wait for its synchronous standby. Reading it forgets it. */
  unreplicated(): boolean;
}

export interface SingleOptions {
  /** Shown by PostgreSQL behind the application's name. */
  readonly purpose: string;
  /** For each host, and for each query. */
  readonly limitMs: number;
}

/** Connections to whichever host takes writes: a pool, and single ones. A connection that fails is thrown away, so that the next use gets a new one. */
export class Connections {
  readonly history: History;
  readonly #url: ConnectionUrl;
  readonly #knex: Knex;
  readonly #connectMs: number;
  /** All that are in the pool. */
  readonly #pooled = new Set<Pooled>();
  /** What each connection was when it was made; its history is that of the epoch. */
  readonly #made = new WeakMap<Client, { readonly epoch: number; readonly synchronous: boolean; readonly incarnation: string }>();
  readonly #unreplicated = new WeakSet<Client>();
  /** Errors of logins. PostgreSQL has not accepted then what the connection URL says, and may quote it. */
  readonly #ofLogins = new WeakSet<object>();
  /** The host that served last: tried first. */
  #preferred: Host | undefined;
  /** A pooler gives each transaction another session: what is to hold must be set in each. */
  sharesSessions = false;

  constructor(url: ConnectionUrl, poolSize: number, log: StorageLog, everythingChanged: () => void) {
    this.#url = url;
    this.#connectMs = url.connectMs ?? (url.hosts.length > 1 ? CONNECT_TO_ONE_OF_SEVERAL_MS : CONNECT_MS);
    this.history = new History(log, everythingChanged);
    this.#knex = knex({
      client: 'pg',
      connection: {},
      pool: { min: 0, max: poolSize },
      // A connection that cannot be made is reported before the pool gives up waiting for it.
      acquireConnectionTimeout: url.hosts.length * this.#connectMs + ACQUIRE_MS,
      log: { warn: silent, error: silent, debug: silent, deprecate: silent },
    });
    // The pool is knex's; which host a connection leads to, and how it begins, is decided here.
    Object.assign(this.#knex.client as object, { acquireRawConnection: () => this.#connectForPool() });
  }

  get severalHosts(): boolean {
    return this.#url.hosts.length > 1;
  }

  failure(error: unknown): StorageFailure {
    const { secrets, user, unshown } = this.#url;
    const isOfLogin = typeof error === 'object' && error !== null && this.#ofLogins.has(error);
    return asFailure(error, { secrets, user, unshown: isOfLogin ? unshown : [] });
  }

  /** Runs `work` on one connection. What it throws is passed on as it is. */
  async use<T>(work: (use: Use) => Promise<T>): Promise<T> {
    const client = this.#knex.client as Knex.Client;
    let connection = (await client.acquireConnection()) as Pooled;
    let made = this.#made.get(connection);
    while (made?.epoch !== this.history.epoch) {
      drop(connection, 'it leads to another history');
      await client.releaseConnection(connection);
      connection = (await client.acquireConnection()) as Pooled;
      made = this.#made.get(connection);
    }
    try {
      const query: Query = (text, values) => connection.query(text, values as unknown[] | undefined);
      const { synchronous, incarnation } = made;
      return await work({ query, synchronous, incarnation, unreplicated: () => this.#unreplicated.delete(connection) });
    } catch (error) {
      if (isGone(error)) await this.history.look((text) => connection.query(text));
      if (isElsewhere(error)) this.#leave(error);
      // After an error in a transaction, or without an answer, the state of the connection is unknown.
      else if (!isAnswer(error)) drop(connection, error);
      throw error;
    } finally {
      await client.releaseConnection(connection);
    }
  }

  /**
   * A read, once more when its connection turns out to be dead, as a pool keeps connections that the server has closed, or when the store was replaced.
   * @throws StorageFailure
   */
  async read<Row extends QueryResultRow>(text: string | (() => string), values: readonly unknown[]): Promise<Row[]> {
    const once = async (): Promise<Row[]> =>
      (await this.use(({ query }) => query<Row>(typeof text === 'string' ? text : text(), values))).rows;
    try {
      return await once().catch((error: unknown) => {
        if (isAnswer(error) && !isGone(error)) throw error;
        return once();
      });
    } catch (error) {
      throw this.failure(error);
    }
  }

  /** A connection beside the pool. What becomes of it is its owner's: errors come as its event `error`. @throws what pg throws */
  async single({ purpose, limitMs }: SingleOptions): Promise<Client> {
    return this.#connect(purpose, Math.min(limitMs, this.#connectMs), limitMs);
  }

  async close(): Promise<void> {
    await this.#knex.destroy();
  }

  async #connectForPool(): Promise<Pooled> {
    const connection = (await this.#connect(undefined, this.#connectMs, QUERY_MS)) as Pooled;
    const gone = (reason?: unknown): void => {
      connection.__knex__disposed ??= reason ?? 'it ended';
      this.#pooled.delete(connection);
    };
    connection.on('error', gone).on('end', () => gone());
    this.#pooled.add(connection);
    return connection;
  }

  /** The server takes no writes any more: no other connection to it is of use either. */
  #leave(reason: unknown): void {
    for (const connection of this.#pooled) connection.__knex__disposed ??= reason;
    this.#preferred = undefined;
  }

  async #connect(purpose: string | undefined, connectMs: number, queryMs: number): Promise<Client> {
    const failures: [host: Host, error: unknown][] = [];
    for (const host of this.#inOrder()) {
      try {
        const client = await this.#connectTo(host, purpose, connectMs, queryMs);
        this.#preferred = host;
        return client;
      } catch (error) {
        failures.push([host, error]);
      }
    }
    const [first] = failures;
    if (failures.length === 1) throw first?.[1];
    const reasons = failures.map(([{ host, port }, error]) => `${shown(host)}:${port}: ${this.failure(error).reason}`).join('; ');
    throw new StorageFailure(NAME, `no host of the connection URL can be used: ${reasons}`);
  }

  async #connectTo(host: Host, purpose: string | undefined, connectMs: number, queryMs: number): Promise<Client> {
    const client = new Client({
      ...this.#url.configFor(host, purpose),
      connectionTimeoutMillis: connectMs,
      query_timeout: queryMs,
      keepAlive: true,
    });
    client.on('error', silent);
    client.on('notice', ({ routine }) => {
      if (routine === 'SyncRepWaitForLSN') this.#unreplicated.add(client);
    });
    try {
      await client.connect().catch((error: object) => {
        this.#ofLogins.add(error);
        throw error;
      });
      const query = queryOf(client, connectMs);
      const session = await beginSession(query);
      // A standby may be behind. Whoever reads on a server that is read-only reads what was written last.
      const unfit = this.#url.readWrite ? !session.writable : session.standby && this.history.known;
      if (unfit)
        throw new StorageFailure(
          NAME,
          `the server takes no writes: ${session.standby ? 'it is a standby' : 'default_transaction_read_only is on'}`,
        );
      await this.history.meet(session.identity, query);
      const { synchronous, incarnation } = session;
      this.#made.set(client, { epoch: this.history.epoch, synchronous, incarnation });
      return client;
    } catch (error) {
      destroy(client);
      throw error;
    }
  }

  #inOrder(): readonly Host[] {
    const { hosts, balanced } = this.#url;
    if (hosts.length === 1) return hosts;
    if (balanced)
      return hosts
        .map((host) => ({ host, at: Math.random() }))
        .sort((a, b) => a.at - b.at)
        .map(({ host }) => host);
    const preferred = this.#preferred;
    return preferred ? [preferred, ...hosts.filter((host) => host !== preferred)] : hosts;
  }
}

export function queryOf(client: Client, limitMs?: number): Query {
  return (text, values) =>
    client.query({ text, ...(values ? { values: [...values] } : {}), ...(limitMs === undefined ? {} : { query_timeout: limitMs }) });
}

/** Ends a connection at once: the other side may not answer any more. */
export function destroy(client: Client): void {
  const { connection } = client as { connection?: { stream?: { destroy(): void } } };
  connection?.stream?.destroy();
}

function drop(connection: Pooled, reason: unknown): void {
  connection.__knex__disposed = reason;
  destroy(connection);
}

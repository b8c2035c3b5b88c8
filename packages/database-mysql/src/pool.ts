import type { Knex } from 'knex';
import { abortable, ConnectionLost, type PoolStatus, SessionClosed } from '@strongroom/database-sdk';
import { type Dialer, type PooledConnection, query } from './dial.ts';
import { isConnectionError, isReadOnlyError } from './server-error.ts';

export interface PoolSettings {
  readonly maxOpen: number;
  readonly maxIdle: number;
  /** 0: connections are reused for ever. */
  readonly lifetimeMs: number;
}

/** What of knex's client is used: its pool. Statements go to the driver, because `knex.raw` rewrites `?`. */
interface KnexClient {
  acquireRawConnection(): Promise<PooledConnection>;
  destroyRawConnection(connection: PooledConnection): Promise<void>;
  acquireConnection(): Promise<PooledConnection>;
  releaseConnection(connection: PooledConnection): Promise<void>;
  readonly pool?: { numFree(): number; numPendingAcquires(): number };
}

/** How long a killed statement may take to end before its connection is cut. */
const KILL_GRACE_MS = 2000;
const IDLE_MS = 60_000;

const quiet = (): void => undefined;

/** Connections to one database, kept by knex. Makes none before the first use. */
export class ConnectionPool {
  readonly #knex: Knex;
  readonly #client: KnexClient;
  readonly #dialer: Dialer;
  readonly #settings: PoolSettings;
  /** Connections that the server has not closed and that were not thrown away. */
  readonly #open = new Set<PooledConnection>();
  readonly #busy = new Set<PooledConnection>();
  #closing: Promise<void> | undefined;

  constructor(knex: typeof import('knex').knex, dialer: Dialer, settings: PoolSettings) {
    this.#dialer = dialer;
    this.#settings = settings;
    const pool: Knex.PoolConfig & { maxConnectionLifetimeMillis?: number } = { min: 0, max: settings.maxOpen, idleTimeoutMillis: IDLE_MS };
    if (settings.lifetimeMs > 0) pool.maxConnectionLifetimeMillis = settings.lifetimeMs;
    this.#knex = knex({ client: 'mysql2', connection: {}, log: { debug: quiet, warn: quiet, error: quiet, deprecate: quiet }, pool });
    this.#client = this.#knex.client as KnexClient;
    this.#client.acquireRawConnection = async () => {
      const connection = await dialer.dial();
      this.#open.add(connection);
      for (const event of ['end', 'error']) connection.on(event, () => this.#open.delete(connection));
      return connection;
    };
    // Knex's own takes the listeners away, and an error that comes later would have nobody to go to.
    this.#client.destroyRawConnection = async (connection) => {
      this.#open.delete(connection);
      if (connection.__knex__disposed === undefined) await new Promise<void>((resolve) => connection.end(() => resolve()));
      else connection.destroy();
    };
  }

  /**
   * Runs `work` on a connection of its own. When `signal` is aborted this rejects at once, the server is told to kill the connection, and it is
   * thrown away. A connection that `work` left unfit for others is thrown away too.
   */
  async use<T>(signal: AbortSignal, work: (connection: PooledConnection) => Promise<T>): Promise<T> {
    if (this.#closing) throw new SessionClosed();
    signal.throwIfAborted();
    const acquiring = this.#acquire();
    const connection = await abortable(signal, acquiring, () => void acquiring.then((late) => this.#release(late), quiet));
    this.#busy.add(connection);
    const running = work(connection);
    try {
      return await abortable(signal, running, () => void this.#kill(connection, running));
    } catch (error) {
      if (!signal.aborted && (isConnectionError(error) || isReadOnlyError(error))) this.#discard(connection);
      throw error;
    } finally {
      if (signal.aborted) void running.then(quiet, quiet).then(() => this.#release(this.#discard(connection)));
      else this.#release(connection);
    }
  }

  status(): PoolStatus {
    const busy = [...this.#busy].filter((connection) => this.#open.has(connection)).length;
    const waiting = this.#client.pool?.numPendingAcquires() ?? 0;
    return { open: this.#open.size, idle: this.#open.size - busy, waiting, limit: this.#settings.maxOpen };
  }

  /** Waits for statements under way. */
  close(): Promise<void> {
    this.#closing ??= this.#knex.destroy();
    return this.#closing;
  }

  async #acquire(): Promise<PooledConnection> {
    try {
      return await this.#client.acquireConnection();
    } catch (error) {
      if (this.#closing) throw new SessionClosed();
      if (error instanceof Error && error.name === 'KnexTimeoutError')
        throw new ConnectionLost('no connection of the pool became free in time');
      throw error;
    }
  }

  #release(connection: PooledConnection): void {
    this.#busy.delete(connection);
    const pool = this.#client.pool;
    if (connection.__knex__disposed !== undefined || (pool && pool.numFree() >= this.#settings.maxIdle)) this.#discard(connection);
    void this.#client.releaseConnection(connection);
  }

  #discard(connection: PooledConnection): PooledConnection {
    connection.__knex__disposed ??= 'discarded';
    this.#open.delete(connection);
    connection.destroy();
    return connection;
  }

  /** Has the server end what `connection` runs, over a connection of its own, since nothing else reaches it. Cuts it if that does not help. */
  async #kill(connection: PooledConnection, running: Promise<unknown>): Promise<void> {
    const { stream } = connection as unknown as { stream: { destroy(): void } };
    const cut = setTimeout(() => stream.destroy(), KILL_GRACE_MS).unref();
    void running.then(quiet, quiet).finally(() => clearTimeout(cut));
    try {
      const other = await this.#dialer.dial();
      try {
        await query(other, `KILL CONNECTION ${Number(connection.threadId)}`);
      } finally {
        other.destroy();
      }
    } catch {
      stream.destroy();
    }
  }
}

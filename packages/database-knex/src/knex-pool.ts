import { EventEmitter } from 'node:events';
import type { Knex } from 'knex';
import { abortable, ConnectionLost, isDatabaseError, type PoolStatus, SessionClosed } from '@strongroom/database-sdk';
import type { ConnectionDriver } from './connection-driver.ts';
import { NotConnected } from './not-connected.ts';
import type { PoolSettings } from './pool-settings.ts';

/** What of knex's client is used: its pool. Statements go to the driver, because `knex.raw` rewrites `?`. */
interface KnexClient<Connection> {
  acquireRawConnection(): Promise<Connection>;
  destroyRawConnection(connection: Connection): Promise<void>;
  validateConnection(connection: Connection): boolean;
  acquireConnection(): Promise<Connection>;
  releaseConnection(connection: Connection): Promise<void>;
  readonly pool?: { numFree(): number; numPendingAcquires(): number };
}

/** How long an idle connection is kept. */
const IDLE_MS = 60_000;
/** How long a cancelled statement may take to end before its connection is destroyed. */
const CANCEL_GRACE_MS = 2_000;

const quiet = (): void => undefined;
const silent = { debug: quiet, warn: quiet, error: quiet, deprecate: quiet };

const retired = new WeakSet<object>();

/** Has whatever pool a connection is of throw it away when it comes back: for work that may have left something on it. */
export function retire(connection: object): void {
  retired.add(connection);
}

/** Makes a pool, which connects to nothing before its first use. Knex is loaded now, not when the plugin is. */
export async function openKnexPool<Connection extends object>(
  driver: ConnectionDriver<Connection>,
  settings: PoolSettings,
): Promise<KnexPool<Connection>> {
  const { default: knex } = await import('knex');
  return new KnexPool(knex, driver, settings);
}

/** Connections to one database, kept by knex. */
export class KnexPool<Connection extends object> {
  readonly #knex: Knex;
  readonly #client: KnexClient<Connection>;
  readonly #driver: ConnectionDriver<Connection>;
  readonly #settings: PoolSettings;
  /** Connections that the server has not closed and that were not thrown away. */
  readonly #open = new Set<Connection>();
  readonly #busy = new Set<Connection>();
  #closing: Promise<void> | undefined;

  constructor(knex: typeof import('knex').knex, driver: ConnectionDriver<Connection>, settings: PoolSettings) {
    this.#driver = driver;
    this.#settings = settings;
    const pool: Knex.PoolConfig & { maxConnectionLifetimeMillis?: number } = { min: 0, max: settings.maxOpen, idleTimeoutMillis: IDLE_MS };
    if (settings.lifetimeMs > 0) pool.maxConnectionLifetimeMillis = settings.lifetimeMs;
    this.#knex = knex({ client: driver.client, connection: {}, log: silent, pool });
    this.#client = this.#knex.client as KnexClient<Connection>;
    this.#client.acquireRawConnection = async () => {
      const connection = await driver.dial().catch((error: unknown) => {
        throw error instanceof NotConnected || isDatabaseError(error) ? error : new NotConnected(error);
      });
      this.#open.add(connection);
      const ended = (): void => void this.#open.delete(connection);
      if (driver.onEnd) driver.onEnd(connection, ended);
      else if (connection instanceof EventEmitter) connection.on('error', ended).on('end', ended);
      return connection;
    };
    this.#client.validateConnection = (connection) => this.#open.has(connection);
    this.#client.destroyRawConnection = async (connection) => {
      if (this.#open.delete(connection)) await driver.end(connection);
      else driver.destroy(connection);
    };
  }

  /**
   * Runs `work` on a connection of its own. When `signal` is aborted this rejects at once, what runs is cancelled and the connection
   * thrown away. A connection that `work` left unfit for others is thrown away too.
   * @throws SessionClosed after `close`; NotConnected where none could be made; ConnectionLost where none became free
   */
  async use<T>(signal: AbortSignal, work: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#closing) throw new SessionClosed();
    signal.throwIfAborted();
    const acquiring = this.#acquire();
    const connection = await abortable(signal, acquiring, () => void acquiring.then((late) => this.#release(late), quiet));
    this.#busy.add(connection);
    const running = work(connection);
    try {
      return await abortable(signal, running, () => this.#cancel(connection, running));
    } catch (error) {
      if (!signal.aborted && this.#driver.isLost?.(error) !== false) this.#discard(connection);
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

  async #acquire(): Promise<Connection> {
    try {
      return await this.#client.acquireConnection();
    } catch (error) {
      if (this.#closing) throw new SessionClosed();
      if (error instanceof Error && error.name === 'KnexTimeoutError')
        throw new ConnectionLost('no connection of the pool became free in time', { unsent: true });
      throw error;
    }
  }

  #cancel(connection: Connection, running: Promise<unknown>): void {
    const driver = this.#driver;
    const destroy = (): void => driver.destroy(connection);
    if (!driver.cancel) return destroy();
    const cut = setTimeout(destroy, CANCEL_GRACE_MS).unref();
    void running.then(quiet, quiet).then(() => clearTimeout(cut));
    (async () => driver.cancel?.(connection))().catch(destroy);
  }

  #release(connection: Connection): void {
    this.#busy.delete(connection);
    const clean = this.#open.has(connection) && !retired.has(connection) && this.#driver.isClean?.(connection) !== false;
    const { pool } = this.#client;
    if (!clean || (pool && pool.numFree() >= this.#settings.maxIdle)) this.#discard(connection);
    void this.#client.releaseConnection(connection);
  }

  #discard(connection: Connection): Connection {
    this.#open.delete(connection);
    this.#driver.destroy(connection);
    return connection;
  }
}

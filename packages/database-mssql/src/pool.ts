import type { Knex } from 'knex';
import { abortable, ConnectionLost, type PoolStatus, SessionClosed } from '@strongroom/database-sdk';
import type { Dialer, MssqlConnectionHandle } from './dial.ts';
import { isConnectionError } from './server-error.ts';

export interface PoolSettings {
  readonly maxOpen: number;
  readonly maxIdle: number;
  /** 0: connections are reused for ever. */
  readonly lifetimeMs: number;
}

/** What of knex's client is used: its pool. Statements go to the driver, because `knex.raw` rewrites `?`. */
interface KnexClient {
  acquireRawConnection(): Promise<MssqlConnectionHandle>;
  destroyRawConnection(handle: MssqlConnectionHandle): Promise<void>;
  validateConnection(handle: MssqlConnectionHandle): boolean;
  acquireConnection(): Promise<MssqlConnectionHandle>;
  releaseConnection(handle: MssqlConnectionHandle): Promise<void>;
  readonly pool?: { numFree(): number; numPendingAcquires(): number };
}

/** How long a cancelled batch may take to end before its connection is cut. */
const CANCEL_GRACE_MS = 2000;
const IDLE_MS = 60_000;

const quiet = (): void => undefined;

/** Connections to one database, kept by knex. Makes none before the first use. */
export class ConnectionPool {
  readonly #knex: Knex;
  readonly #client: KnexClient;
  readonly #settings: PoolSettings;
  /** Connections that the server has not closed and that were not thrown away. */
  readonly #open = new Set<MssqlConnectionHandle>();
  readonly #busy = new Set<MssqlConnectionHandle>();
  #closing: Promise<void> | undefined;

  constructor(knex: typeof import('knex').knex, dialer: Dialer, settings: PoolSettings) {
    this.#settings = settings;
    const pool: Knex.PoolConfig & { maxConnectionLifetimeMillis?: number } = { min: 0, max: settings.maxOpen, idleTimeoutMillis: IDLE_MS };
    if (settings.lifetimeMs > 0) pool.maxConnectionLifetimeMillis = settings.lifetimeMs;
    this.#knex = knex({ client: 'mssql', connection: {}, log: { debug: quiet, warn: quiet, error: quiet, deprecate: quiet }, pool });
    this.#client = this.#knex.client as KnexClient;
    this.#client.acquireRawConnection = async () => {
      const handle = await dialer.dial();
      this.#open.add(handle);
      handle.onEnd(() => this.#open.delete(handle));
      return handle;
    };
    this.#client.validateConnection = (handle) => handle.__knex__disposed === undefined;
    this.#client.destroyRawConnection = async (handle) => void this.#discard(handle);
  }

  /**
   * Runs `work` on a connection of its own. When `signal` is aborted this rejects at once, the batch is cancelled and the connection thrown
   * away. A connection that `work` left unfit for others is thrown away too.
   */
  async use<T>(signal: AbortSignal, work: (handle: MssqlConnectionHandle) => Promise<T>): Promise<T> {
    if (this.#closing) throw new SessionClosed();
    signal.throwIfAborted();
    const acquiring = this.#acquire();
    const handle = await abortable(signal, acquiring, () => void acquiring.then((late) => this.#release(late), quiet));
    this.#busy.add(handle);
    const running = work(handle);
    try {
      return await abortable(signal, running, () => {
        handle.cancel();
        const cut = setTimeout(() => handle.close(), CANCEL_GRACE_MS).unref();
        void running.then(quiet, quiet).finally(() => clearTimeout(cut));
      });
    } catch (error) {
      if (!signal.aborted && isConnectionError(error)) this.#discard(handle);
      throw error;
    } finally {
      if (signal.aborted) void running.then(quiet, quiet).then(() => this.#release(this.#discard(handle)));
      else this.#release(handle);
    }
  }

  status(): PoolStatus {
    const busy = [...this.#busy].filter((handle) => this.#open.has(handle)).length;
    const waiting = this.#client.pool?.numPendingAcquires() ?? 0;
    return { open: this.#open.size, idle: this.#open.size - busy, waiting, limit: this.#settings.maxOpen };
  }

  /** Waits for statements under way. */
  close(): Promise<void> {
    this.#closing ??= this.#knex.destroy();
    return this.#closing;
  }

  async #acquire(): Promise<MssqlConnectionHandle> {
    try {
      return await this.#client.acquireConnection();
    } catch (error) {
      if (this.#closing) throw new SessionClosed();
      if (error instanceof Error && error.name === 'KnexTimeoutError')
        throw new ConnectionLost('no connection of the pool became free in time');
      throw error;
    }
  }

  #release(handle: MssqlConnectionHandle): void {
    this.#busy.delete(handle);
    const pool = this.#client.pool;
    if (handle.__knex__disposed !== undefined || (pool && pool.numFree() >= this.#settings.maxIdle)) this.#discard(handle);
    void this.#client.releaseConnection(handle);
  }

  #discard(handle: MssqlConnectionHandle): MssqlConnectionHandle {
    this.#open.delete(handle);
    handle.close();
    return handle;
  }
}

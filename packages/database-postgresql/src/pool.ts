import { connect } from 'node:net';
import type { Knex } from 'knex';
import type { Client } from 'pg';
import { abortable, ConnectionLost, type PoolStatus, SessionClosed } from '@strongroom/database-sdk';
import { type DialSettings, Dialer, type PooledClient } from './dial.ts';
import { isConnectionError } from './server-error.ts';

export interface PoolSettings {
  readonly maxOpen: number;
  readonly maxIdle: number;
  /** 0: connections are reused for ever. */
  readonly lifetimeMs: number;
}

/** What of knex's client is used: its pool. Statements go to the driver, because `knex.raw` rewrites `?`. */
interface KnexClient {
  acquireRawConnection(): Promise<PooledClient>;
  acquireConnection(): Promise<PooledClient>;
  releaseConnection(connection: PooledClient): Promise<void>;
  readonly pool?: { numFree(): number; numPendingAcquires(): number };
}

/** How long a cancelled statement may take to end before its connection is cut. */
const CANCEL_GRACE_MS = 2000;
const IDLE_MS = 60_000;

const quiet = (): void => undefined;

/** Connections to one database, kept by knex. Makes none before the first use. */
export class ConnectionPool {
  readonly #knex: Knex;
  readonly #client: KnexClient;
  readonly #settings: PoolSettings;
  /** Connections that the server has not closed and that were not thrown away. */
  readonly #open = new Set<PooledClient>();
  readonly #busy = new Set<PooledClient>();
  #closing: Promise<void> | undefined;

  constructor(knex: typeof import('knex').knex, clientClass: typeof Client, dialing: DialSettings, settings: PoolSettings) {
    const dialer = new Dialer(clientClass, dialing);
    this.#settings = settings;
    const pool: Knex.PoolConfig & { maxConnectionLifetimeMillis?: number } = { min: 0, max: settings.maxOpen, idleTimeoutMillis: IDLE_MS };
    if (settings.lifetimeMs > 0) pool.maxConnectionLifetimeMillis = settings.lifetimeMs;
    this.#knex = knex({ client: 'pg', connection: {}, log: { debug: quiet, warn: quiet, error: quiet, deprecate: quiet }, pool });
    this.#client = this.#knex.client as KnexClient;
    this.#client.acquireRawConnection = async () => {
      const client = await dialer.dial();
      this.#open.add(client);
      client.once('end', () => this.#open.delete(client));
      return client;
    };
  }

  /**
   * Runs `work` on a connection of its own. When `signal` is aborted this rejects at once, the statement is cancelled and the connection
   * thrown away. A connection that `work` left unfit for others (lost, or inside a transaction) is thrown away too.
   */
  async use<T>(signal: AbortSignal, work: (client: PooledClient) => Promise<T>): Promise<T> {
    if (this.#closing) throw new SessionClosed();
    signal.throwIfAborted();
    const acquiring = this.#acquire();
    const client = await abortable(signal, acquiring, () => void acquiring.then((late) => this.#release(late), quiet));
    this.#busy.add(client);
    const running = work(client);
    try {
      return await abortable(signal, running, () => cancel(client, running));
    } catch (error) {
      if (!signal.aborted && isConnectionError(error)) this.#discard(client);
      throw error;
    } finally {
      if (signal.aborted) void running.then(quiet, quiet).then(() => this.#release(this.#discard(client)));
      else this.#release(client);
    }
  }

  status(): PoolStatus {
    const busy = [...this.#busy].filter((client) => this.#open.has(client)).length;
    const waiting = this.#client.pool?.numPendingAcquires() ?? 0;
    return { open: this.#open.size, idle: this.#open.size - busy, waiting, limit: this.#settings.maxOpen };
  }

  /** Waits for statements under way. */
  close(): Promise<void> {
    this.#closing ??= this.#knex.destroy();
    return this.#closing;
  }

  async #acquire(): Promise<PooledClient> {
    try {
      return await this.#client.acquireConnection();
    } catch (error) {
      if (this.#closing) throw new SessionClosed();
      if (error instanceof Error && error.name === 'KnexTimeoutError')
        throw new ConnectionLost('no connection of the pool became free in time');
      throw error;
    }
  }

  #release(client: PooledClient): void {
    this.#busy.delete(client);
    const pool = this.#client.pool;
    const unfit = client.__knex__disposed !== undefined || client.getTransactionStatus() !== 'I';
    if (unfit || (pool && pool.numFree() >= this.#settings.maxIdle)) this.#discard(client);
    void this.#client.releaseConnection(client);
  }

  #discard(client: PooledClient): PooledClient {
    client.__knex__disposed ??= 'discarded';
    this.#open.delete(client);
    void client.end().catch(quiet);
    return client;
  }
}

/** Asks the server, over a connection of its own as the protocol wants, to stop what `client` is running; cuts it if that does not help. */
function cancel(client: PooledClient, running: Promise<unknown>): void {
  const { processID, secretKey } = client as unknown as { processID: number | null; secretKey: number | null };
  if (typeof processID === 'number' && typeof secretKey === 'number') {
    const request = Buffer.alloc(16);
    request.writeInt32BE(16, 0);
    request.writeInt32BE(80_877_102, 4);
    request.writeInt32BE(processID, 8);
    request.writeInt32BE(secretKey, 12);
    const { host, port } = client;
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    socket.on('error', quiet).setTimeout(CANCEL_GRACE_MS, () => socket.destroy());
    socket.end(request);
  }
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  const cut = setTimeout(() => stream.destroy(), CANCEL_GRACE_MS).unref();
  running.then(quiet, quiet).finally(() => clearTimeout(cut));
}

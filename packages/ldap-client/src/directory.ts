import { noLog, realClock } from './clock.ts';
import type { DirectoryClock, DirectoryLog } from './clock.ts';
import type { BindOptions, Connection } from './connection.ts';
import { LdapError } from './error.ts';
import type { LdapjsConnection } from './ldapjs-connection.ts';
import { dial } from './ldapjs-dial.ts';
import { Pool } from './pool.ts';
import type { Lease, PoolOptions } from './pool.ts';
import { Servers } from './servers.ts';
import type { ServerHealth } from './servers.ts';
import { dialSettings } from './settings.ts';
import type { LdapSettings } from './settings.ts';

/** Who a service connection is. An empty `dn` with an empty password is a connection that never binds. */
export interface ServiceBinding {
  readonly dn: string;
  readonly password: string;
  /** Lets an empty password with a name through, as RFC 4513's unauthenticated bind; refused otherwise. */
  readonly allowUnauthenticated?: boolean | undefined;
}

export interface DirectoryOptions {
  clock?: DirectoryClock | undefined;
  log?: DirectoryLog | undefined;
}

export interface ServiceOptions {
  signal?: AbortSignal | undefined;
  /** Lets the work run once more on a new connection when a kept one turns out to be dead. Only for work that may run twice. */
  idempotent?: boolean | undefined;
}

export interface VerifyOptions {
  signal?: AbortSignal | undefined;
  /** Lets an empty password through; refused with `EMPTY_PASSWORD` otherwise, before anything is sent. */
  allowUnauthenticated?: boolean | undefined;
  /** Told when a connection is at hand, right before the bind is sent on it; again when it turns out to be dead and another is taken. */
  onConnection?: (() => void) | undefined;
}

/** A directory service: its servers, what is known of their health, and the connections kept to them. */
export interface Directory {
  /**
   * A new, anonymous connection outside the pools; the caller closes it. Rejects with `LdapDialError` when no server can be reached.
   */
  connect(signal?: AbortSignal): Promise<Connection>;
  /**
   * Lends a kept connection bound as a service account. A bind that the work makes on it costs the connection its place in the pool.
   * Rejects with what the dial, the bind or the work rejected with.
   */
  withServiceConnection<T>(binding: ServiceBinding, work: (connection: Connection) => Promise<T>, options?: ServiceOptions): Promise<T>;
  /**
   * Binds as a user, always anew, and runs the work, if any, as that user; a refusal rejects with the server's code (49 for a wrong
   * password). Right afterwards the connection is bound as the next user who waits, or anonymously; while others are verified, it waits up to 10 ms for the
   * next one first. Until then nothing else is sent on it.
   */
  verifyUser(bindName: string, password: string, options?: VerifyOptions): Promise<void>;
  verifyUser<T>(bindName: string, password: string, work: (connection: Connection) => Promise<T>, options?: VerifyOptions): Promise<T>;
  health(): ServerHealth[];
  /** Closes every connection, including lent ones. Closing twice is fine. */
  close(): void;
}

export function createDirectory(settings: LdapSettings, options: DirectoryOptions = {}): Directory {
  return new PooledDirectory(settings, options.clock ?? realClock, options.log ?? noLog);
}

class PooledDirectory implements Directory {
  readonly #servers: Servers<LdapjsConnection>;
  readonly #clock: DirectoryClock;
  readonly #limits: { max: number; idleMillis: number; waitMillis: number };
  readonly #users: Pool<LdapjsConnection>;
  #services: { binding: ServiceBinding; pool: Pool<LdapjsConnection> }[] = [];
  #closed = false;

  constructor(settings: LdapSettings, clock: DirectoryClock, log: DirectoryLog) {
    const dialling = dialSettings(settings);
    this.#clock = clock;
    this.#servers = new Servers(
      settings.urls,
      { dial: (url, signal) => dial(url, dialling, clock, signal), ask: (connection) => ask(connection, dialling.connectMillis / 1000) },
      clock,
      log,
    );
    this.#limits = {
      max: settings.maxConnections ?? 16,
      idleMillis: (settings.idleTimeoutSeconds ?? 60) * 1000,
      waitMillis: dialling.requestMillis,
    };
    this.#users = this.#pool((signal) => this.#servers.connect(signal), {
      needed: ({ boundAs }) => boundAs !== '',
      run: (connection) => this.#forgetUser(connection),
    });
  }

  async connect(signal?: AbortSignal): Promise<Connection> {
    if (this.#closed) throw new LdapError('CLOSED', { diagnosticMessage: 'the directory was closed' });
    return this.#servers.connect(signal);
  }

  async withServiceConnection<T>(
    binding: ServiceBinding,
    work: (connection: Connection) => Promise<T>,
    { signal, idempotent = false }: ServiceOptions = {},
  ): Promise<T> {
    const pool = this.#servicePool(binding);
    const expected = binding.password === '' ? '' : binding.dn;
    const use = async (lease: Lease<LdapjsConnection>): Promise<T> => {
      try {
        return await work(lease.connection);
      } finally {
        if (lease.connection.boundAs === expected) pool.release(lease);
        else pool.discard(lease);
      }
    };
    const lease = await pool.acquire(signal);
    try {
      return await use(lease);
    } catch (error) {
      if (!idempotent || !diedUnnoticed(lease, error)) throw error;
    }
    return use(await pool.acquire(signal, true));
  }

  verifyUser(bindName: string, password: string, options?: VerifyOptions): Promise<void>;
  verifyUser<T>(bindName: string, password: string, work: (connection: Connection) => Promise<T>, options?: VerifyOptions): Promise<T>;
  async verifyUser<T>(
    bindName: string,
    password: string,
    second?: ((connection: Connection) => Promise<T>) | VerifyOptions,
    third?: VerifyOptions,
  ): Promise<T | undefined> {
    const work = typeof second === 'function' ? second : undefined;
    const { signal, allowUnauthenticated = false, onConnection } = (typeof second === 'function' ? third : second) ?? {};
    if (password === '' && !allowUnauthenticated)
      throw new LdapError('EMPTY_PASSWORD', { diagnosticMessage: 'ldap: empty password not allowed by the client' });
    const lease = await this.#bindUser(bindName, password, { signal, allowUnauthenticated }, onConnection);
    try {
      return await work?.(lease.connection);
    } finally {
      this.#users.release(lease);
    }
  }

  health(): ServerHealth[] {
    return this.#servers.health();
  }

  close(): void {
    this.#closed = true;
    this.#servers.close();
    this.#users.close();
    for (const { pool } of this.#services) pool.close();
  }

  async #bindUser(name: string, password: string, options: BindOptions, onConnection?: () => void): Promise<Lease<LdapjsConnection>> {
    for (let fresh = false; ; fresh = true) {
      const lease = await this.#users.acquire(options.signal, fresh);
      onConnection?.();
      try {
        await lease.connection.bind(name, password, options);
        return lease;
      } catch (error) {
        this.#users.release(lease);
        if (fresh || !diedUnnoticed(lease, error)) throw error;
      }
    }
  }

  /** A server that refuses anonymous binds has made the connection anonymous all the same: a refused bind does (RFC 4513 section 4). */
  async #forgetUser(connection: Connection): Promise<void> {
    try {
      await connection.bind('', '', { allowUnauthenticated: true });
    } catch (error) {
      if (!(error instanceof LdapError) || !error.answered) throw error;
    }
  }

  #servicePool(binding: ServiceBinding): Pool<LdapjsConnection> {
    const known = this.#services.find(({ binding: { dn, password } }) => dn === binding.dn && password === binding.password);
    if (known !== undefined) return known.pool;
    this.#services = this.#services.filter(({ pool }) => pool.size > 0);
    const pool = this.#pool(async (signal) => {
      const connection = await this.#servers.connect(signal);
      if (binding.dn === '' && binding.password === '') return connection;
      try {
        await connection.bind(binding.dn, binding.password, { signal, allowUnauthenticated: binding.allowUnauthenticated });
        return connection;
      } catch (error) {
        connection.close();
        throw error;
      }
    });
    if (this.#closed) pool.close();
    this.#services.push({ binding, pool });
    return pool;
  }

  #pool(open: PoolOptions<LdapjsConnection>['open'], settle?: PoolOptions<LdapjsConnection>['settle']): Pool<LdapjsConnection> {
    return new Pool({ ...this.#limits, clock: this.#clock, open, ...(settle ? { settle } : {}) });
  }
}

function diedUnnoticed({ reused }: Lease<unknown>, error: unknown): boolean {
  return reused && error instanceof LdapError && (error.code === 'NETWORK' || error.code === 'CLOSED');
}

/** Any answer will do, a refusal too. */
async function ask(connection: Connection, timeoutSeconds: number): Promise<void> {
  try {
    await connection.search({ base: '', scope: 'base', attributes: ['1.1'], timeoutSeconds });
  } catch (error) {
    if (!(error instanceof LdapError) || !error.answered) throw error;
  }
}

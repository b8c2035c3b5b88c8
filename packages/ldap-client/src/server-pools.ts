import type { DirectoryClock, DirectoryLog } from './clock.ts';
import type { BindOptions, Connection } from './connection.ts';
import type { ServiceBinding, ServiceOptions, VerifyOptions } from './directory-requests.ts';
import { LdapError } from './error.ts';
import type { LdapjsConnection } from './ldapjs-connection.ts';
import { dial } from './ldapjs-dial.ts';
import { Pool } from './pool.ts';
import type { Lease, PoolOptions } from './pool.ts';
import { ReferralError } from './referral-error.ts';
import { Servers } from './servers.ts';
import type { ServerHealth } from './servers.ts';
import type { DialSettings } from './settings.ts';

/** What all the servers of a directory have in common. */
export interface PoolSettings {
  readonly dialling: DialSettings;
  /** Connections at most, for each service account and for user binds. */
  readonly max: number;
  readonly idleMillis: number;
  readonly clock: DirectoryClock;
  readonly log: DirectoryLog;
}

/** Servers that hold the same, with the connections kept to them. */
export class ServerPools {
  readonly #servers: Servers<LdapjsConnection>;
  readonly #settings: PoolSettings;
  readonly #users: Pool<LdapjsConnection>;
  #services: { binding: ServiceBinding; pool: Pool<LdapjsConnection> }[] = [];
  #closed = false;

  constructor(urls: readonly string[], settings: PoolSettings) {
    const { dialling, clock, log } = settings;
    this.#settings = settings;
    this.#servers = new Servers(
      urls,
      { dial: (url, signal) => dial(url, dialling, clock, signal), ask: (connection) => ask(connection, dialling.connectMillis / 1000) },
      clock,
      log,
    );
    this.#users = this.#pool((signal) => this.#servers.connect(signal), {
      needed: ({ boundAs }) => boundAs !== '',
      run: (connection) => this.#forgetUser(connection),
    });
  }

  /** A connection outside the pools. @throws LdapDialError */
  async connect(signal?: AbortSignal): Promise<Connection> {
    if (this.#closed) throw new LdapError('CLOSED', { diagnosticMessage: 'the directory was closed' });
    return this.#servers.connect(signal);
  }

  /** See `Directory`. */
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

  /** See `Directory`. An empty password is sent. */
  async verifyUser<T>(
    bindName: string,
    password: string,
    work: ((connection: Connection) => Promise<T>) | undefined,
    { signal, allowUnauthenticated, onConnection }: VerifyOptions,
  ): Promise<T | undefined> {
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
    const { max, idleMillis, clock, dialling } = this.#settings;
    return new Pool({ max, idleMillis, waitMillis: dialling.requestMillis, clock, open, ...(settle ? { settle } : {}) });
  }
}

function diedUnnoticed({ reused }: Lease<unknown>, error: unknown): boolean {
  if (!reused || !(error instanceof LdapError) || error instanceof ReferralError) return false;
  return error.code === 'NETWORK' || error.code === 'CLOSED';
}

/** Any answer will do, a refusal too. */
async function ask(connection: Connection, timeoutSeconds: number): Promise<void> {
  try {
    await connection.search({ base: '', scope: 'base', attributes: ['1.1'], timeoutSeconds });
  } catch (error) {
    if (!(error instanceof LdapError) || !error.answered) throw error;
  }
}

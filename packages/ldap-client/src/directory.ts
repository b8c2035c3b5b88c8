import { noLog, realClock } from './clock.ts';
import type { DirectoryClock, DirectoryLog } from './clock.ts';
import type { Connection } from './connection.ts';
import { LdapError } from './error.ts';
import { FollowingConnection, nameKey } from './following-connection.ts';
import type { ReferralRoutes } from './following-connection.ts';
import { referredError } from './referral-error.ts';
import { isListed } from './referral-hosts.ts';
import { parseReferralUrl } from './referral-url.ts';
import type { ServiceBinding, ServiceOptions, VerifyOptions } from './directory-requests.ts';
import { ServerPools } from './server-pools.ts';
import type { PoolSettings } from './server-pools.ts';
import type { ServerHealth } from './servers.ts';
import { dialSettings } from './settings.ts';
import type { LdapSettings } from './settings.ts';

/** Entries whose changes were referred that a directory remembers at most. */
const REMEMBERED = 10_000;

export interface DirectoryOptions {
  clock?: DirectoryClock | undefined;
  log?: DirectoryLog | undefined;
  /** What `changedAt` knows, for directories that follow one another; each has its own by default. */
  changes?: Map<string, string> | undefined;
}

/** A directory service: its servers, what is known of their health, and the connections kept to them. */
export interface Directory {
  /**
   * A new, anonymous connection outside the pools; the caller closes it. Rejects with `LdapDialError` when no server can be reached.
   */
  connect(signal?: AbortSignal): Promise<Connection>;
  /**
   * Lends a kept connection bound as a service account; it follows referrals to the hosts of the settings. A bind that the work makes on it costs the connection its place in the pool.
   * Rejects with what the dial, the bind or the work rejected with.
   */
  withServiceConnection<T>(binding: ServiceBinding, work: (connection: Connection) => Promise<T>, options?: ServiceOptions): Promise<T>;
  /**
   * Binds as a user, always again, and runs the work, if any, as that user; a refusal rejects with the server's code (49 for a wrong
   * password). Right afterwards the connection is bound as the next user who waits, or anonymously; while others are verified, it waits up to 10 ms for the
   * next one first. Until then nothing else is sent on it.
   */
  verifyUser(bindName: string, password: string, options?: VerifyOptions): Promise<void>;
  verifyUser<T>(bindName: string, password: string, work: (connection: Connection) => Promise<T>, options?: VerifyOptions): Promise<T>;
  /** The server, as `ldap://host:port`, that a referral led the last change of an entry to, as far as this directory has made it; undefined otherwise. */
  changedAt?(dn: string): string | undefined;
  health(): ServerHealth[];
  /** Closes every connection, including lent ones. Closing twice is fine. */
  close(): void;
}

export function createDirectory(settings: LdapSettings, options: DirectoryOptions = {}): Directory {
  return new PooledDirectory(settings, options.clock ?? realClock, options.log ?? noLog, options.changes ?? new Map<string, string>());
}

class PooledDirectory implements Directory {
  readonly #own: ServerPools;
  readonly #hosts: readonly string[];
  readonly #settings: PoolSettings;
  /** Servers that referrals have led to, by `ldap://host:port`. */
  readonly #referred = new Map<string, ServerPools>();
  /** Where referrals have led changes to, by the key of the entry's name. */
  readonly #changedAt: Map<string, string>;
  readonly #warned = new Set<string>();
  #closed = false;

  constructor(settings: LdapSettings, clock: DirectoryClock, log: DirectoryLog, changes: Map<string, string>) {
    this.#changedAt = changes;
    this.#hosts = settings.referralHosts ?? [];
    this.#settings = {
      dialling: dialSettings(settings),
      max: settings.maxConnections ?? 16,
      idleMillis: (settings.idleTimeoutSeconds ?? 60) * 1000,
      clock,
      log,
    };
    this.#own = new ServerPools(settings.urls, this.#settings);
  }

  async connect(signal?: AbortSignal): Promise<Connection> {
    return this.#own.connect(signal);
  }

  async withServiceConnection<T>(
    binding: ServiceBinding,
    work: (connection: Connection) => Promise<T>,
    options: ServiceOptions = {},
  ): Promise<T> {
    if (this.#hosts.length === 0) return this.#own.withServiceConnection(binding, work, options);
    const routes = this.#routesFor(binding);
    const following = async (connection: Connection): Promise<T> =>
      work(new FollowingConnection(connection, routes, options.idempotent === true));
    return this.#own.withServiceConnection(binding, following, options);
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
    const options = (typeof second === 'function' ? third : second) ?? {};
    const { server, allowUnauthenticated = false } = options;
    if (password === '' && !allowUnauthenticated)
      throw new LdapError('EMPTY_PASSWORD', { diagnosticMessage: 'ldap: empty password not allowed by the client' });
    const all = { ...options, allowUnauthenticated };
    if (server === undefined) return this.#own.verifyUser(bindName, password, work, all);
    let begun = false;
    const begin = async (connection: Connection): Promise<T | undefined> => {
      begun = true;
      return work?.(connection);
    };
    try {
      return await this.#at(server).verifyUser(bindName, password, begin, all);
    } catch (error) {
      const unheard = error instanceof LdapError && !error.answered;
      throw unheard && !begun ? referredError(server, error) : error;
    }
  }

  changedAt(dn: string): string | undefined {
    return this.#changedAt.get(nameKey(dn));
  }

  health(): ServerHealth[] {
    return [this.#own, ...this.#referred.values()].flatMap((pools) => pools.health());
  }

  close(): void {
    this.#closed = true;
    this.#own.close();
    for (const pools of this.#referred.values()) pools.close();
  }

  #routesFor(binding: ServiceBinding): ReferralRoutes {
    const { dialling, log } = this.#settings;
    return {
      hosts: this.#hosts,
      starttls: dialling.starttls,
      at: async (server, work, options) => this.#at(server).withServiceConnection(binding, work, options),
      changed: (dn, server) => {
        const key = nameKey(dn);
        this.#changedAt.delete(key);
        this.#changedAt.set(key, server);
        const [oldest] = this.#changedAt.keys();
        if (this.#changedAt.size > REMEMBERED) this.#changedAt.delete(oldest!);
      },
      skipped: (url, reason) => {
        if (this.#warned.has(`${url} ${reason}`)) return;
        this.#warned.add(`${url} ${reason}`);
        log.warn('a referral to a listed host is not followed', { url, reason });
      },
    };
  }

  /** Listed hosts alone are ever asked. */
  #at(server: string): ServerPools {
    const known = this.#referred.get(server);
    if (known !== undefined) return known;
    const url = parseReferralUrl(server);
    if (url === undefined || !isListed(this.#hosts, url))
      throw new LdapError('INVALID', { url: server, diagnosticMessage: `${server} is not in referral_hosts` });
    const pools = new ServerPools([server], this.#settings);
    if (this.#closed) pools.close();
    this.#referred.set(server, pools);
    return pools;
  }
}

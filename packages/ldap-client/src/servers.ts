import type { DirectoryClock, DirectoryLog } from './clock.ts';
import { LdapDialError, LdapError } from './error.ts';
import type { DialAttempt } from './error.ts';
import { parseLdapUrl } from './settings.ts';
import type { LdapUrl } from './settings.ts';

const firstBackoff = 5_000;
const longestBackoff = 60_000;

/** What is remembered of one server. Times are milliseconds since the epoch. */
export interface ServerHealth {
  readonly url: string;
  readonly state: 'unknown' | 'up' | 'down';
  readonly lastError?: string;
  /** While down: when it is tried again. */
  readonly retryAt?: number;
}

interface Server {
  readonly text: string;
  state: 'unknown' | 'up' | 'down';
  failures: number;
  retryAt: number;
  lastError: string;
  /** Being asked because a caller gave up waiting for it. */
  doubted: boolean;
}

export interface Closable {
  close(): void;
  onClose(listener: (reason: LdapError) => void): void;
}

export interface Dialling<C> {
  dial(url: LdapUrl, signal?: AbortSignal): Promise<C>;
  /** Rejects unless the server answers requests. */
  ask(connection: C): Promise<void>;
}

/**
 * A list of servers, dialled in order. One that failed is passed over while it backs off (5 s, doubling to 60 s); when that has
 * passed, it is tried beside a dial that goes elsewhere, so that nobody waits for a dead server twice. When no other server is left,
 * the ones that back off are tried as well. A server that takes connections and then lets a request wait for its whole time has failed, too. One whose
 * caller gave up before that is asked for its root entry, and has failed when it does not answer.
 */
export class Servers<C extends Closable> {
  readonly #servers: readonly Server[];
  readonly #dialling: Dialling<C>;
  readonly #clock: DirectoryClock;
  readonly #log: DirectoryLog;
  readonly #probes = new AbortController();

  constructor(urls: readonly string[], dialling: Dialling<C>, clock: DirectoryClock, log: DirectoryLog) {
    this.#servers = urls.map((text) => ({ text, state: 'unknown', failures: 0, retryAt: 0, lastError: '', doubted: false }));
    this.#dialling = dialling;
    this.#clock = clock;
    this.#log = log;
  }

  health(): ServerHealth[] {
    return this.#servers.map(({ text, state, lastError, retryAt }) => ({
      url: text,
      state,
      ...(state === 'down' ? { lastError, retryAt } : {}),
    }));
  }

  /** Rejects with `LdapDialError` when no server could be reached, with `LdapError` `ABORTED` when the signal fired. */
  async connect(signal?: AbortSignal): Promise<C> {
    const attempts: DialAttempt[] = [];
    const passedOver: Server[] = [];
    for (const server of this.#servers) {
      if (server.state === 'down') passedOver.push(server);
      else {
        const connection = await this.#try(server, attempts, signal);
        if (connection === undefined) continue;
        for (const down of passedOver) this.#probe(down);
        return connection;
      }
    }
    for (const server of passedOver) {
      const connection = await this.#try(server, attempts, signal);
      if (connection !== undefined) return connection;
    }
    throw new LdapDialError(attempts);
  }

  /** Ends probes under way. */
  close(): void {
    this.#probes.abort();
  }

  async #try(server: Server, attempts: DialAttempt[], signal: AbortSignal | undefined): Promise<C | undefined> {
    try {
      const connection = await this.#dialling.dial(parseLdapUrl(server.text), signal);
      this.#succeeded(server);
      connection.onClose((reason) => {
        if (reason.code === 'TIMEOUT') this.#failed(server, reason);
        else if (reason.code === 'ABORTED') this.#doubt(server);
      });
      return connection;
    } catch (error) {
      if (!(error instanceof LdapError) || error.code === 'ABORTED') throw error;
      this.#failed(server, error);
      attempts.push({ url: server.text, error });
      return undefined;
    }
  }

  /** A connection alone proves little: what stands there must answer, or the next login would be the one to wait. */
  #probe(server: Server): void {
    if (server.state !== 'down' || this.#clock.millis() < server.retryAt || this.#probes.signal.aborted) return;
    server.retryAt = Number.POSITIVE_INFINITY;
    this.#ask(server).then(
      () => this.#succeeded(server),
      (error: unknown) => {
        if (error instanceof LdapError && error.code !== 'ABORTED') this.#failed(server, error);
      },
    );
  }

  /** Who gives up may have waited in vain or not at all: the server is asked, so that not every caller has to find out. */
  #doubt(server: Server): void {
    if (server.state !== 'up' || server.doubted || this.#probes.signal.aborted) return;
    server.doubted = true;
    this.#ask(server).then(
      () => (server.doubted = false),
      (error: unknown) => {
        server.doubted = false;
        if (error instanceof LdapError && error.code !== 'ABORTED') this.#failed(server, error);
      },
    );
  }

  async #ask(server: Server): Promise<void> {
    const { signal } = this.#probes;
    const connection = await this.#dialling.dial(parseLdapUrl(server.text), signal);
    const close = (): void => connection.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      await this.#dialling.ask(connection);
    } finally {
      signal.removeEventListener('abort', close);
      close();
    }
  }

  #succeeded(server: Server): void {
    if (server.state === 'down') this.#log.warn('an LDAP server is back', { url: server.text });
    server.state = 'up';
    server.failures = 0;
  }

  #failed(server: Server, error: LdapError): void {
    if (server.state === 'down' && this.#clock.millis() < server.retryAt && server.retryAt !== Number.POSITIVE_INFINITY) return;
    if (server.state !== 'down') this.#log.warn('an LDAP server cannot be reached', { url: server.text, error: error.message });
    server.state = 'down';
    server.lastError = error.message;
    server.retryAt = this.#clock.millis() + Math.min(firstBackoff * 2 ** server.failures, longestBackoff);
    server.failures++;
  }
}

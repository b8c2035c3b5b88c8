import neo4j, { type Driver, type Session } from 'neo4j-driver';
import { abortable, SessionClosed } from '@strongroom/database-sdk';
import { AuthorityFile } from './authority-file.ts';
import type { CypherStatement } from './cypher.ts';
import { hasPasswordAlready, toDatabaseError } from './server-error.ts';
import type { Neo4jSettings } from './settings.ts';

export type Row = Readonly<Record<string, unknown>>;

const MAX_CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 5_000;
/** How long statements under way may take once the session is closed. */
const GRACE_MS = 2_000;
/** Users are kept in this database. */
const SYSTEM = 'system';

const quiet = (): void => undefined;

/** What the driver hides of a session: the connection of a statement, to cut it. */
interface Inside {
  readonly _writeConnectionHolder?: { getConnection?(): PromiseLike<{ close?(): Promise<void> } | null> };
}

/** The driver's connections to a server or cluster. */
export class GraphLink {
  readonly #settings: Neo4jSettings;
  readonly #underWay = new Set<Session>();
  readonly #authorities: AuthorityFile | undefined;
  readonly #driver: Driver;
  #onIdle: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: Neo4jSettings) {
    this.#settings = settings;
    this.#authorities = settings.tlsCa === undefined ? undefined : new AuthorityFile(settings.tlsCa);
    this.#driver = this.#makeDriver();
  }

  /**
   * Runs one statement and resolves with its rows. One that changes a password to what it is already counts as done. Rejects with StatementFailed,
   * ConnectionLost, SessionClosed and the reason of `signal`; `password` is masked in all texts, beside the secrets of the connection.
   */
  async run(signal: AbortSignal, statement: CypherStatement, password?: string): Promise<readonly Row[]> {
    return this.#runOn(this.#driver, signal, statement, password);
  }

  /** Makes a connection of its own, logs in, and resolves with what `look` finds on it. Rejects as `run`. */
  async login<T>(signal: AbortSignal, look: (run: (text: string) => Promise<readonly Row[]>) => Promise<T>): Promise<T> {
    this.#requireOpen();
    const apart = this.#makeDriver();
    try {
      return await look((text) => this.#runOn(apart, signal, { text, parameters: {} }));
    } finally {
      void apart.close().catch(quiet);
    }
  }

  /** Waits for statements under way, but not for a server that does not answer. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #runOn(driver: Driver, signal: AbortSignal, { text, parameters }: CypherStatement, password?: string): Promise<readonly Row[]> {
    this.#requireOpen();
    signal.throwIfAborted();
    const session = driver.session({ database: SYSTEM });
    this.#underWay.add(session);
    const running = Promise.resolve(session.run(text, parameters))
      .then(({ records }) => records.map((record) => record.toObject() as Row))
      .finally(() => this.#ended(session));
    try {
      return await abortable(signal, running, () => cut(session));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (hasPasswordAlready(error)) return [];
      const shown = toDatabaseError(error, this.#settings.address, {
        ...this.#settings.secrets,
        ...(password !== undefined && { 'new password': password }),
      });
      if (this.#closing && !('serverCode' in shown)) throw new SessionClosed();
      throw shown;
    }
  }

  #requireOpen(): void {
    if (this.#closing) throw new SessionClosed();
  }

  #ended(session: Session): void {
    this.#underWay.delete(session);
    void session.close().catch(quiet);
    if (this.#underWay.size === 0) this.#onIdle?.();
  }

  async #close(): Promise<void> {
    if (this.#underWay.size > 0) {
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, GRACE_MS).unref();
        this.#onIdle = () => {
          clearTimeout(late);
          resolve();
        };
      });
    }
    for (const session of this.#underWay) cut(session);
    await this.#driver.close().catch(quiet);
    this.#authorities?.remove();
  }

  #makeDriver(): Driver {
    const { driverUrl, username, password } = this.#settings;
    return neo4j.driver(driverUrl, neo4j.auth.basic(username, password), {
      maxConnectionPoolSize: MAX_CONNECTIONS,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      userAgent: 'strongroom',
      telemetryDisabled: true,
      ...(this.#authorities && {
        encrypted: 'ENCRYPTION_ON',
        trust: 'TRUST_CUSTOM_CA_SIGNED_CERTIFICATES',
        trustedCertificates: [this.#authorities.path],
      }),
    });
  }
}

/** Nobody shall wait behind a statement that was given up, and the server shall not carry it out later. */
function cut(session: Session): void {
  const holder = (session as unknown as Inside)._writeConnectionHolder;
  void Promise.resolve(holder?.getConnection?.())
    .then((connection) => connection?.close?.())
    .catch(quiet);
}

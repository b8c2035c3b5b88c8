import { type Document, MongoClient } from 'mongodb';
import { abortable, ConfigurationInvalid, type PoolStatus, redact, SessionClosed } from '@strongroom/database-sdk';
import type { Command } from './commands.ts';
import { PoolWatch } from './pool-watch.ts';
import { errorText, toDatabaseError } from './server-error.ts';
import type { MongodbSettings } from './settings.ts';

/** How long commands under way may take once the session is closed. */
const GRACE_MS = 2_000;

/** The driver's client, which connects when it is first used, and again after a server was lost. */
export class MongodbLink {
  /** Where the managing user is defined: the URL's `authSource`, its database, or `admin`. */
  readonly ownDb: string;
  readonly #secrets: MongodbSettings['secrets'];
  readonly #client: MongoClient;
  readonly #watch: PoolWatch;
  readonly #underWay = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  /** Throws ConfigurationInvalid for a URL that the driver cannot use. */
  constructor({ url, options, secrets }: MongodbSettings) {
    this.#secrets = secrets;
    try {
      this.#client = new MongoClient(url, options);
    } catch (error) {
      throw new ConfigurationInvalid(`unable to parse connection url: ${redact(errorText(error), secrets)}`);
    }
    const source = this.#client.options.credentials?.source;
    // Who logs in by a certificate is no user of a database of its own.
    this.ownDb = source === undefined || source === '$external' ? 'admin' : source;
    this.#watch = new PoolWatch(this.#client);
  }

  /** Throws StatementFailed for what the server refused, ConnectionLost, SessionClosed, and the reason of `signal`. */
  async run(signal: AbortSignal, { db, body }: Command, password?: string): Promise<Document> {
    if (this.#closing) throw new SessionClosed();
    signal.throwIfAborted();
    const running = this.#client.db(db).command(body, { signal });
    this.#underWay.add(running);
    try {
      return await abortable(signal, running);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (this.#closing) throw new SessionClosed();
      throw toDatabaseError(error, { ...this.#secrets, ...(password !== undefined && { 'new password': password }) });
    } finally {
      this.#underWay.delete(running);
    }
  }

  pool(): PoolStatus {
    return this.#watch.status();
  }

  /** Waits for commands under way, but not for a server that does not answer. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#underWay.size > 0) {
      await abortable(AbortSignal.timeout(GRACE_MS), Promise.allSettled(this.#underWay)).catch(() => undefined);
    }
    await this.#client.close();
  }
}

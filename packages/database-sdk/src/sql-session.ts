import { abortable, redact } from '@strongroom/engine-sdk';
import { driverErrorText } from './driver-error-text.ts';
import {
  ConnectionLost,
  CredentialUnsupported,
  type DatabaseError,
  isDatabaseError,
  loginFailureOf,
  type LoginFailure,
  SessionClosed,
  StatementFailed,
  StatementInvalid,
  VerificationFailed,
} from './errors.ts';
import type {
  CreateUserRequest,
  Credential,
  DatabaseLog,
  DatabaseSession,
  RenewUserRequest,
  UpdateUserRequest,
  UserRequest,
} from './plugin.ts';
import type { SqlDialect } from './sql-dialect.ts';
import { renderStatements, type StatementValues } from './statements.ts';

/** The few things that `SqlSession` wants of a driver. `Client` is the driver's own connection. */
export interface SqlDriver<Client> {
  /** A connection, from a pool or new. Rejects where the server cannot be reached or refuses the login. */
  acquire(): Promise<Client>;
  /** Takes a connection back. Where `fit` is false something failed on it or still runs: close it, so that the server ends what it began. */
  release(client: Client, fit: boolean): void;
  /** Runs the statements in order, all or nothing as far as the database can. */
  run(client: Client, statements: readonly string[]): Promise<void>;
  /** The database's own code (an SQLSTATE, an error number) where it refused a statement; undefined for everything else. */
  refusal(error: unknown): string | undefined;
  /** Why `acquire` rejected, where that can be told: whether the server refused the credential, or was not reached. */
  loginFailure?(error: unknown): LoginFailure | undefined;
  /** Ends all connections. Called once. */
  close(): Promise<void>;
}

export interface SqlSessionOptions<Client> {
  /** Of the plugin, for messages. */
  readonly name: string;
  readonly driver: SqlDriver<Client>;
  readonly dialect: SqlDialect;
  /** What runs where a role has no statements of its own. Creation has no default: what a user may do is the operator's to say. */
  readonly defaults: {
    readonly updateUser: readonly string[];
    /** Absent where the database knows no expiry. */
    readonly renewUser?: readonly string[];
    /** Must succeed for an absent user. */
    readonly deleteUser: readonly string[];
    /** Take the login away from a user that cannot be removed. Must succeed for an absent user. */
    readonly disableUser?: readonly string[];
  };
  /** A statement that does nothing but show that the login works; `SELECT 1` by default. */
  readonly probe?: string;
  /** How the database writes a moment; ISO 8601 by default. */
  readonly expiration?: (at: Date) => string;
  /** What no message may show, by label: `connectionSecrets(schema, config)`. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly log: DatabaseLog;
}

/** Undo runs after the caller's deadline may have passed, so it has one of its own. */
const UNDO_DEADLINE_MS = 10_000;
const isoText = (at: Date): string => at.toISOString();

/**
 * A session for databases whose users are made by SQL and have passwords: statements are rendered safely, calls end when their signal says so,
 * failures are told apart and show no secret, and what a failed creation left is undone. The plugin brings a driver and its default statements.
 */
export class SqlSession<Client> implements DatabaseSession {
  /** Absent where there are no statements for it. */
  readonly disableUser?: NonNullable<DatabaseSession['disableUser']>;
  readonly #options: SqlSessionOptions<Client>;
  /** Undoing for callers who do not wait any more. */
  readonly #undoing = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;

  constructor(options: SqlSessionOptions<Client>) {
    this.#options = options;
    const { disableUser } = options.defaults;
    if (disableUser)
      this.disableUser = async ({ username, signal }) => this.#run(signal, this.#render(disableUser, { name: username, username }));
  }

  async verify(signal: AbortSignal): Promise<void> {
    try {
      await this.#run(signal, [this.#options.probe ?? 'SELECT 1']);
    } catch (error) {
      if (!isDatabaseError(error, 'connection_lost') && !isDatabaseError(error, 'statement_failed')) throw error;
      throw new VerificationFailed(error.message, { login: loginFailureOf(error) });
    }
  }

  async createUser({ username, credential, expiresAt, statements, undo, signal }: CreateUserRequest): Promise<void> {
    const values = { ...this.#values(username, credential), expiration: this.#expiration(expiresAt) };
    const creation = this.#render(statements.commands, values);
    if (creation.length === 0) throw new StatementInvalid('empty creation statements');
    const rollback = this.#render(undo.commands, values);
    try {
      await this.#run(signal, creation, values.password);
    } catch (error) {
      if (rollback.length > 0 && !isDatabaseError(error, 'session_closed')) {
        const undoing = this.#undo(rollback, values.password);
        // Whoever has given up is not kept waiting.
        if (!signal.aborted) await undoing;
      }
      throw error;
    }
  }

  async updateUser({ username, credential, statements, signal }: UpdateUserRequest): Promise<void> {
    const values = this.#values(username, credential);
    await this.#run(signal, this.#render(orElse(statements.commands, this.#options.defaults.updateUser), values), values.password);
  }

  async renewUser({ username, expiresAt, statements, signal }: RenewUserRequest): Promise<void> {
    const commands = orElse(statements.commands, this.#options.defaults.renewUser ?? []);
    await this.#run(signal, this.#render(commands, { name: username, username, expiration: this.#expiration(expiresAt) }));
  }

  async deleteUser({ username, statements, signal }: UserRequest): Promise<void> {
    await this.#run(signal, this.#render(orElse(statements.commands, this.#options.defaults.deleteUser), { name: username, username }));
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all(this.#undoing).then(() => this.#options.driver.close());
    return this.#closing;
  }

  #values(username: string, credential: Credential): StatementValues & { password: string } {
    if (credential.type !== 'password') throw new CredentialUnsupported(this.#options.name, credential.type);
    return { name: username, username, password: credential.password };
  }

  #expiration(at: Date): string {
    return (this.#options.expiration ?? isoText)(at);
  }

  #render(commands: readonly string[], values: StatementValues): string[] {
    return renderStatements(commands, values, this.#options.dialect);
  }

  async #run(signal: AbortSignal, statements: readonly string[], password?: string): Promise<void> {
    if (this.#closing) throw new SessionClosed();
    signal.throwIfAborted();
    if (statements.length === 0) return;
    await this.#send(signal, statements, password);
  }

  async #send(signal: AbortSignal, statements: readonly string[], password: string | undefined): Promise<void> {
    const { driver } = this.#options;
    let client: Client;
    try {
      const acquiring = driver.acquire();
      const giveBack = (late: Client): void => driver.release(late, true);
      client = await abortable(signal, acquiring, () => void acquiring.then(giveBack, () => undefined));
    } catch (error) {
      throw signal.aborted ? error : this.#notConnected(error, password);
    }
    let fit = false;
    try {
      await abortable(signal, driver.run(client, statements));
      fit = true;
    } catch (error) {
      throw signal.aborted ? error : this.#failure(error, password);
    } finally {
      driver.release(client, fit);
    }
  }

  #undo(statements: readonly string[], password: string): Promise<void> {
    const undoing = this.#send(AbortSignal.timeout(UNDO_DEADLINE_MS), statements, password)
      .catch((error: unknown) => this.#options.log.warn('rollback statements failed', { error: driverErrorText(error) }))
      .finally(() => this.#undoing.delete(undoing));
    this.#undoing.add(undoing);
    return undoing;
  }

  /** There is no connection: whatever the reason, nothing was sent. */
  #notConnected(error: unknown, password: string | undefined): unknown {
    const failure = this.#failure(error, password);
    if (!isDatabaseError(failure, 'connection_lost') && !isDatabaseError(failure, 'statement_failed')) return failure;
    if (isDatabaseError(error)) return failure;
    const text = failure.message.replace(/^failed to execute query: /, '');
    return new ConnectionLost(text, { unsent: true, login: this.#options.driver.loginFailure?.(error) });
  }

  /** What the database refused is not what happened to the connection, and a fault of the plugin's own code is neither. */
  #failure(error: unknown, password: string | undefined): unknown {
    if (isDatabaseError(error)) return error;
    const code = this.#options.driver.refusal(error);
    if (code === undefined && (error instanceof TypeError || error instanceof ReferenceError)) return error;
    const text = redact(driverErrorText(error), { ...this.#options.secrets, 'new password': password });
    const failure: DatabaseError = code === undefined ? new ConnectionLost(text) : new StatementFailed(text, { serverCode: code });
    return failure;
  }
}

function orElse(own: readonly string[], byDefault: readonly string[]): readonly string[] {
  return own.length > 0 ? own : byDefault;
}

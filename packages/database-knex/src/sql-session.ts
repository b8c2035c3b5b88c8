import {
  ConnectionLost,
  type CreateUserRequest,
  type Credential,
  type DatabaseLog,
  type DeleteUserRequest,
  type DatabaseSession,
  driverErrorText,
  isDatabaseError,
  type ListUsersRequest,
  loginFailureOf,
  passwordOf,
  type PoolStatus,
  redact,
  type RenewUserRequest,
  renderStatements,
  SessionClosed,
  StatementFailed,
  StatementInvalid,
  type StatementValues,
  type TwoPasswords,
  undoSignal,
  type UpdateUserRequest,
  type UserRequest,
  VerificationFailed,
} from '@strongroom/database-sdk';
import { type KnexPool, openKnexPool } from './knex-pool.ts';
import { NotConnected } from './not-connected.ts';
import { poolSettings, type PoolFields } from './pool-settings.ts';
import type { SqlDriver } from './sql-driver.ts';
import { credentialValues, expirationText, renderCreation, type SqlRules } from './sql-rules.ts';

export interface SqlSessionOptions<Connection extends object> {
  readonly rules: SqlRules;
  readonly driver: SqlDriver<Connection>;
  /** Limits of the pool, as the connection's settings have them. */
  readonly pool: PoolFields;
  /** What no message may show, by label: `connectionSecrets(schema, config)`. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly log: DatabaseLog;
  /** What the error of a failed verification begins with. */
  readonly verificationPrefix?: string | undefined;
}

/**
 * A session for databases whose users are made by SQL: connections are pooled by knex, statements rendered safely, calls end when their signal says so,
 * failures are distinguished and show no secret, and what a failed creation left is undone. The plugin brings a driver and its default statements.
 */
export class SqlSession<Connection extends object> implements DatabaseSession {
  readonly disableUser?: NonNullable<DatabaseSession['disableUser']>;
  readonly listUsers?: NonNullable<DatabaseSession['listUsers']>;
  readonly twoPasswords?: TwoPasswords;
  readonly changeOwnPassword?: NonNullable<DatabaseSession['changeOwnPassword']>;
  readonly #options: SqlSessionOptions<Connection>;
  readonly #pool: KnexPool<Connection>;
  /** For callers who do not wait any more. */
  readonly #undoing = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;

  /** A session that connects when it is first used. @throws ConfigurationInvalid for limits of the pool that cannot be */
  static async open<Connection extends object>(options: SqlSessionOptions<Connection>): Promise<SqlSession<Connection>> {
    return new SqlSession(options, await openKnexPool(options.driver, poolSettings(options.pool)));
  }

  private constructor(options: SqlSessionOptions<Connection>, pool: KnexPool<Connection>) {
    this.#options = options;
    this.#pool = pool;
    const { driver, rules } = options;
    const statements = rules.defaults.disableUser;
    if (driver.disableUser || statements) {
      this.disableUser = async ({ username, signal }: Pick<UserRequest, 'username' | 'signal'>) => {
        if (driver.disableUser) return this.#call(signal, async (connection) => driver.disableUser?.(connection, username));
        await this.#run(signal, this.#render(statements ?? [], { name: username, username }));
      };
    }
    const own = driver.changeOwnPassword;
    if (own) {
      this.changeOwnPassword = async ({ current, ...request }) => {
        if (own === 'updateUser' || request.statements.commands.length > 0) return this.updateUser(request);
        const [password, before] = [passwordOf(rules.name, request.credential), passwordOf(rules.name, current)];
        await this.#call(request.signal, async (connection) => own(connection, { password, current: before }), request.credential);
      };
    }
    if (driver.twoPasswords) this.twoPasswords = this.#twoPasswords(driver.twoPasswords);
    if (driver.listUsers) {
      this.listUsers = async ({ prefix, signal }: ListUsersRequest) =>
        this.#call(signal, async (connection) => driver.listUsers?.(connection, prefix) ?? []);
    }
  }

  async verify(signal: AbortSignal): Promise<void> {
    const { driver, verificationPrefix: prefix } = this.#options;
    try {
      this.#requireOpen();
      await this.#pool.use(signal, async (connection) => (driver.probe ? driver.probe(connection) : driver.run(connection, ['SELECT 1'])));
    } catch (error) {
      if (signal.aborted || isDatabaseError(error, 'session_closed')) throw error;
      const failure = this.#failure(error);
      if (!isDatabaseError(failure)) throw failure;
      const detail = isDatabaseError(error) ? error.message : this.#text(error);
      throw new VerificationFailed(detail, { ...(prefix !== undefined && { prefix }), login: loginFailureOf(failure) });
    }
  }

  async createUser({
    username,
    credential,
    expiresAt,
    statements,
    rollback: rollbackStatements,
    signal,
  }: CreateUserRequest): Promise<void> {
    const { driver, rules } = this.#options;
    const expiration = expirationText(rules, expiresAt);
    const values = { name: username, username, expiration, ...(await this.#credential(credential)) };
    const creation = renderCreation(rules, statements.commands, values);
    const rollback = this.#render(rollbackStatements.commands, values);
    let isMade = false;
    const made = (): void => void (isMade = true);
    try {
      await this.#call(
        signal,
        async (connection) =>
          driver.createUser ? driver.createUser(connection, username, creation, made) : driver.run(connection, creation),
        credential,
      );
    } catch (error) {
      if (isDatabaseError(error, 'session_closed')) throw error;
      const steps: ((connection: Connection) => Promise<void>)[] = [];
      if (rollback.length > 0) steps.push(async (connection) => driver.run(connection, rollback));
      if (isMade) steps.push(async (connection) => driver.dropHalfMade?.(connection, username));
      const undoing = this.#undo(username, steps, credential).finally(() => this.#undoing.delete(undoing));
      this.#undoing.add(undoing);
      // Whoever has given up is not kept waiting.
      if (!signal.aborted) await undoing;
      throw error;
    }
  }

  async updateUser({ username, credential, statements, signal }: UpdateUserRequest): Promise<void> {
    const { updateUser, updateCertificate } = this.#options.rules.defaults;
    const values = { name: username, username, ...(await this.#credential(credential)) };
    const byDefault = credential.type === 'password' ? updateUser : updateCertificate;
    if (statements.commands.length === 0 && !byDefault)
      throw new StatementInvalid(`rotating a ${credential.type} needs rotation statements`);
    await this.#run(signal, this.#render(orElse(statements.commands, byDefault), values), credential);
  }

  /** Where the database knows no expiry there is nothing to do but what the role says. */
  async renewUser({ username, expiresAt, statements, signal }: RenewUserRequest): Promise<void> {
    const { rules } = this.#options;
    const commands = orElse(statements.commands, rules.defaults.renewUser);
    await this.#run(signal, this.#render(commands, { name: username, username, expiration: expirationText(rules, expiresAt) }));
  }

  async deleteUser({ username, statements, signal, ...removal }: DeleteUserRequest): Promise<void> {
    const { driver, rules } = this.#options;
    if (statements.commands.length === 0 && driver.deleteUser)
      return this.#call(signal, async (connection) => driver.deleteUser?.(connection, username, removal));
    const commands = orElse(statements.commands, rules.defaults.deleteUser);
    try {
      await this.#run(signal, this.#render(commands, { name: username, username }));
    } catch (error) {
      if (!driver.userExists || !isDatabaseError(error, 'statement_failed')) throw error;
      if (await this.#call(signal, async (connection) => driver.userExists?.(connection, username))) throw error;
    }
  }

  pool(): PoolStatus {
    return this.#pool.status();
  }

  /** Waits for undoing and for statements under way. */
  close(): Promise<void> {
    this.#closing ??= Promise.all(this.#undoing).then(async () => this.#pool.close());
    return this.#closing;
  }

  #twoPasswords({ supported, add, end }: NonNullable<SqlDriver<Connection>['twoPasswords']>): TwoPasswords {
    const { name } = this.#options.rules;
    return {
      supported: async (signal) => this.#call(signal, async (connection) => supported(connection)),
      add: async ({ username, credential, signal }) =>
        this.#call(signal, async (connection) => add(connection, username, passwordOf(name, credential)), credential),
      end: async ({ username, signal }) => this.#call(signal, async (connection) => end(connection, username)),
    };
  }

  async #credential(credential: Credential): Promise<StatementValues> {
    const { driver, rules } = this.#options;
    const values = credentialValues(rules, credential);
    return driver.password && values.password !== undefined ? { password: await driver.password(values.password) } : values;
  }

  #render(commands: readonly string[], values: StatementValues): string[] {
    return renderStatements(commands, values, this.#options.rules.dialect);
  }

  async #run(signal: AbortSignal, statements: readonly string[], credential?: Credential): Promise<void> {
    this.#requireOpen();
    signal.throwIfAborted();
    if (statements.length > 0) await this.#call(signal, async (connection) => this.#options.driver.run(connection, statements), credential);
  }

  async #call<T>(signal: AbortSignal, work: (connection: Connection) => Promise<T>, credential?: Credential): Promise<T> {
    this.#requireOpen();
    return this.#use(signal, work, credential);
  }

  #requireOpen(): void {
    if (this.#closing) throw new SessionClosed();
  }

  async #use<T>(signal: AbortSignal, work: (connection: Connection) => Promise<T>, credential?: Credential): Promise<T> {
    try {
      return await this.#pool.use(signal, work);
    } catch (error) {
      throw signal.aborted ? error : this.#failure(error, credential);
    }
  }

  /** Each step is tried, whatever came of the others. Does not reject. */
  async #undo(username: string, steps: readonly ((connection: Connection) => Promise<void>)[], credential: Credential): Promise<void> {
    const { driver, log } = this.#options;
    for (const step of steps) {
      await this.#use(undoSignal(), step, credential).catch((error: unknown) => {
        const text = { error: driverErrorText(error) };
        if (driver.dropHalfMade) log.warn('a partly created user could not be removed', { username, ...text });
        else log.warn('rollback statements failed', text);
      });
    }
  }

  /** The error to show, without secrets and without the driver's own, which may repeat statements. A fault of the plugin's code stays what it is. */
  #failure(error: unknown, credential?: Credential): unknown {
    const { driver } = this.#options;
    const thrown = error instanceof NotConnected ? error.cause : error;
    if (isDatabaseError(thrown)) return thrown;
    const code = driver.refusal(thrown);
    if (code === undefined && (thrown instanceof TypeError || thrown instanceof ReferenceError)) return thrown;
    const text = this.#text(error, credential);
    if (error instanceof NotConnected)
      return new ConnectionLost(text, { unsent: true, login: error.login ?? driver.loginFailure?.(thrown) });
    return code === undefined
      ? new ConnectionLost(`connection to the database was lost: ${text}`)
      : new StatementFailed(text, { serverCode: code });
  }

  #text(error: unknown, credential?: Credential): string {
    const { driver, secrets } = this.#options;
    const thrown = error instanceof NotConnected ? error.cause : error;
    const all = { ...secrets, ...(credential?.type === 'password' && { 'new password': credential.password }) };
    const text = driver.errorText?.(thrown) ?? driverErrorText(thrown);
    return driver.mask?.(text, all) ?? redact(text, all);
  }
}

function orElse(own: readonly string[], byDefault: readonly string[] = []): readonly string[] {
  return own.length > 0 ? own : byDefault;
}

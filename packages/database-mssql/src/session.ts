import { type KnexPool, PoolCalls } from '@strongroom/database-knex';
import {
  type CreateUserRequest,
  type Credential,
  type DatabaseHost,
  type DatabaseSession,
  isDatabaseError,
  loginFailureOf,
  type ListUsersRequest,
  mssqlDialect,
  type PoolStatus,
  redact,
  renderStatements,
  type StatementValues,
  type UpdateUserRequest,
  type UserRequest,
  VerificationFailed,
} from '@strongroom/database-sdk';
import { creationValues, passwordOf, renderCreation } from './creation.ts';
import { expirationText, LOGIN_PASSWORD_DEFAULT, USER_PASSWORD_DEFAULT } from './default-statements.ts';
import type { MssqlConnectionHandle } from './dial.ts';
import { literal } from './quote.ts';
import { disableContainedUser, disableLogin, revokeContainedUser, revokeLogin } from './revocation.ts';
import { errorText, toDatabaseError } from './server-error.ts';
import { runTogether } from './statement-run.ts';

export interface SessionOptions {
  /** Users belong to the database, not to logins of the server. */
  readonly contained: boolean;
  /** What no message may show. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Undo runs after the caller's deadline may have passed, so it has one of its own. */
const UNDO_DEADLINE_MS = 10_000;

export class MssqlSession implements DatabaseSession {
  readonly #pool: KnexPool<MssqlConnectionHandle>;
  readonly #calls: PoolCalls<MssqlConnectionHandle>;
  readonly #options: SessionOptions;
  readonly #log: DatabaseHost['log'];
  /** For callers who do not wait any more. */
  readonly #undoing = new Set<Promise<void>>();

  constructor(pool: KnexPool<MssqlConnectionHandle>, options: SessionOptions, log: DatabaseHost['log']) {
    this.#pool = pool;
    this.#calls = new PoolCalls(pool, options.secrets, toDatabaseError);
    this.#options = options;
    this.#log = log;
  }

  async verify(signal: AbortSignal): Promise<void> {
    try {
      await this.#pool.use(signal, (handle) => handle.batch('SELECT 1 AS one'));
    } catch (error) {
      if (signal.aborted || isDatabaseError(error, 'session_closed')) throw error;
      throw new VerificationFailed(redact(errorText(error), this.#options.secrets), { login: loginFailureOf(error) });
    }
  }

  async createUser({ username, credential, expiresAt, statements, undo, signal }: CreateUserRequest): Promise<void> {
    const values = creationValues(username, expiresAt, credential);
    const creation = renderCreation(statements, values);
    const rollback = renderStatements(undo.commands, values, mssqlDialect);
    try {
      await this.#calls.run(signal, credential, (handle) => runTogether(handle, creation));
    } catch (error) {
      if (rollback.length > 0 && !isDatabaseError(error, 'session_closed')) {
        const undoing = this.#undo(rollback, credential);
        this.#undoing.add(undoing);
        const undone = undoing.finally(() => this.#undoing.delete(undoing));
        if (!signal.aborted) await undone;
      }
      throw error;
    }
  }

  async updateUser({ username, credential, statements, signal }: UpdateUserRequest): Promise<void> {
    const byDefault = this.#options.contained ? USER_PASSWORD_DEFAULT : LOGIN_PASSWORD_DEFAULT;
    const commands = statements.commands.length > 0 ? statements.commands : byDefault;
    await this.#statements(signal, commands, { name: username, username, password: passwordOf(credential) }, credential);
  }

  /** The server knows no end of a login, so there is nothing to do but what the role says. */
  async renewUser({ username, expiresAt, statements, signal }: UserRequest & { readonly expiresAt: Date }): Promise<void> {
    if (statements.commands.length === 0) return;
    await this.#statements(signal, statements.commands, { name: username, username, expiration: expirationText(expiresAt) });
  }

  async deleteUser({ username, statements, signal }: UserRequest): Promise<void> {
    if (statements.commands.length === 0) {
      const revoke = this.#options.contained ? revokeContainedUser : revokeLogin;
      return this.#calls.run(signal, undefined, (handle) => revoke(handle, username));
    }
    try {
      await this.#statements(signal, statements.commands, { name: username, username });
    } catch (error) {
      if (!isDatabaseError(error, 'statement_failed')) throw error;
      if ((await this.#users(`name = ${literal(username)}`, signal)).length > 0) throw error;
    }
  }

  async disableUser({ username, signal }: Pick<UserRequest, 'username' | 'signal'>): Promise<void> {
    const disable = this.#options.contained ? disableContainedUser : disableLogin;
    await this.#calls.run(signal, undefined, (handle) => disable(handle, username));
  }

  async listUsers({ prefix, signal }: ListUsersRequest): Promise<readonly string[]> {
    return this.#users(prefix === '' ? '1 = 1' : `CHARINDEX(${literal(prefix)}, name) = 1`, signal);
  }

  pool(): PoolStatus {
    return this.#pool.status();
  }

  async close(): Promise<void> {
    await Promise.all(this.#undoing);
    await this.#pool.close();
  }

  /** Names of SQL Server logins, or of users with passwords in a contained database. */
  async #users(which: string, signal: AbortSignal): Promise<string[]> {
    const from = this.#options.contained
      ? `sys.database_principals WHERE type = 'S' AND authentication_type = 2`
      : `sys.server_principals WHERE type = 'S'`;
    const rows = await this.#calls.run(signal, undefined, (handle) => handle.batch(`SELECT name FROM ${from} AND ${which} ORDER BY name`));
    return rows.map(({ name }) => String(name));
  }

  async #statements(signal: AbortSignal, commands: readonly string[], values: StatementValues, credential?: Credential): Promise<void> {
    const rendered = renderStatements(commands, values, mssqlDialect);
    await this.#calls.run(signal, credential, (handle) => runTogether(handle, rendered));
  }

  /** Does not reject. */
  async #undo(statements: readonly string[], credential: Credential): Promise<void> {
    try {
      await this.#calls.run(AbortSignal.timeout(UNDO_DEADLINE_MS), credential, (handle) => runTogether(handle, statements));
    } catch (error) {
      this.#log.warn('rollback statements failed', { error: errorText(error) });
    }
  }
}

import { type KnexPool, PoolCalls } from '@strongroom/database-knex';
import {
  type CreateUserRequest,
  type Credential,
  CredentialUnsupported,
  type DatabaseHost,
  type DatabaseSession,
  isDatabaseError,
  loginFailureOf,
  type ListUsersRequest,
  mysqlDialect,
  type PoolStatus,
  renderStatements,
  type StatementValues,
  type UpdateUserRequest,
  type UserRequest,
  VerificationFailed,
} from '@strongroom/database-sdk';
import type { Connection } from 'mysql2';
import { creationValues, credentialValues, renderCreation } from './creation.ts';
import { CREDENTIAL_CHANGE_DEFAULT, expirationText } from './default-statements.ts';
import { query } from './dial.ts';
import { createsUser, dropHalfMade, hostsOf, revokeAndDrop, takeLogin } from './revocation.ts';
import { errorText, hideSecrets, toDatabaseError } from './server-error.ts';
import { runStatements } from './statement-run.ts';
import { listUsers } from './user-list.ts';

/** Undo runs after the caller's deadline may have passed, so it has one of its own. */
const UNDO_DEADLINE_MS = 10_000;

export class MysqlSession implements DatabaseSession {
  readonly #pool: KnexPool<Connection>;
  readonly #calls: PoolCalls<Connection>;
  readonly #secrets: Readonly<Record<string, string>>;
  readonly #log: DatabaseHost['log'];
  /** Undoing for callers who do not wait any more. */
  readonly #cleaning = new Set<Promise<void>>();

  /** `secrets`: what no message may show. */
  constructor(pool: KnexPool<Connection>, secrets: Readonly<Record<string, string>>, log: DatabaseHost['log']) {
    this.#pool = pool;
    this.#calls = new PoolCalls(pool, secrets, toDatabaseError);
    this.#secrets = secrets;
    this.#log = log;
  }

  async verify(signal: AbortSignal): Promise<void> {
    try {
      await this.#pool.use(signal, (connection) => query(connection, 'SELECT 1'));
    } catch (error) {
      if (signal.aborted || isDatabaseError(error, 'session_closed')) throw error;
      throw new VerificationFailed(hideSecrets(errorText(error), this.#secrets), {
        prefix: 'error verifying - ping',
        login: loginFailureOf(error),
      });
    }
  }

  async createUser({ username, credential, expiresAt, statements, undo, signal }: CreateUserRequest): Promise<void> {
    const values = creationValues(username, expiresAt, credential);
    const creation = renderCreation(statements, values);
    const rollback = renderStatements(undo.commands, values, mysqlDialect);
    const certain = creation.some((statement) => createsUser(statement, username));
    let ours = false;
    try {
      await this.#calls.run(signal, credential, async (connection) => {
        const absent = !certain && creation.length > 1 && (await hostsOf(connection, username))?.length === 0;
        await runStatements(connection, creation, (statement) => (ours ||= absent || createsUser(statement, username)));
      });
    } catch (error) {
      if (isDatabaseError(error, 'session_closed')) throw error;
      const undoing = this.#undo(username, rollback, ours, credential);
      this.#cleaning.add(undoing);
      const undone = undoing.finally(() => this.#cleaning.delete(undoing));
      if (!signal.aborted) await undone;
      throw error;
    }
  }

  async updateUser({ username, credential, statements, signal }: UpdateUserRequest): Promise<void> {
    if (credential.type === 'rsa_private_key') throw new CredentialUnsupported('mysql-database-plugin', credential.type);
    const values = { name: username, username, ...credentialValues(credential) };
    await this.#statements(
      signal,
      statements.commands.length > 0 ? statements.commands : CREDENTIAL_CHANGE_DEFAULT[credential.type],
      values,
      credential,
    );
  }

  /** The server knows no end of a user, so there is nothing to do but what the role says. */
  async renewUser({ username, expiresAt, statements, signal }: UserRequest & { readonly expiresAt: Date }): Promise<void> {
    if (statements.commands.length === 0) return;
    await this.#statements(signal, statements.commands, { name: username, username, expiration: expirationText(expiresAt) });
  }

  async deleteUser({ username, statements, signal }: UserRequest): Promise<void> {
    if (statements.commands.length === 0) return this.#calls.run(signal, undefined, (connection) => revokeAndDrop(connection, username));
    try {
      await this.#statements(signal, statements.commands, { name: username, username });
    } catch (error) {
      if (!isDatabaseError(error, 'statement_failed')) throw error;
      const hosts = await this.#calls.run(signal, undefined, (connection) => hostsOf(connection, username));
      if (hosts?.length !== 0) throw error;
    }
  }

  async disableUser({ username, signal }: Pick<UserRequest, 'username' | 'signal'>): Promise<void> {
    await this.#calls.run(signal, undefined, (connection) => takeLogin(connection, username));
  }

  async listUsers({ prefix, signal }: ListUsersRequest): Promise<readonly string[]> {
    return this.#calls.run(signal, undefined, (connection) => listUsers(connection, prefix));
  }

  pool(): PoolStatus {
    return this.#pool.status();
  }

  async close(): Promise<void> {
    await Promise.all(this.#cleaning);
    await this.#pool.close();
  }

  async #statements(signal: AbortSignal, commands: readonly string[], values: StatementValues, credential?: Credential): Promise<void> {
    const rendered = renderStatements(commands, values, mysqlDialect);
    await this.#calls.run(signal, credential, (connection) => runStatements(connection, rendered));
  }

  /** Statements on accounts cannot be rolled back. First what the role says; then a user that creation certainly made. Does not reject. */
  async #undo(username: string, rollback: readonly string[], ours: boolean, credential: Credential): Promise<void> {
    const steps: ((connection: Connection) => Promise<void>)[] = [];
    if (rollback.length > 0) steps.push((connection) => runStatements(connection, rollback));
    if (ours) steps.push((connection) => dropHalfMade(connection, username));
    for (const step of steps) {
      try {
        await this.#calls.run(AbortSignal.timeout(UNDO_DEADLINE_MS), credential, step);
      } catch (error) {
        this.#log.warn('a half-made user could not be undone', { username, error: errorText(error) });
      }
    }
  }
}

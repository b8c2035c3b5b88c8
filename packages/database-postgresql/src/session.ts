import { type KnexPool, PoolCalls } from '@strongroom/database-knex';
import {
  type CreateUserRequest,
  type Credential,
  type DatabaseHost,
  type DatabaseSession,
  isDatabaseError,
  loginFailureOf,
  type ListUsersRequest,
  type PoolStatus,
  postgresqlDialect,
  redact,
  type RenewUserRequest,
  renderStatements,
  StatementInvalid,
  type StatementValues,
  type UpdateUserRequest,
  type UserRequest,
  VerificationFailed,
} from '@strongroom/database-sdk';
import type { Client } from 'pg';
import { creationValues, credentialValues, renderCreation } from './creation.ts';
import { expirationText, PASSWORD_CHANGE_DEFAULT, RENEW_DEFAULT } from './default-statements.ts';
import { revokeAndDrop, takeLogin } from './revocation.ts';
import { scramVerifier } from './scram.ts';
import { errorText, toDatabaseError } from './server-error.ts';
import { runTogether } from './transaction.ts';

export type PasswordAuthentication = 'password' | 'scram-sha-256';

export interface SessionOptions {
  readonly passwordAuthentication: PasswordAuthentication;
  /** What no message may show. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Undo runs after the caller's deadline may have passed, so it has one of its own. */
const UNDO_DEADLINE_MS = 10_000;

export class PostgresqlSession implements DatabaseSession {
  readonly #pool: KnexPool<Client>;
  readonly #calls: PoolCalls<Client>;
  readonly #options: SessionOptions;
  readonly #log: DatabaseHost['log'];
  /** For callers who do not wait any more. */
  readonly #undoing = new Set<Promise<void>>();

  constructor(pool: KnexPool<Client>, options: SessionOptions, log: DatabaseHost['log']) {
    this.#pool = pool;
    this.#calls = new PoolCalls(pool, options.secrets, toDatabaseError);
    this.#options = options;
    this.#log = log;
  }

  async verify(signal: AbortSignal): Promise<void> {
    try {
      await this.#pool.use(signal, (client) => client.query('SELECT 1'));
    } catch (error) {
      if (signal.aborted || isDatabaseError(error, 'session_closed')) throw error;
      throw new VerificationFailed(redact(errorText(error), this.#options.secrets), { login: loginFailureOf(error) });
    }
  }

  async createUser({ username, credential, expiresAt, statements, undo, signal }: CreateUserRequest): Promise<void> {
    const values = creationValues(username, expiresAt, await this.#credentialValues(credential));
    const creation = renderCreation(statements, values);
    const rollback = renderStatements(undo.commands, values, postgresqlDialect);
    try {
      await this.#calls.run(signal, credential, (client) => runTogether(client, creation));
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
    if (credential.type !== 'password' && statements.commands.length === 0) {
      throw new StatementInvalid(`rotating a ${credential.type} needs rotation statements`);
    }
    const values = { name: username, username, ...(await this.#credentialValues(credential)) };
    const commands = statements.commands.length > 0 ? statements.commands : PASSWORD_CHANGE_DEFAULT;
    await this.#statements(signal, commands, values, credential);
  }

  async renewUser({ username, expiresAt, statements, signal }: RenewUserRequest): Promise<void> {
    const commands = statements.commands.length > 0 ? statements.commands : RENEW_DEFAULT;
    await this.#statements(signal, commands, { name: username, username, expiration: expirationText(expiresAt) });
  }

  async deleteUser({ username, statements, signal }: UserRequest): Promise<void> {
    if (statements.commands.length === 0) return this.#calls.run(signal, undefined, (client) => revokeAndDrop(client, username));
    try {
      await this.#statements(signal, statements.commands, { name: username, username });
    } catch (error) {
      if (!isDatabaseError(error, 'statement_failed') || (await this.#exists(username, signal))) throw error;
    }
  }

  async disableUser({ username, signal }: Pick<UserRequest, 'username' | 'signal'>): Promise<void> {
    await this.#calls.run(signal, undefined, (client) => takeLogin(client, username));
  }

  async listUsers({ prefix, signal }: ListUsersRequest): Promise<readonly string[]> {
    const query =
      'SELECT rolname AS name FROM pg_catalog.pg_roles ' +
      "WHERE (rolcanlogin OR rolvaliduntil = '-infinity') AND pg_catalog.starts_with(rolname::text, $1) ORDER BY 1";
    const { rows } = await this.#calls.run(signal, undefined, (client) => client.query<{ name: string }>(query, [prefix]));
    return rows.map(({ name }) => name);
  }

  pool(): PoolStatus {
    return this.#pool.status();
  }

  async close(): Promise<void> {
    await Promise.all(this.#undoing);
    await this.#pool.close();
  }

  async #statements(signal: AbortSignal, commands: readonly string[], values: StatementValues, credential?: Credential): Promise<void> {
    const rendered = renderStatements(commands, values, postgresqlDialect);
    await this.#calls.run(signal, credential, (client) => runTogether(client, rendered));
  }

  /** Does not reject. */
  async #undo(statements: readonly string[], credential: Credential): Promise<void> {
    try {
      await this.#calls.run(AbortSignal.timeout(UNDO_DEADLINE_MS), credential, (client) => runTogether(client, statements));
    } catch (error) {
      this.#log.warn('rollback statements failed', { error: errorText(error) });
    }
  }

  async #exists(username: string, signal: AbortSignal): Promise<boolean> {
    const query = 'SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = $1::name';
    return (await this.#calls.run(signal, undefined, (client) => client.query(query, [username]))).rows.length > 0;
  }

  async #credentialValues(credential: Credential): Promise<StatementValues> {
    const values = credentialValues(credential);
    if (values.password === undefined || this.#options.passwordAuthentication === 'password') return values;
    return { password: await scramVerifier(values.password) };
  }
}

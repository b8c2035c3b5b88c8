import {
  type CreateUserRequest,
  type Credential,
  CredentialUnsupported,
  type DatabaseHost,
  type DatabaseSession,
  cqlDialect,
  isDatabaseError,
  loginFailureOf,
  type ListUsersRequest,
  type PoolStatus,
  redact,
  renderStatements,
  sentBefore,
  type UpdateUserRequest,
  type UserRequest,
  VerificationFailed,
} from '@strongroom/database-sdk';
import { creationStatements, expirationText, PASSWORD_CHANGE_DEFAULT, REVOCATION_DEFAULT, statementsOr } from './default-statements.ts';
import { type Row, ClusterLink } from './link.ts';
import { errorText, INVALID, isServerError, toDatabaseError, UNAUTHORIZED } from './server-error.ts';
import type { CassandraSettings } from './settings.ts';

/** Undo runs after the caller's deadline may have passed, so it has one of its own. */
const UNDO_DEADLINE_MS = 10_000;

export class CassandraSession implements DatabaseSession {
  readonly #settings: CassandraSettings;
  readonly #link: ClusterLink;
  readonly #log: DatabaseHost['log'];

  constructor(settings: CassandraSettings, log: DatabaseHost['log']) {
    this.#settings = settings;
    this.#link = new ClusterLink(settings);
    this.#log = log;
  }

  /**
   * Logs in. Whether the user may manage others is looked at, unless `skip_verification` says not to, and only logged: static users, who may not,
   * prove their passwords here too.
   */
  async verify(signal: AbortSignal): Promise<void> {
    try {
      await this.#link.login(signal);
      if (this.#settings.looksAtPermissions && !(await this.#mayCreateUsers(signal))) {
        this.#log.warn('the user of the connection is not authorized to create roles, so it cannot manage users');
      }
    } catch (error) {
      if (signal.aborted || isDatabaseError(error, 'session_closed')) throw error;
      throw new VerificationFailed(redact(errorText(error), this.#settings.secrets), { login: loginFailureOf(error) });
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
    const password = requirePassword(credential);
    const values = { name: username, username, password, expiration: expirationText(expiresAt) };
    const creation = creationStatements(statements.commands, values);
    const rollback = renderStatements(rollbackStatements.commands, values, cqlDialect);
    let begun = 0;
    try {
      for (const statement of creation) {
        begun++;
        await this.#execute(signal, statement, password);
      }
    } catch (error) {
      // What refused the first statement may be that somebody else has this name.
      const nothingDone = begun === 1 && isDatabaseError(error, 'statement_failed');
      if (!nothingDone && !isDatabaseError(error, 'session_closed')) {
        const undoing = this.#undo(username, rollback, password);
        if (!signal.aborted) await undoing;
      }
      throw begun > 1 ? sentBefore(error) : error;
    }
  }

  async updateUser({ username, credential, statements, signal }: UpdateUserRequest): Promise<void> {
    const password = requirePassword(credential);
    let begun = 0;
    for (const statement of statementsOr(PASSWORD_CHANGE_DEFAULT, statements.commands, { name: username, username, password })) {
      begun++;
      await this.#execute(signal, statement, password).catch((error: unknown) => {
        throw begun > 1 ? sentBefore(error) : error;
      });
    }
  }

  async deleteUser({ username, statements, signal }: UserRequest): Promise<void> {
    try {
      for (const statement of statementsOr(REVOCATION_DEFAULT, statements.commands, { name: username, username })) {
        await this.#execute(signal, statement);
      }
    } catch (error) {
      if (!isDatabaseError(error, 'statement_failed') || (await this.#exists(username, signal))) throw error;
    }
  }

  /** Sessions that are open stay so: the database cannot end them, but asks for the permissions of a user anew every few seconds. */
  async disableUser({ username, signal }: Pick<UserRequest, 'username' | 'signal'>): Promise<void> {
    const [statement] = renderStatements([`ALTER ROLE '{{username}}' WITH LOGIN = false`], { username }, cqlDialect);
    try {
      await this.#execute(signal, statement!);
    } catch (error) {
      if (!isDatabaseError(error, 'statement_failed') || (await this.#exists(username, signal))) throw error;
    }
  }

  async listUsers({ prefix, signal }: ListUsersRequest): Promise<readonly string[]> {
    const roles = await this.#execute(signal, 'LIST ROLES');
    return roles
      .filter((role) => role['login'] === true)
      .map((role) => String(role['role']))
      .filter((name) => name.startsWith(prefix));
  }

  pool(): PoolStatus {
    return this.#link.pool();
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  /** Superusers may list all permissions; others only their own. */
  async #mayCreateUsers(signal: AbortSignal): Promise<boolean> {
    const { username } = this.#settings;
    const [ownPermissions] = renderStatements([`LIST CREATE ON ALL ROLES OF '{{username}}'`], { username }, cqlDialect);
    const rows = (statement: string): Promise<Row[] | undefined> =>
      this.#execute(signal, statement).catch((error: unknown) => {
        if (isDatabaseError(error, 'statement_failed')) return undefined;
        throw error;
      });
    return (await rows('LIST ALL')) !== undefined || ((await rows(ownPermissions!)) ?? []).length > 0;
  }

  /** `LIST ROLES` leaves out what the managing user may not see, so the server is asked for the one. */
  async #exists(username: string, signal: AbortSignal): Promise<boolean> {
    const [question] = renderStatements([`LIST ROLES OF '{{username}}'`], { username }, cqlDialect);
    try {
      await this.#link.execute(signal, question!);
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      if (isServerError(error) && error.code === INVALID) return false;
      if (isServerError(error) && error.code === UNAUTHORIZED) return true;
      throw toDatabaseError(error, this.#settings.secrets);
    }
  }

  async #execute(signal: AbortSignal, statement: string, password?: string): Promise<Row[]> {
    try {
      return await this.#link.execute(signal, statement);
    } catch (error) {
      if (signal.aborted) throw error;
      throw toDatabaseError(error, { ...this.#settings.secrets, ...(password !== undefined && { 'new password': password }) });
    }
  }

  /** The role's rollback statements, and the user's removal whatever they do: there are no transactions. */
  async #undo(username: string, rollback: readonly string[], password: string): Promise<void> {
    const signal = AbortSignal.timeout(UNDO_DEADLINE_MS);
    try {
      for (const statement of rollback) await this.#execute(signal, statement, password);
    } catch (error) {
      this.#log.warn('rollback statements failed', { error: String(error) });
    }
    try {
      await this.deleteUser({ username, statements: { commands: [] }, signal });
    } catch (error) {
      this.#log.warn('a user whose creation failed could not be removed', { username, error: String(error) });
    }
  }
}

function requirePassword(credential: Credential): string {
  if (credential.type !== 'password') throw new CredentialUnsupported('cassandra-database-plugin', credential.type);
  return credential.password;
}

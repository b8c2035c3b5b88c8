import { randomBytes } from 'node:crypto';
import {
  type CreateUserRequest,
  type Credential,
  CredentialUnsupported,
  type DatabaseHost,
  type DatabaseSession,
  influxqlDialect,
  type DatabaseError,
  isDatabaseError,
  type LoginFailure,
  type ListUsersRequest,
  type PoolStatus,
  renderStatements,
  sentBefore,
  type StatementFailed,
  type UpdateUserRequest,
  type UserRequest,
  VerificationFailed,
} from '@strongroom/database-sdk';
import { creationStatements, expirationText, PASSWORD_CHANGE_DEFAULT, REVOCATION_DEFAULT, statementsOr } from './default-statements.ts';
import { HttpInterface } from './http-interface.ts';
import type { InfluxdbSettings } from './settings.ts';

/** Undo runs after the caller's deadline may have passed, so it has one of its own. */
const UNDO_DEADLINE_MS = 10_000;

export class InfluxdbSession implements DatabaseSession {
  readonly #http: HttpInterface;
  readonly #log: DatabaseHost['log'];

  constructor(settings: InfluxdbSettings, log: DatabaseHost['log']) {
    this.#http = new HttpInterface(settings);
    this.#log = log;
  }

  /** Logs in. A user who is no administrator passes, because static users prove their passwords here too; that is only logged. */
  async verify(signal: AbortSignal): Promise<void> {
    try {
      await this.#http.query(signal, 'SHOW DATABASES');
    } catch (error) {
      if (!isDatabaseError(error) || error.code === 'session_closed') throw error;
      throw new VerificationFailed(this.#http.loginText(error), { login: loginFailure(error) });
    }
    try {
      await this.#http.query(signal, 'SHOW USERS');
    } catch (error) {
      if (!isDatabaseError(error, 'statement_failed')) throw error;
      this.#log.warn('the user of the connection is no administrator of the server, so it cannot manage users');
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
    const rollback = renderStatements(rollbackStatements.commands, values, influxqlDialect);
    let begun = 0;
    try {
      for (const statement of creation) {
        begun++;
        await this.#http.query(signal, statement, password);
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
      await this.#http.query(signal, statement, password).catch((error: unknown) => {
        throw begun > 1 ? sentBefore(error) : error;
      });
    }
  }

  async deleteUser({ username, statements, signal }: UserRequest): Promise<void> {
    try {
      for (const statement of statementsOr(REVOCATION_DEFAULT, statements.commands, { name: username, username })) {
        await this.#http.query(signal, statement);
      }
    } catch (error) {
      if (!isDatabaseError(error, 'statement_failed') || (await this.#names(signal)).includes(username)) throw error;
    }
  }

  /** The server cannot lock a user: it gets a password that nobody knows, and loses its privileges. */
  async disableUser({ username, signal }: Pick<UserRequest, 'username' | 'signal'>): Promise<void> {
    const password = randomBytes(24).toString('base64url');
    const statements = [`SET PASSWORD FOR "{{username}}" = '{{password}}'`, `REVOKE ALL PRIVILEGES FROM "{{username}}"`];
    try {
      for (const statement of renderStatements(statements, { username, password }, influxqlDialect)) {
        await this.#http.query(signal, statement, password);
      }
    } catch (error) {
      if (!isDatabaseError(error, 'statement_failed') || (await this.#names(signal)).includes(username)) throw error;
    }
  }

  async listUsers({ prefix, signal }: ListUsersRequest): Promise<readonly string[]> {
    return (await this.#names(signal)).filter((name) => name.startsWith(prefix));
  }

  pool(): PoolStatus {
    return this.#http.pool();
  }

  close(): Promise<void> {
    return this.#http.close();
  }

  /** Rows of `SHOW USERS` are name and whether an administrator. */
  async #names(signal: AbortSignal): Promise<string[]> {
    return (await this.#http.query(signal, 'SHOW USERS')).map(([name]) => String(name));
  }

  /** The role's rollback statements, and the user's removal whatever they do: there are no transactions. */
  async #undo(username: string, rollback: readonly string[], password: string): Promise<void> {
    const signal = AbortSignal.timeout(UNDO_DEADLINE_MS);
    try {
      for (const statement of rollback) await this.#http.query(signal, statement, password);
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

/** Requests are apart from each other: one that was answered 401 says that the credential is wrong. */
function loginFailure(error: DatabaseError): LoginFailure {
  if (!isDatabaseError(error, 'statement_failed')) return 'unreachable';
  return (error as StatementFailed).serverCode === '401' ? 'credential' : 'barred';
}

function requirePassword(credential: Credential): string {
  if (credential.type !== 'password') throw new CredentialUnsupported('influxdb-database-plugin', credential.type);
  return credential.password;
}

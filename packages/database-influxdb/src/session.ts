import { randomBytes } from 'node:crypto';
import {
  type DatabaseHost,
  type DatabaseSession,
  influxqlDialect,
  type DatabaseError,
  isDatabaseError,
  type LoginFailure,
  type ListUsersRequest,
  type PoolStatus,
  renderStatements,
  SerialSession,
  type StatementFailed,
  type UserRequest,
  VerificationFailed,
} from '@strongroom/database-sdk';
import { rules } from './default-statements.ts';
import { HttpInterface } from './http-interface.ts';
import type { InfluxdbSettings } from './settings.ts';

export class InfluxdbSession extends SerialSession implements DatabaseSession {
  readonly #http: HttpInterface;

  constructor(settings: InfluxdbSettings, log: DatabaseHost['log']) {
    super(rules, log);
    this.#http = new HttpInterface(settings);
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
      this.log.warn('the user of the connection is no administrator of the server, so it cannot manage users');
    }
  }

  /** The server cannot lock a user: it gets a password that is stored nowhere, and loses its privileges. */
  async disableUser({ username, signal }: Pick<UserRequest, 'username' | 'signal'>): Promise<void> {
    const password = randomBytes(24).toString('base64url');
    const statements = [`SET PASSWORD FOR "{{username}}" = '{{password}}'`, `REVOKE ALL PRIVILEGES FROM "{{username}}"`];
    await this.sendUnlessAbsent(username, signal, renderStatements(statements, { username, password }, influxqlDialect), password);
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

  protected async send(signal: AbortSignal, statement: string, password?: string): Promise<unknown[][]> {
    return this.#http.query(signal, statement, password);
  }

  protected async exists(username: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#names(signal)).includes(username);
  }

  /** Rows of `SHOW USERS` are name and whether an administrator. */
  async #names(signal: AbortSignal): Promise<string[]> {
    return (await this.#http.query(signal, 'SHOW USERS')).map(([name]) => String(name));
  }
}

/** Requests are apart from each other: one that was answered 401 says that the credential is wrong. */
function loginFailure(error: DatabaseError): LoginFailure {
  if (!isDatabaseError(error, 'statement_failed')) return 'unreachable';
  return (error as StatementFailed).serverCode === '401' ? 'credential' : 'barred';
}

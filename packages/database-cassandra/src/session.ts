import {
  type DatabaseHost,
  type DatabaseSession,
  cqlDialect,
  isDatabaseError,
  loginFailureOf,
  type ListUsersRequest,
  type PoolStatus,
  redact,
  renderStatements,
  SerialSession,
  type UserRequest,
  VerificationFailed,
} from '@strongroom/database-sdk';
import { rules } from './default-statements.ts';
import { type Row, ClusterLink } from './link.ts';
import { errorText, INVALID, isServerError, toDatabaseError, UNAUTHORIZED } from './server-error.ts';
import type { CassandraSettings } from './settings.ts';

export class CassandraSession extends SerialSession implements DatabaseSession {
  readonly #settings: CassandraSettings;
  readonly #link: ClusterLink;

  constructor(settings: CassandraSettings, log: DatabaseHost['log']) {
    super(rules, log);
    this.#settings = settings;
    this.#link = new ClusterLink(settings);
  }

  /**
   * Logs in. Whether the user may manage others is looked at, unless `skip_verification` says not to, and only logged: static users, who may not,
   * prove their passwords here too.
   */
  async verify(signal: AbortSignal): Promise<void> {
    try {
      await this.#link.login(signal);
      if (this.#settings.looksAtPermissions && !(await this.#mayCreateUsers(signal))) {
        this.log.warn('the user of the connection is not authorized to create roles, so it cannot manage users');
      }
    } catch (error) {
      if (signal.aborted || isDatabaseError(error, 'session_closed')) throw error;
      throw new VerificationFailed(redact(errorText(error), this.#settings.secrets), { login: loginFailureOf(error) });
    }
  }

  /** Sessions that are open stay so: the database cannot end them, but asks for the permissions of a user again every few seconds. */
  async disableUser({ username, signal }: Pick<UserRequest, 'username' | 'signal'>): Promise<void> {
    const statements = renderStatements([`ALTER ROLE '{{username}}' WITH LOGIN = false`], { username }, cqlDialect);
    await this.sendUnlessAbsent(username, signal, statements);
  }

  async listUsers({ prefix, signal }: ListUsersRequest): Promise<readonly string[]> {
    const roles = await this.send(signal, 'LIST ROLES');
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
      this.send(signal, statement).catch((error: unknown) => {
        if (isDatabaseError(error, 'statement_failed')) return undefined;
        throw error;
      });
    return (await rows('LIST ALL')) !== undefined || ((await rows(ownPermissions!)) ?? []).length > 0;
  }

  /** `LIST ROLES` leaves out what the managing user may not see, so the server is asked for the one. */
  protected async exists(username: string, signal: AbortSignal): Promise<boolean> {
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

  protected async send(signal: AbortSignal, statement: string, password?: string): Promise<Row[]> {
    try {
      return await this.#link.execute(signal, statement);
    } catch (error) {
      if (signal.aborted) throw error;
      throw toDatabaseError(error, { ...this.#settings.secrets, ...(password !== undefined && { 'new password': password }) });
    }
  }
}

import { randomBytes } from 'node:crypto';
import {
  type ChangeOwnPasswordRequest,
  type DatabaseHost,
  type DatabaseSession,
  type DeleteUserRequest,
  driverErrorText,
  isDatabaseError,
  type ListUsersRequest,
  loginFailureOf,
  passwordOf,
  SerialSession,
  type UpdateUserRequest,
  type UserRequest,
  VerificationFailed,
} from '@strongroom/database-sdk';
import { type CypherStatement, cypherStatements } from './cypher.ts';
import { PASSWORD_CHANGE_DEFAULT, rules } from './default-statements.ts';
import { GraphLink, type Row } from './link.ts';
import type { Neo4jSettings } from './settings.ts';

const SHOW_USERS = 'SHOW USERS YIELD user';

export class Neo4jSession extends SerialSession<CypherStatement> implements DatabaseSession {
  readonly #settings: Neo4jSettings;
  readonly #link: GraphLink;

  constructor(settings: Neo4jSettings, log: DatabaseHost['log']) {
    super(rules, log);
    this.#settings = settings;
    this.#link = new GraphLink(settings);
  }

  /** Logs in. A user who may not manage others passes, because static users prove their passwords here too; that is only logged. */
  async verify(signal: AbortSignal): Promise<void> {
    try {
      await this.#link.login(signal, async (run) => {
        await run('SHOW CURRENT USER');
        await run(SHOW_USERS).catch((error: unknown) => {
          if (!isDatabaseError(error, 'statement_failed')) throw error;
          this.log.warn('the user of the connection may not list users, so it cannot manage them');
        });
      });
    } catch (error) {
      if (signal.aborted || !isDatabaseError(error) || error.code === 'session_closed') throw error;
      throw new VerificationFailed(error.message, { login: loginFailureOf(error) ?? 'unreachable' });
    }
  }

  /** The user of the connection changes its own password with the old one, which needs no rights. */
  override async updateUser(request: UpdateUserRequest): Promise<void> {
    const { username, credential, statements, signal } = request;
    if (username !== this.#settings.username || statements.commands.some((command) => command.trim() !== '')) {
      return super.updateUser(request);
    }
    const password = passwordOf(rules.name, credential);
    const parameters = { old: this.#settings.password, password };
    await this.send(signal, { text: 'ALTER CURRENT USER SET PASSWORD FROM $old TO $password', parameters }, password);
  }

  /** The session has logged in as this user: `updateUser` has it change its own password. */
  async changeOwnPassword(request: ChangeOwnPasswordRequest): Promise<void> {
    await this.updateUser(request);
  }

  /** The user first, so that nobody logs in while its sessions are ended. */
  override async deleteUser(request: DeleteUserRequest): Promise<void> {
    await super.deleteUser(request);
    if (request.endSessions) await this.#endSessions(request.username, request.signal);
  }

  /** Only the Enterprise Edition can suspend a user: it gets a password that is stored nowhere, and its sessions are ended. */
  async disableUser({ username, signal }: Pick<UserRequest, 'username' | 'signal'>): Promise<void> {
    const password = randomBytes(24).toString('base64url');
    await this.sendUnlessAbsent(username, signal, cypherStatements(PASSWORD_CHANGE_DEFAULT, { username, password }), password);
    await this.#endSessions(username, signal);
  }

  async listUsers({ prefix, signal }: ListUsersRequest): Promise<readonly string[]> {
    const rows = await this.send(signal, { text: SHOW_USERS, parameters: {} });
    return rows.map(({ user }) => String(user)).filter((name) => name.startsWith(prefix));
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  protected async send(signal: AbortSignal, statement: CypherStatement, password?: string): Promise<readonly Row[]> {
    return this.#link.run(signal, statement, password);
  }

  protected async exists(username: string, signal: AbortSignal): Promise<boolean> {
    const text = `${SHOW_USERS} WHERE user = $name RETURN user`;
    return (await this.send(signal, { text, parameters: { name: username } })).length > 0;
  }

  /** The server does not end the sessions of users that are dropped. What the managing user may not do keeps nobody from being dropped. */
  async #endSessions(username: string, signal: AbortSignal): Promise<void> {
    try {
      const text = 'CALL dbms.listConnections() YIELD connectionId, username';
      const connections = await this.send(signal, { text, parameters: {} });
      const ids = connections.filter((connection) => connection['username'] === username).map(({ connectionId }) => String(connectionId));
      if (ids.length > 0) await this.send(signal, { text: 'CALL dbms.killConnections($ids)', parameters: { ids } });
    } catch (error) {
      if (!isDatabaseError(error, 'statement_failed')) throw error;
      this.log.warn('the sessions of a user could not be ended', { username, error: driverErrorText(error) });
    }
  }
}

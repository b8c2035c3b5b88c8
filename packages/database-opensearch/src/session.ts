import { randomBytes } from 'node:crypto';
import {
  type ChangeOwnPasswordRequest,
  type CreateUserRequest,
  type DatabaseError,
  type DatabaseHost,
  type DatabaseSession,
  driverErrorText,
  isDatabaseError,
  type ListUsersRequest,
  type LoginFailure,
  passwordOf,
  type PoolStatus,
  sentBefore,
  StatementFailed,
  StatementInvalid,
  undoSignal,
  type UpdateUserRequest,
  type UserRequest,
  VerificationFailed,
} from '@strongroom/database-sdk';
import { SecurityApi, type SecurityCall } from './security-api.ts';
import type { OpensearchSettings } from './settings.ts';
import { creationSteps, objectPath, ownDescription, PLUGIN_NAME } from './user-definition.ts';

interface Described {
  readonly description?: string;
}

export class OpensearchSession implements DatabaseSession {
  readonly #settings: OpensearchSettings;
  readonly #log: DatabaseHost['log'];
  readonly #api: SecurityApi;

  constructor(settings: OpensearchSettings, log: DatabaseHost['log']) {
    this.#settings = settings;
    this.#log = log;
    this.#api = new SecurityApi(settings);
  }

  /** Logs in. A user who manages nobody passes, because static users prove their passwords here too; that is only logged. */
  async verify(signal: AbortSignal): Promise<void> {
    const { origin, username } = this.#settings;
    try {
      await this.#api.call(signal, { method: 'GET', path: '/authinfo' });
    } catch (error) {
      if (!isDatabaseError(error) || error.code === 'session_closed') throw error;
      const said = error.message.replace(/^failed to execute query: /, '');
      const detail = error.code === 'connection_lost' ? said : `failed to log in to ${origin} as ${username}: ${said}`;
      throw new VerificationFailed(detail, { login: loginFailure(error) });
    }
    try {
      await this.#send(signal, { method: 'GET', path: objectPath('internalusers', username) });
    } catch (error) {
      if (!isDatabaseError(error, 'statement_failed')) throw error;
      this.#log.warn('the user of the connection may not use the API of the security plugin, so it cannot manage users');
    }
  }

  async createUser(request: CreateUserRequest): Promise<void> {
    const { username, credential, signal } = request;
    const steps = creationSteps(request);
    if (request.rollback.commands.length > 0) {
      this.#log.warn('rollback statements are not used: what a creation that fails has made is removed', { username });
    }
    const password = passwordOf(PLUGIN_NAME, credential);
    // PUT would replace what has this name.
    for (const { path } of steps) {
      if ((await this.#send(signal, { method: 'GET', path })) !== undefined) {
        throw new StatementFailed(`${JSON.stringify(username)} already exists: ${path.split('/')[1]}`);
      }
    }
    let begun = 0;
    try {
      for (const { path, body } of steps) {
        begun++;
        await this.#send(signal, { method: 'PUT', path, body, password });
      }
    } catch (error) {
      const nothingDone = begun === 1 && isDatabaseError(error, 'statement_failed');
      if (!nothingDone && !isDatabaseError(error, 'session_closed')) {
        const undoing = this.#undo(username);
        if (!signal.aborted) await undoing;
      }
      throw begun > 1 ? sentBefore(error) : error;
    }
  }

  /** By PATCH, because PUT would take the user's roles and attributes away. The user of the connection changes its own password. */
  async updateUser({ username, credential, statements, signal }: UpdateUserRequest): Promise<void> {
    const password = passwordOf(PLUGIN_NAME, credential);
    if (statements.commands.some((command) => command.trim() !== '')) {
      throw new StatementInvalid('rotation statements are not used by OpenSearch: the password is all that a rotation changes');
    }
    if (username === this.#settings.username) {
      const body = { current_password: this.#settings.password, password };
      await this.#send(signal, { method: 'PUT', path: '/account', body, password });
      return;
    }
    const body = [{ op: 'add', path: '/password', value: password }];
    await this.#send(signal, { method: 'PATCH', path: objectPath('internalusers', username), body, password });
  }

  /** The session has logged in as this user: `updateUser` has it change its own password. */
  async changeOwnPassword(request: ChangeOwnPasswordRequest): Promise<void> {
    await this.updateUser(request);
  }

  /** The user first, so that nobody logs in while the rest goes; then a role of its own and that role's mapping. */
  async deleteUser({ username, statements, signal }: UserRequest): Promise<void> {
    if (statements.commands.length > 0) {
      this.#log.warn('revocation statements are not used: the user and a role of its own are removed', { username });
    }
    await this.#send(signal, { method: 'DELETE', path: objectPath('internalusers', username) });
    for (const kind of ['rolesmapping', 'roles'] as const) {
      const path = objectPath(kind, username);
      const found = (await this.#send(signal, { method: 'GET', path })) as Readonly<Record<string, Described>> | undefined;
      const isOwn = Object.values(found ?? {}).some(({ description }) => description === ownDescription(username));
      if (isOwn) await this.#send(signal, { method: 'DELETE', path });
    }
  }

  /** The server cannot lock a user: it gets a password that is stored nowhere, and loses its roles. */
  async disableUser({ username, signal }: Pick<UserRequest, 'username' | 'signal'>): Promise<void> {
    const path = objectPath('internalusers', username);
    if ((await this.#send(signal, { method: 'GET', path })) === undefined) return;
    const password = `${randomBytes(24).toString('base64url')}-aA1`;
    const body = [
      { op: 'add', path: '/password', value: password },
      { op: 'add', path: '/backend_roles', value: [] },
      { op: 'add', path: '/opendistro_security_roles', value: [] },
    ];
    await this.#send(signal, { method: 'PATCH', path, body, password });
  }

  /** Whoever made them: hosts know the users of theirs by name, and attributes may have been replaced. */
  async listUsers({ prefix, signal }: ListUsersRequest): Promise<readonly string[]> {
    const users = (await this.#send(signal, { method: 'GET', path: '/internalusers' })) as Readonly<Record<string, unknown>>;
    return Object.keys(users).filter((name) => name.startsWith(prefix));
  }

  pool(): PoolStatus {
    return this.#api.pool();
  }

  close(): Promise<void> {
    return this.#api.close();
  }

  async #send(signal: AbortSignal, call: SecurityCall): Promise<unknown> {
    return this.#api.call(signal, { ...call, path: `/api${call.path}` });
  }

  async #undo(username: string): Promise<void> {
    try {
      await this.deleteUser({ username, statements: { commands: [] }, signal: undoSignal() });
    } catch (error) {
      this.#log.warn('a user whose creation failed could not be removed', { username, error: driverErrorText(error) });
    }
  }
}

/** Requests are apart from each other: one that was answered 401 says that the credential is wrong. */
function loginFailure(error: DatabaseError): LoginFailure {
  if (!isDatabaseError(error, 'statement_failed')) return 'unreachable';
  return (error as StatementFailed).serverCode === '401' ? 'credential' : 'barred';
}

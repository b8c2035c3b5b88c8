import { randomBytes } from 'node:crypto';
import {
  type CreateUserRequest,
  type DatabaseHost,
  type DatabaseSession,
  type DeleteUserRequest,
  isDatabaseError,
  type ListUsersRequest,
  passwordOf,
  type PoolStatus,
  type StatementFailed,
  type UpdateUserRequest,
  type UserRequest,
  VerificationFailed,
} from '@strongroom/database-sdk';
import { createUserCommand, dropUserCommand, revocationDb, updateUserCommand } from './commands.ts';
import { MongodbLink } from './link.ts';
import { AUTHENTICATION_FAILED, UNAUTHORIZED, USER_NOT_FOUND } from './server-error.ts';
import type { MongodbSettings } from './settings.ts';

interface KnownUser {
  readonly user: string;
  readonly db: string;
}

export class MongodbSession implements DatabaseSession {
  readonly #settings: MongodbSettings;
  readonly #link: MongodbLink;
  readonly #log: DatabaseHost['log'];

  constructor(settings: MongodbSettings, log: DatabaseHost['log']) {
    this.#settings = settings;
    this.#link = new MongodbLink(settings);
    this.#log = log;
  }

  /** A ping needs no privilege, but the login before it must succeed. */
  async verify(signal: AbortSignal): Promise<void> {
    try {
      await this.#link.run(signal, { db: this.#link.ownDb, body: { ping: 1 } });
    } catch (error) {
      if (signal.aborted || !isDatabaseError(error) || error.code === 'session_closed') throw error;
      throw new VerificationFailed(error.message.replace(/^failed to execute query: |^connection to the database was lost: /, ''), {
        login: hasServerCode(error, AUTHENTICATION_FAILED)
          ? 'credential'
          : isDatabaseError(error, 'statement_failed')
            ? 'barred'
            : 'unreachable',
      });
    }
  }

  /** One command that the server carries out whole or not at all. */
  async createUser({ username, credential, statements, signal }: CreateUserRequest): Promise<void> {
    const password = passwordOf('mongodb-database-plugin', credential);
    await this.#link.run(signal, createUserCommand(statements.commands, username, password, this.#settings.writeConcern), password);
  }

  async updateUser({ username, credential, statements, signal }: UpdateUserRequest): Promise<void> {
    const password = passwordOf('mongodb-database-plugin', credential);
    const { ownDb } = this.#link;
    await this.#link.run(signal, updateUserCommand(statements.commands, username, password, ownDb, this.#settings.writeConcern), password);
  }

  async deleteUser({ username, statements, signal, endSessions = false }: DeleteUserRequest): Promise<void> {
    const db = revocationDb(statements.commands, username);
    const dropped = await this.#drop(db ?? 'admin', username, signal);
    if (dropped && endSessions) await this.#endSessions({ user: username, db: db ?? 'admin' }, signal);
    if (dropped || db !== undefined) return;
    // A role may create users elsewhere and not say so for revocation: an absent user of `admin` is not proof enough.
    const elsewhere = (await this.#users(signal)).filter(({ user }) => user === username);
    for (const { db } of elsewhere) {
      await this.#drop(db, username, signal);
      if (endSessions) await this.#endSessions({ user: username, db }, signal);
    }
  }

  /** The user is gone, and may do nothing more. Not every server of this protocol ends sessions, and not every managing user may. */
  async #endSessions(user: KnownUser, signal: AbortSignal): Promise<void> {
    try {
      await this.#link.run(signal, { db: 'admin', body: { killAllSessions: [user] } });
    } catch (error) {
      if (!isDatabaseError(error, 'statement_failed')) throw error;
      this.#log.debug('the sessions of a removed user were not ended', { username: user.user, error: error.message });
    }
  }

  /** The server cannot lock a user: it gets a password that is stored nowhere. Its sessions go on until they end. */
  async disableUser({ username, signal }: Pick<UserRequest, 'username' | 'signal'>): Promise<void> {
    const password = randomBytes(24).toString('base64url');
    const found = (await this.#users(signal)).filter(({ user }) => user === username);
    for (const { db } of found.length > 0 ? found : [{ db: 'admin' }]) {
      try {
        await this.#link.run(signal, updateUserCommand([], username, password, db, this.#settings.writeConcern), password);
      } catch (error) {
        if (!hasServerCode(error, USER_NOT_FOUND)) throw error;
      }
    }
  }

  async listUsers({ prefix, signal }: ListUsersRequest): Promise<readonly string[]> {
    const names = (await this.#allUsers(signal)).map(({ user }) => user);
    return [...new Set(names)].filter((name) => name.startsWith(prefix));
  }

  pool(): PoolStatus {
    return this.#link.pool();
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  /** Whether there was such a user. */
  async #drop(db: string, username: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#link.run(signal, dropUserCommand(db, username, this.#settings.writeConcern));
      return true;
    } catch (error) {
      if (hasServerCode(error, USER_NOT_FOUND)) return false;
      throw error;
    }
  }

  /** Who may not look at all databases is taken at its word about `admin`, or its revocations would never end. */
  async #users(signal: AbortSignal): Promise<readonly KnownUser[]> {
    try {
      return await this.#allUsers(signal);
    } catch (error) {
      if (!hasServerCode(error, UNAUTHORIZED)) throw error;
      this.#log.warn(
        'the user of the connection may not list the users of all databases; roles on others than admin need revocation statements',
      );
      return [];
    }
  }

  async #allUsers(signal: AbortSignal): Promise<readonly KnownUser[]> {
    const { users } = await this.#link.run(signal, { db: 'admin', body: { usersInfo: { forAllDBs: true } } });
    return users as KnownUser[];
  }
}

function hasServerCode(error: unknown, code: number): boolean {
  return isDatabaseError(error, 'statement_failed') && (error as StatementFailed).serverCode === String(code);
}

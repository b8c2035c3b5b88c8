import { createHash } from 'node:crypto';
import { ErrorReply } from 'redis';
import {
  type CreateUserRequest,
  type DatabaseHost,
  type DatabaseSession,
  isDatabaseError,
  loginFailureOf,
  type ListUsersRequest,
  passwordOf,
  type PoolStatus,
  redact,
  sentBefore,
  StatementFailed,
  type TwoPasswords,
  undoSignal,
  type UpdateUserRequest,
  type UserRequest,
  VerificationFailed,
  driverErrorText,
} from '@strongroom/database-sdk';
import { createCommand, PERSIST } from './commands.ts';
import { RedisLink } from './link.ts';
import { aclRules } from './rules.ts';
import { toDatabaseError } from './server-error.ts';
import type { RedisSettings } from './settings.ts';

export class RedisSession implements DatabaseSession {
  readonly #plugin: string;
  readonly #settings: RedisSettings;
  readonly #log: DatabaseHost['log'];
  readonly #link: RedisLink;

  constructor(plugin: string, settings: RedisSettings, log: DatabaseHost['log']) {
    this.#plugin = plugin;
    this.#settings = settings;
    this.#log = log;
    this.#link = new RedisLink(settings);
  }

  /** A login of its own: a user without any permission passes, and a password that was changed meanwhile does not. */
  async verify(signal: AbortSignal): Promise<void> {
    try {
      await this.#link.login(signal);
    } catch (error) {
      if (signal.aborted || isDatabaseError(error, 'session_closed')) throw error;
      throw new VerificationFailed(redact(driverErrorText(error), this.#settings.secrets), { login: loginFailureOf(error) });
    }
  }

  async createUser({ username, credential, statements, signal }: CreateUserRequest): Promise<void> {
    const password = passwordOf(this.#plugin, credential);
    const command = createCommand(username, password, aclRules(statements.commands, username));
    // SETUSER would change a user of that name.
    if (await this.#exists(username, signal)) throw new StatementFailed(`user ${JSON.stringify(username)} already exists`);
    await this.#send(signal, command, password);
    try {
      await this.#persist(signal);
    } catch (error) {
      const undoing = this.#undo(username);
      if (!signal.aborted) await undoing;
      throw sentBefore(error);
    }
  }

  /** Rotation statements are rules too, applied after the new password. */
  async updateUser({ username, credential, statements, signal }: UpdateUserRequest): Promise<void> {
    const password = passwordOf(this.#plugin, credential);
    const rules = statements.commands.some((command) => command.trim() !== '') ? aclRules(statements.commands, username) : [];
    if (!(await this.#exists(username, signal))) throw new StatementFailed(`user ${JSON.stringify(username)} does not exist`);
    await this.#send(signal, ['ACL', 'SETUSER', username, 'RESETPASS', `>${password}`, ...rules], password);
    await this.#persist(signal).catch((error: unknown) => {
      throw sentBefore(error);
    });
  }

  /** Also ends the user's connections, which the server does by itself. */
  async deleteUser({ username, statements, signal }: UserRequest): Promise<void> {
    if (statements.commands.length > 0)
      this.#log.warn('revocation statements are not used: ACL DELUSER leaves nothing of a user', { username });
    await this.#send(signal, ['ACL', 'DELUSER', username]);
    await this.#persist(signal);
  }

  async disableUser({ username, signal }: Pick<UserRequest, 'username' | 'signal'>): Promise<void> {
    // SETUSER would make a user that is not there.
    if (!(await this.#exists(username, signal))) return;
    await this.#send(signal, ['ACL', 'SETUSER', username, 'OFF']);
    await this.#send(signal, ['CLIENT', 'KILL', 'USER', username]);
    await this.#persist(signal);
  }

  /** A user has a list of passwords. The server shows their hashes, by which they are taken from it. */
  readonly twoPasswords: TwoPasswords = {
    supported: async () => Promise.resolve(true),
    add: async ({ username, credential, current, signal }) => {
      const password = passwordOf(this.#plugin, credential);
      const hashes = await this.#passwords(username, signal);
      if (!hashes) throw new StatementFailed(`user ${JSON.stringify(username)} does not exist`);
      const stay = [password, ...(current ? [passwordOf(this.#plugin, current)] : [])].map(hashOf);
      const removed = current ? hashes.filter((hash) => !stay.includes(hash)).map((hash) => `!${hash}`) : [];
      await this.#send(signal, ['ACL', 'SETUSER', username, ...removed, `>${password}`], password);
      await this.#persist(signal).catch((error: unknown) => {
        throw sentBefore(error);
      });
    },
    end: async ({ username, credential, ends, signal }) => {
      const stays = hashOf(passwordOf(this.#plugin, credential));
      const ended = ends && hashOf(passwordOf(this.#plugin, ends));
      const hashes = (await this.#passwords(username, signal)) ?? [];
      const removed = hashes.filter((hash) => hash !== stays && (ended === undefined || hash === ended)).map((hash) => `!${hash}`);
      if (removed.length > 0) await this.#send(signal, ['ACL', 'SETUSER', username, ...removed]);
      // Also where an earlier try removed it and could not store that.
      if (hashes.length > 0) await this.#persist(signal);
    },
  };

  async listUsers({ prefix, signal }: ListUsersRequest): Promise<readonly string[]> {
    const names = (await this.#send(signal, ['ACL', 'USERS'])) as string[];
    return names.filter((name) => name.startsWith(prefix));
  }

  pool(): PoolStatus {
    return this.#link.pool();
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  async #exists(username: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#send(signal, ['ACL', 'GETUSER', username])) !== null;
  }

  /** The hashes of a user's passwords; undefined where there is no such user. */
  async #passwords(username: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
    const user = (await this.#send(signal, ['ACL', 'GETUSER', username])) as unknown[] | null;
    return user === null ? undefined : (user[user.indexOf('passwords') + 1] as string[]);
  }

  async #persist(signal: AbortSignal): Promise<void> {
    const { persistence } = this.#settings;
    if (persistence !== 'none') await this.#send(signal, PERSIST[persistence]);
  }

  async #undo(username: string): Promise<void> {
    const signal = undoSignal();
    try {
      await this.#send(signal, ['ACL', 'DELUSER', username]);
    } catch (error) {
      this.#log.warn('a user whose creation failed could not be removed', { username, error: driverErrorText(error) });
    }
  }

  async #send(signal: AbortSignal, command: readonly string[], password?: string): Promise<unknown> {
    try {
      return await this.#link.send(signal, command);
    } catch (error) {
      if (signal.aborted) throw error;
      const secrets = { ...this.#settings.secrets, ...(password !== undefined && { 'new password': password }) };
      throw toDatabaseError(error, error instanceof ErrorReply, secrets);
    }
  }
}

/** As the server stores and shows a password. */
function hashOf(password: string): string {
  return createHash('sha256').update(password).digest('hex');
}

import { randomBytes } from 'node:crypto';
import assert from 'node:assert/strict';
import type { Credential, DatabaseSession, Statements } from '@strongroom/database-sdk';
import type { Static, TObject } from 'typebox';
import type { ContractCase } from './cases.ts';
import { tellLeftOut } from './left-out.ts';
import { loggingHost } from './logging-host.ts';
import { withSession } from './test-session.ts';
import type { ContractOptions } from './options.ts';

const NO_STATEMENTS: Statements = { commands: [] };
/** Long enough for a slow database, short enough to end a hanging case. */
const DEADLINE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/** What every case works with: sessions, fresh users, and the five verbs with their usual arguments filled in. */
export class Fixture<C extends TObject> {
  readonly options: ContractOptions<C>;
  readonly host = loggingHost();

  constructor(options: ContractOptions<C>) {
    this.options = options;
  }

  /** For what only an open session shows to be absent. */
  leaveOut(name: ContractCase, reason: string): void {
    tellLeftOut(this.options.plugin.name, name, reason);
  }

  async config(): Promise<Static<C>> {
    const { config } = this.options;
    return typeof config === 'function' ? await (config as () => Promise<Static<C>>)() : config;
  }

  async wrongConfig(): Promise<Static<C>> {
    const good = await this.config();
    return this.options.wrongConfig?.(good) ?? { ...good, password: `wrong-${token()}` };
  }

  async open(config?: Static<C>): Promise<DatabaseSession> {
    return await this.options.plugin.open(config ?? (await this.config()), this.host);
  }

  /** Opens a session for `work` and closes it whatever happens. */
  async session<T>(work: (session: DatabaseSession) => Promise<T>, config?: Static<C>): Promise<T> {
    return await withSession(async () => this.open(config), work);
  }

  /** A session, and a created user who is removed at the end. */
  async withUser(work: (session: DatabaseSession, user: User) => Promise<void>): Promise<void> {
    await this.session(async (session) => {
      const user = await this.newUser();
      try {
        await this.create(session, user);
        await work(session, user);
      } finally {
        await this.delete(session, user.username).catch(() => undefined);
      }
    });
  }

  async newUser(username: string = newName()): Promise<User> {
    return { username, ...(await this.newCredential(username)) };
  }

  async newCredential(username: string): Promise<{ credential: Credential; secret: string }> {
    if (this.options.credential) return await this.options.credential(username);
    const password = newPassword();
    return { credential: { type: 'password', password }, secret: password };
  }

  async create(session: DatabaseSession, { username, credential }: User, change: Partial<CreateOptions> = {}): Promise<void> {
    await session.createUser({
      username,
      credential,
      statements: { commands: change.statements ?? this.options.creation },
      rollback: { commands: change.rollback ?? [] },
      expiresAt: change.expiresAt ?? new Date(Date.now() + HOUR_MS),
      signal: change.signal ?? deadline(),
    });
  }

  async update(session: DatabaseSession, { username, credential }: User, signal = deadline()): Promise<void> {
    await session.updateUser({ username, credential, statements: NO_STATEMENTS, signal });
  }

  async delete(session: DatabaseSession, username: string, signal = deadline()): Promise<void> {
    await session.deleteUser({ username, statements: NO_STATEMENTS, signal });
  }

  async accepts({ username, secret }: Pick<User, 'username' | 'secret'>, message: string): Promise<void> {
    await assert.doesNotReject(async () => void (await this.options.login(username, secret)), message);
  }

  async refuses({ username, secret }: Pick<User, 'username' | 'secret'>, message: string): Promise<void> {
    await assert.rejects(
      Promise.resolve().then(() => this.options.login(username, secret)),
      () => true,
      message,
    );
  }
}

export interface User {
  readonly username: string;
  readonly credential: Credential;
  readonly secret: string;
}

interface CreateOptions {
  readonly statements: readonly string[];
  readonly rollback: readonly string[];
  readonly expiresAt: Date;
  readonly signal: AbortSignal;
}

export const deadline = (): AbortSignal => AbortSignal.timeout(DEADLINE_MS);

/** Letters and digits; short enough for every database's limit on names together with a prefix. */
export const token = (): string => randomBytes(5).toString('hex');

const newName = (): string => `vkit${token()}`;

/** As hosts make them by default: 20 characters with an upper, a lower, a digit and a dash. */
const newPassword = (): string => `${token()}-Aa1${token().slice(0, 6)}`;

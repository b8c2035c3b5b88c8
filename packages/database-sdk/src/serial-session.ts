import type { Credential, CreateUserRequest, DatabaseLog, PreviewRequest, UpdateUserRequest, UserRequest } from './plugin.ts';
import { CredentialUnsupported, isDatabaseError, sentBefore, StatementInvalid } from './errors.ts';
import type { SqlDialect } from './sql-dialect.ts';
import { renderStatements, type StatementValues } from './statements.ts';

/** Undo runs after the caller's deadline may have passed, so it has one of its own. */
const UNDO_DEADLINE_MS = 10_000;

/** A deadline for undoing what a failed call left. */
export function undoSignal(): AbortSignal {
  return AbortSignal.timeout(UNDO_DEADLINE_MS);
}

/** `2030-01-31 23:59:59+0000`: what `{{expiration}}` is in Vault and OpenBao. */
export function timestampText(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')}+0000`;
}

/** The password of a credential. @throws CredentialUnsupported, which names the plugin, for any other */
export function passwordOf(plugin: string, credential: Credential): string {
  if (credential.type !== 'password') throw new CredentialUnsupported(plugin, credential.type);
  return credential.password;
}

/** How users are made at a database that has statements, but no transactions. `S` is what is sent as one statement. */
export interface SerialRules<S = string> {
  /** Of the plugin, for messages. */
  readonly name: string;
  readonly dialect: SqlDialect;
  /** The statements as they are sent, where that is not their text with the values in it: needed if `S` is not `string`. Throws StatementInvalid. */
  render?(commands: readonly string[], values: StatementValues): S[];
  /** What runs where a role has no statements of its own. */
  readonly defaults: {
    readonly createUser: readonly string[];
    readonly updateUser: readonly string[];
    readonly deleteUser: readonly string[];
  };
  /** Throws StatementInvalid for a user name that the database cannot take. */
  checkName?(username: string): void;
}

/** What creates a user. @throws CredentialUnsupported, StatementInvalid */
export function serialCreation<S = string>(rules: SerialRules<S>, { username, credential, statements, expiresAt }: PreviewRequest): S[] {
  const { name, defaults, checkName } = rules;
  const values = { name: username, username, password: passwordOf(name, credential), expiration: timestampText(expiresAt) };
  checkName?.(username);
  const creation = rendered(rules, statements.commands.length > 0 ? statements.commands : defaults.createUser, values);
  if (creation.length === 0) throw new StatementInvalid('empty creation statements');
  return creation;
}

function rendered<S>(rules: SerialRules<S>, commands: readonly string[], values: StatementValues): S[] {
  // Without `render`, `S` is `string`.
  return rules.render?.(commands, values) ?? (renderStatements(commands, values, rules.dialect) as S[]);
}

/** The part of a session that is alike where statements run one after the other and nothing is rolled back by the database. */
export abstract class SerialSession<S = string> {
  protected readonly log: DatabaseLog;
  readonly #rules: SerialRules<S>;

  constructor(rules: SerialRules<S>, log: DatabaseLog) {
    this.#rules = rules;
    this.log = log;
  }

  /** Sends one statement. No error shows `password`. @throws StatementFailed, ConnectionLost, SessionClosed, the reason of `signal` */
  protected abstract send(signal: AbortSignal, statement: S, password?: string): Promise<unknown>;
  protected abstract exists(username: string, signal: AbortSignal): Promise<boolean>;

  async createUser(request: CreateUserRequest): Promise<void> {
    const { username, credential, expiresAt, signal } = request;
    const creation = serialCreation(this.#rules, request);
    const password = passwordOf(this.#rules.name, credential);
    const values = { name: username, username, password, expiration: timestampText(expiresAt) };
    const rollback = rendered(this.#rules, request.rollback.commands, values);
    let begun = 0;
    try {
      for (const statement of creation) {
        begun++;
        await this.send(signal, statement, password);
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
    const password = passwordOf(this.#rules.name, credential);
    let begun = 0;
    for (const statement of this.#orElse(statements.commands, this.#rules.defaults.updateUser, { name: username, username, password })) {
      begun++;
      await this.send(signal, statement, password).catch((error: unknown) => {
        throw begun > 1 ? sentBefore(error) : error;
      });
    }
  }

  async deleteUser({ username, statements, signal }: UserRequest): Promise<void> {
    await this.sendUnlessAbsent(
      username,
      signal,
      this.#orElse(statements.commands, this.#rules.defaults.deleteUser, { name: username, username }),
    );
  }

  /** Sends statements on a user, all of which may be refused where there is no such user. */
  protected async sendUnlessAbsent(username: string, signal: AbortSignal, statements: readonly S[], password?: string): Promise<void> {
    try {
      for (const statement of statements) await this.send(signal, statement, password);
    } catch (error) {
      if (!isDatabaseError(error, 'statement_failed') || (await this.exists(username, signal))) throw error;
    }
  }

  #orElse(commands: readonly string[], byDefault: readonly string[], values: StatementValues): S[] {
    const statements = rendered(this.#rules, commands, values);
    return statements.length > 0 ? statements : rendered(this.#rules, byDefault, values);
  }

  /** The role's rollback statements, and the user's removal whatever they do. Does not reject. */
  async #undo(username: string, rollback: readonly S[], password: string): Promise<void> {
    const signal = undoSignal();
    try {
      for (const statement of rollback) await this.send(signal, statement, password);
    } catch (error) {
      this.log.warn('rollback statements failed', { error: String(error) });
    }
    try {
      await this.deleteUser({ username, statements: { commands: [] }, signal });
    } catch (error) {
      this.log.warn('a user whose creation failed could not be removed', { username, error: String(error) });
    }
  }
}

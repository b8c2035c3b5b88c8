import { foreignText, PluginGuard, thrownText, type Clock } from '@strongroom/engine-sdk';
import {
  type AddPasswordRequest,
  type ChangeOwnPasswordRequest,
  type ConnectionLost,
  type CreateUserRequest,
  type Credential,
  type DatabaseSession,
  type EndPasswordsRequest,
  isDatabaseError,
  type ListUsersRequest,
  loginFailureOf,
  type PoolStatus,
  type RenewUserRequest,
  type UpdateUserRequest,
  type UserRequest,
} from '@strongroom/database-sdk';
import { DatabaseFailed, DatabaseMisused, SessionGone } from './call-failed.ts';
import type { Bulkhead } from './bulkhead.ts';
import { handedSecrets } from './handed-secrets.ts';

export interface GuardOptions {
  /** The connection's name. */
  readonly connection: string;
  readonly clock: Clock;
  readonly secrets: Readonly<Record<string, string>>;
  /** The plugin broke its contract: threw what it must not, or did not end. */
  readonly onFault: (reason: string) => void;
  /** It may have; calls of others were under way too. */
  readonly onSuspicion: (reason: string) => void;
  /** Milliseconds that one call may take. */
  readonly deadline: number;
  /** Where the plugin's code is. */
  readonly code: readonly string[] | undefined;
}

/** The guard of a connection's plugin: a deadline for each call, one catalogue of failures, no secret in any text, and a plugin that misbehaves is reported. */
export class Guard {
  /** Where the calls of the connection queue up; undefined for a session that stands apart. */
  bulkhead: Bulkhead | undefined;
  readonly #options: GuardOptions;
  readonly #guard: PluginGuard;

  constructor(options: GuardOptions) {
    this.#options = options;
    handedSecrets.add(options.secrets);
    this.#guard = new PluginGuard({
      clock: options.clock,
      code: options.code,
      longestBlock: options.deadline,
      leakedText: (error) => handedSecrets.leakedText(error),
      fault: options.onFault,
      suspicion: options.onSuspicion,
    });
  }

  async call<T>(parent: AbortSignal, work: (signal: AbortSignal) => Promise<T>, credential?: Credential): Promise<T> {
    const { bulkhead } = this;
    return bulkhead ? bulkhead.call(parent, async () => this.#call(parent, work, credential)) : this.#call(parent, work, credential);
  }

  /** A call that does not queue up. */
  async apart<T>(work: () => Promise<T>): Promise<T> {
    return this.#call(new AbortController().signal, work);
  }

  /** A look that needs no call. Undefined where the plugin fails at it, which is its fault unless it says what is wrong with the settings. */
  look<T>(work: () => T): T | undefined {
    try {
      return this.#guard.run(work);
    } catch (error) {
      if (isDatabaseError(error)) return undefined;
      this.#options.onFault(`threw ${this.text(error)}`);
      return undefined;
    }
  }

  async #call<T>(parent: AbortSignal, work: (signal: AbortSignal) => Promise<T>, credential?: Credential): Promise<T> {
    const { connection, deadline: millis } = this.#options;
    let limit: AbortSignal | undefined;
    if (credential?.type === 'password') handedSecrets.add({ 'new password': credential.password });
    const begin = async (signal: AbortSignal): Promise<T> => {
      limit = signal;
      return work(signal);
    };
    try {
      return await this.#guard.call(parent, begin, millis);
    } catch (error) {
      if (parent.aborted) throw parent.reason;
      const failure = limit?.aborted
        ? new DatabaseFailed(connection, `no answer within ${millis / 1_000} s`, 'unknown')
        : this.#failure(error, credential);
      if (failure instanceof DatabaseFailed) this.bulkhead?.failed(failure.detail);
      throw failure;
    }
  }

  /** The text of anything thrown, without the secrets that are known, and cut where it is too long. */
  text(error: unknown, credential?: Credential): string {
    const own = credential?.type === 'password' ? { 'new password': credential.password } : {};
    return foreignText(thrownText(error), { ...this.#options.secrets, ...own });
  }

  #failure(error: unknown, credential: Credential | undefined): Error {
    const { connection } = this.#options;
    const text = this.text(error, credential);
    if (isDatabaseError(error)) {
      switch (error.code) {
        case 'configuration_invalid':
        case 'statement_invalid':
        case 'credential_unsupported':
          return new DatabaseMisused(text);
        case 'statement_failed':
          return new DatabaseFailed(connection, text, 'refused');
        case 'verification_failed':
          return new DatabaseFailed(connection, text, 'unsent', { login: loginFailureOf(error) });
        case 'connection_lost':
          return new DatabaseFailed(connection, text, (error as ConnectionLost).unsent === true ? 'unsent' : 'unknown', {
            login: loginFailureOf(error),
          });
        case 'session_closed':
          return new SessionGone(`database "${connection}": ${text}`);
      }
    }
    if (isProgrammingError(error)) this.#options.onFault(`threw ${text}`);
    // It does not say that the database could not be reached.
    return new DatabaseFailed(connection, text, 'unknown', { answered: true });
  }
}

/** A plugin's session behind the guard. */
export class GuardedSession {
  readonly #session: DatabaseSession;
  readonly #guard: Guard;

  constructor(session: DatabaseSession, guard: Guard) {
    this.#session = session;
    this.#guard = guard;
  }

  /** From now on its calls are the connection's. */
  join(bulkhead: Bulkhead): void {
    this.#guard.bulkhead = bulkhead;
    bulkhead.opened(this.pool()?.limit ?? 0);
  }

  async verify(signal: AbortSignal): Promise<void> {
    await this.#guard.call(signal, async (limit) => this.#session.verify(limit));
  }

  async createUser(request: CreateUserRequest): Promise<void> {
    await this.#guard.call(request.signal, async (signal) => this.#session.createUser({ ...request, signal }), request.credential);
  }

  async updateUser(request: UpdateUserRequest): Promise<void> {
    await this.#guard.call(request.signal, async (signal) => this.#session.updateUser({ ...request, signal }), request.credential);
  }

  /** Does nothing where the database knows no expiry of its own. */
  async renewUser(request: RenewUserRequest): Promise<void> {
    await this.#guard.call(request.signal, async (signal) => this.#session.renewUser?.({ ...request, signal }));
  }

  async deleteUser(request: UserRequest): Promise<void> {
    await this.#guard.call(request.signal, async (signal) => this.#session.deleteUser({ ...request, signal }));
  }

  /** False where the plugin cannot. */
  async disableUser({ username, signal }: { readonly username: string; readonly signal: AbortSignal }): Promise<boolean> {
    if (typeof this.#session.disableUser !== 'function') return false;
    await this.#guard.call(signal, async (limit) => this.#session.disableUser!({ username, signal: limit }));
    return true;
  }

  /** @throws DatabaseMisused where users of the database do not change their own */
  async changeOwnPassword(request: ChangeOwnPasswordRequest): Promise<void> {
    if (typeof this.#session.changeOwnPassword !== 'function') {
      throw new DatabaseMisused(
        'self_managed: users of this database do not change their own passwords; give the connection a user that manages them',
      );
    }
    await this.#guard.call(request.signal, async (signal) => this.#session.changeOwnPassword!({ ...request, signal }), request.credential);
  }

  /** Whether the database takes two passwords of one user. */
  async hasTwoPasswords(signal: AbortSignal): Promise<boolean> {
    const { twoPasswords } = this.#session;
    return twoPasswords !== undefined && (await this.#guard.call(signal, async (limit) => twoPasswords.supported(limit)));
  }

  /** @throws DatabaseMisused where the database takes one password alone */
  async addPassword(request: AddPasswordRequest): Promise<void> {
    const { twoPasswords } = this.#session;
    if (!twoPasswords) throw oneAlone();
    await this.#guard.call(request.signal, async (signal) => twoPasswords.add({ ...request, signal }), request.credential);
  }

  /** @throws DatabaseMisused where the database takes one password alone */
  async endPasswords(request: EndPasswordsRequest): Promise<void> {
    const { twoPasswords } = this.#session;
    if (!twoPasswords) throw oneAlone();
    await this.#guard.call(request.signal, async (signal) => twoPasswords.end({ ...request, signal }), request.credential);
  }

  /** Undefined where the plugin cannot look for users. */
  async listUsers(request: ListUsersRequest): Promise<readonly string[] | undefined> {
    return this.#guard.call(request.signal, async (signal) => this.#session.listUsers?.({ ...request, signal }));
  }

  pool(): PoolStatus | undefined {
    return this.#guard.look(() => this.#session.pool?.());
  }

  /** @throws what the plugin throws, without secrets. */
  async close(): Promise<void> {
    await this.#guard.apart(async () => this.#session.close());
  }
}

/** The plugin of the connection was replaced since the role was written. */
function oneAlone(): DatabaseMisused {
  return new DatabaseMisused('grace_period: a user of this database has one password; set grace_period of the role to 0');
}

/** Not what a database or a network does, but a fault of the code. */
function isProgrammingError(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  return ['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError', 'EvalError', 'URIError', 'AssertionError'].includes(error.name);
}

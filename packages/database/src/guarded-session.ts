import { DeadlineIgnored, foreignText, runAttributed, thrownText, withDeadline, type Clock, type CodeOwner } from '@strongroom/engine-sdk';
import {
  type ConnectionLost,
  type CreateUserRequest,
  type Credential,
  type DatabaseSession,
  isDatabaseError,
  type ListUsersRequest,
  loginFailureOf,
  type PoolStatus,
  type RenewUserRequest,
  type UpdateUserRequest,
  type UserRequest,
} from '@strongroom/database-sdk';
import { DatabaseFailed, DatabaseMisused, SessionGone } from './call-failed.ts';
import type { CallLane } from './call-lane.ts';
import { handedSecrets } from './handed-secrets.ts';
import { loopWatch } from './loop-watch.ts';

/** Milliseconds within which a plugin must give up once its deadline has passed. */
const GRACE = 5_000;

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

/**
 * All calls of a plugin pass here: a deadline, one catalogue of failures, no secret in any text, and a plugin that misbehaves is reported.
 */
export class Guard {
  /** Where the calls of the connection queue up; undefined for a session that stands apart. */
  lane: CallLane | undefined;
  readonly #options: GuardOptions;
  /** Of all that the plugin begins: what it leaves running and throws is its fault. */
  readonly #owner: CodeOwner;

  constructor(options: GuardOptions) {
    this.#options = options;
    handedSecrets.add(options.secrets);
    this.#owner = {
      leaked: (error) => options.onFault(`threw after its call had ended: ${handedSecrets.leakedText(error)}`),
      ...(options.code && { code: options.code }),
    };
  }

  async call<T>(parent: AbortSignal, work: (signal: AbortSignal) => Promise<T>, credential?: Credential): Promise<T> {
    const { lane } = this;
    return lane ? lane.call(parent, async () => this.#call(parent, work, credential)) : this.#call(parent, work, credential);
  }

  /** A call that does not queue up. */
  async apart<T>(work: () => Promise<T>): Promise<T> {
    return this.#call(new AbortController().signal, work);
  }

  /** A look that needs no call. Undefined where the plugin fails at it, which is its fault unless it says what is wrong with the settings. */
  look<T>(work: () => T): T | undefined {
    try {
      return this.#run(work);
    } catch (error) {
      if (isDatabaseError(error)) return undefined;
      this.#options.onFault(`threw ${this.text(error)}`);
      return undefined;
    }
  }

  async #call<T>(parent: AbortSignal, work: (signal: AbortSignal) => Promise<T>, credential?: Credential): Promise<T> {
    const { clock, connection, deadline: millis } = this.#options;
    const { lane } = this;
    let limit: AbortSignal | undefined;
    if (credential?.type === 'password') handedSecrets.add({ 'new password': credential.password });
    const unwatch = loopWatch.watch({ millis, blocked: (took, alone) => this.#blocked(took, alone) });
    try {
      return await withDeadline({ clock, millis, parent, grace: GRACE }, async (signal) => {
        limit = signal;
        return this.#run(async () => work(signal));
      });
    } catch (error) {
      if (!limit?.aborted) {
        const failure = this.#failure(error, credential);
        if (failure instanceof DatabaseFailed) lane?.failed(failure.detail);
        throw failure;
      }
      if (error instanceof DeadlineIgnored) this.#options.onFault('did not end a call when told to');
      if (parent.aborted) throw parent.reason;
      const text = `no answer within ${millis / 1_000} s`;
      lane?.failed(text);
      throw new DatabaseFailed(connection, text, 'unknown');
    } finally {
      unwatch();
    }
  }

  /** Runs code of the plugin as far as it goes at once. */
  #run<T>(work: () => T): T {
    const begun = performance.now();
    try {
      return runAttributed(this.#owner, work);
    } finally {
      const took = performance.now() - begun;
      if (took > this.#options.deadline) this.#blocked(took, true);
    }
  }

  #blocked(took: number, alone: boolean): void {
    loopWatch.told();
    const text = `held up the whole server for ${(took / 1_000).toFixed(1)} s`;
    if (alone) this.#options.onFault(text);
    else this.#options.onSuspicion(text);
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
  join(lane: CallLane): void {
    this.#guard.lane = lane;
    lane.opened(this.pool()?.limit ?? 0);
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

/** Not what a database or a network does, but a fault of the code. */
function isProgrammingError(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  return ['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError', 'EvalError', 'URIError', 'AssertionError'].includes(error.name);
}

import type { Clock } from '@strongroom/engine-sdk';
import {
  type CreateUserRequest,
  type Credential,
  type DatabaseSession,
  isDatabaseError,
  redact,
  type RenewUserRequest,
  type UpdateUserRequest,
  type UserRequest,
} from '@strongroom/database-sdk';
import { DatabaseFailed, DatabaseMisused, SessionGone } from './call-failed.ts';

/** Milliseconds that one call may take. Shorter than any age at which the journal undoes it. */
export const CALL_DEADLINE = 45_000;
/** Milliseconds within which a plugin must give up once its deadline has passed. */
const GRACE = 5_000;

export interface GuardOptions {
  /** The connection's name. */
  readonly connection: string;
  readonly clock: Clock;
  readonly secrets: Readonly<Record<string, string>>;
  /** The plugin broke its contract: threw what it must not, or did not end. */
  readonly onFault: (reason: string) => void;
}

/**
 * All calls of a plugin pass here: a deadline, one catalogue of failures, no secret in any text, and a plugin that misbehaves is reported.
 */
export class Guard {
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  async call<T>(parent: AbortSignal, work: (signal: AbortSignal) => Promise<T>, credential?: Credential): Promise<T> {
    const { clock, connection } = this.#options;
    const deadline = new Deadline(clock, parent);
    try {
      parent.throwIfAborted();
      return await Promise.race([work(deadline.signal), deadline.ignored]);
    } catch (error) {
      if (!deadline.signal.aborted) throw this.#failure(error, credential);
      if (error instanceof IgnoredDeadline) this.#options.onFault('did not end a call when told to');
      if (parent.aborted) throw parent.reason;
      throw new DatabaseFailed(connection, `no answer within ${CALL_DEADLINE / 1_000} s`, 'unknown');
    } finally {
      deadline.clear();
    }
  }

  /** The text of anything thrown, without the secrets that are known. */
  text(error: unknown, credential?: Credential): string {
    const text = error instanceof Error ? error.message : String(error);
    return redact(text, { ...this.#options.secrets, ...(credential?.type === 'password' ? { 'new password': credential.password } : {}) });
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
          return new DatabaseFailed(connection, text, 'unsent');
        case 'connection_lost':
          return new DatabaseFailed(connection, text, 'unknown');
        case 'session_closed':
          return new SessionGone(`database "${connection}": ${text}`);
      }
    }
    if (isProgrammingError(error)) this.#options.onFault(`threw ${text}`);
    return new DatabaseFailed(connection, text, 'unknown');
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

  /** @throws what the plugin throws, without secrets. */
  async close(): Promise<void> {
    await this.#guard.call(new AbortController().signal, async () => this.#session.close());
  }
}

class IgnoredDeadline extends Error {}

/** A deadline that also follows the caller's signal; `ignored` rejects when the work has not ended a grace period after it. */
class Deadline {
  readonly ignored: Promise<never>;
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #parent: AbortSignal;
  #giveUp!: () => void;
  #cancel: () => void;

  constructor(clock: Clock, parent: AbortSignal) {
    this.#clock = clock;
    this.#parent = parent;
    this.ignored = new Promise<never>((_, reject) => (this.#giveUp = () => reject(new IgnoredDeadline())));
    this.ignored.catch(() => undefined);
    this.#cancel = clock.after(CALL_DEADLINE, () => this.#pass(new Error('the deadline has passed')));
    parent.addEventListener('abort', this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  clear(): void {
    this.#cancel();
    this.#parent.removeEventListener('abort', this.#follow);
  }

  readonly #follow = (): void => this.#pass(this.#parent.reason);

  #pass(reason: unknown): void {
    if (this.signal.aborted) return;
    this.#cancel();
    this.#cancel = this.#clock.after(GRACE, this.#giveUp);
    this.#controller.abort(reason);
  }
}

/** Not what a database or a network does, but a fault of the code. */
function isProgrammingError(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  return ['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError', 'EvalError', 'URIError', 'AssertionError'].includes(error.name);
}

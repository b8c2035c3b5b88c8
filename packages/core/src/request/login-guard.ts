import {
  EngineError,
  foldName,
  TokenRefused,
  TooManyRequests,
  type Decoded,
  type EngineRequest,
  type EngineResponse,
} from '@strongroom/engine-sdk';
import type { UserLockout } from '../services/lockout/user-lockout.ts';
import type { Call } from './call.ts';
import type { RequestDeadline } from './request-deadline.ts';

/** Has the lockout count refused logins and refuse those of a locked name. */
export class LoginGuard {
  readonly #lockout: UserLockout;

  constructor(lockout: UserLockout) {
    this.#lockout = lockout;
  }

  /** `login` is given the way to count it under a further name: see `EngineRequest.countAs`. */
  async guard(
    call: Call,
    decoded: Decoded,
    deadline: RequestDeadline,
    login: (countAs?: NonNullable<EngineRequest['countAs']>) => Promise<EngineResponse | undefined>,
  ): Promise<EngineResponse | undefined> {
    const { record } = call.mount!;
    const nameOf = call.match!.path.declaration.about.login;
    if (typeof nameOf !== 'function') return login();
    const given = nameOf(decoded.data, { remoteAddress: call.remoteAddress });
    const givenName = foldName(typeof given === 'string' ? given : given.name);
    const signal = (): AbortSignal => deadline.signal;
    return this.#lockout.guard(
      record,
      given,
      () =>
        login((name, work, theirs) =>
          foldName(name) === givenName ? work() : this.#lockout.guard(record, name, work, refused, theirs, signal),
        ),
      refused,
      undefined,
      signal,
    );
  }
}

/** The caller's credentials are wrong. An address that may not log in, a locked name and too many callers say nothing about them. */
function refused(error: unknown): boolean {
  if (error instanceof TokenRefused || error instanceof TooManyRequests) return false;
  return error instanceof EngineError && error.status >= 400 && error.status < 500;
}

import { EngineError, foldName, type Decoded, type EngineRequest, type EngineResponse } from '@strongroom/engine-sdk';
import type { UserLockout } from '../services/lockout/user-lockout.ts';
import type { Call } from './call.ts';

/** Counts failed logins and refuses those of a locked name. */
export class LoginGuard {
  readonly #lockout: UserLockout;

  constructor(lockout: UserLockout) {
    this.#lockout = lockout;
  }

  /** `login` is given the way to count it under a further name: see `EngineRequest.countAs`. */
  async guard(
    call: Call,
    decoded: Decoded,
    login: (countAs: NonNullable<EngineRequest['countAs']>) => Promise<EngineResponse | undefined>,
  ): Promise<EngineResponse | undefined> {
    const mount = call.mount!;
    const given = call.match!.path.declaration.about.login!(decoded.data);
    const { record } = mount;
    return this.#lockout.guard(
      record,
      given,
      () =>
        login((name, work, theirs) =>
          foldName(name) === foldName(given) ? work() : this.#lockout.guard(record, name, work, refused, theirs),
        ),
      refused,
    );
  }
}

function refused(error: unknown): boolean {
  return error instanceof EngineError && error.status >= 400 && error.status < 500;
}

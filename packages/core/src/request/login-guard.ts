import { EngineError, type Decoded, type EngineResponse } from '@strongroom/engine-sdk';
import type { UserLockout } from '../lockout/user-lockout.ts';
import type { Call } from './call.ts';

/** Counts failed logins and refuses those of a locked name. */
export class LoginGuard {
  readonly #lockout: UserLockout;

  constructor(lockout: UserLockout) {
    this.#lockout = lockout;
  }

  async guard(call: Call, decoded: Decoded, login: () => Promise<EngineResponse | undefined>): Promise<EngineResponse | undefined> {
    const mount = call.mount!;
    const name = call.match!.path.declaration.about.login!(decoded.data);
    return this.#lockout.guard(
      mount.record,
      name,
      login,
      (error) => error instanceof EngineError && error.status >= 400 && error.status < 500,
    );
  }
}

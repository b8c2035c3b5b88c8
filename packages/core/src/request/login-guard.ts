import { EngineError, foldName, type Decoded, type EngineRequest, type EngineResponse } from '@strongroom/engine-sdk';
import type { UserLockout } from '../lockout/user-lockout.ts';
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
    const counted = async <T>(name: string, work: () => Promise<T>): Promise<T> => this.#lockout.guard(mount.record, name, work, refused);
    return counted(given, () => login((name, work) => (foldName(name) === foldName(given) ? work() : counted(name, work))));
  }
}

function refused(error: unknown): boolean {
  return error instanceof EngineError && error.status >= 400 && error.status < 500;
}

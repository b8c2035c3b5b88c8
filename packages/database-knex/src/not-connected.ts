import type { LoginFailure } from '@strongroom/database-sdk';

/** No connection could be made, so nothing was sent. The cause is what the driver threw, and may hold secrets. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';
  /** Undefined where it is for the driver to tell. */
  readonly login: LoginFailure | undefined;

  constructor(cause: unknown, login?: LoginFailure) {
    super('no connection could be made', { cause });
    this.login = login;
  }
}

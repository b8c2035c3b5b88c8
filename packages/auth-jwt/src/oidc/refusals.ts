import { BadRequest, UpstreamFailed } from '@strongroom/engine-sdk';

/** Command lines and web interfaces show the first sentence of these texts as a title. */
const LOGIN_FAILED = 'Strongroom login failed.';
const NO_RESPONSE = 'No response from provider.';
const VERIFICATION_FAILED = 'Token verification failed.';

/** The login is refused; `reason` says why. */
export function loginFailed(reason: string): BadRequest {
  return new BadRequest(`${LOGIN_FAILED} ${reason}`);
}

/** The state is unknown, used, or too old. */
export function noSuchFlow(): BadRequest {
  return loginFailed('Expired or missing OAuth state.');
}

/** The provider has answered, and its answer proves nothing. */
export function verificationFailed(reason: string): BadRequest {
  return new BadRequest(`${VERIFICATION_FAILED} ${reason}`);
}

/** The provider could not be asked. `cause` names it. */
export function noResponse(cause: Error): UpstreamFailed {
  return new UpstreamFailed(`${NO_RESPONSE} ${cause.message}`, { cause });
}

/** Whoever asks is not the program that began the login. */
export function wrongClientNonce(): BadRequest {
  return new BadRequest('invalid client_nonce');
}

/** For a poll: the login is not complete. Clients look at the end of the text. */
export function notYet(reason: 'authorization_pending' | 'slow_down'): BadRequest {
  return new BadRequest(reason);
}

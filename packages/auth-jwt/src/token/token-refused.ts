import { BadRequest } from '@strongroom/engine-sdk';

/** The token is not accepted; `reason` says why. */
export function tokenRefused(reason: string): BadRequest {
  return new BadRequest(`error validating token: ${reason}`);
}

/** The signature is not proven. */
export function signatureRefused(reason: string): BadRequest {
  return tokenRefused(`error verifying token signature: ${reason}`);
}

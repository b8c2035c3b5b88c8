import { BadRequest } from '@strongroom/engine-sdk';

/** The steps of a login, in the order in which a certificate passes them. */
export const STEPS = ['certificate', 'path', 'validity', 'usage', 'names', 'extensions', 'revocation list', 'ocsp', 'policies'] as const;
export type Step = (typeof STEPS)[number];

const UNFIT = 'no chain matching all constraints could be found for this login certificate';

export function noCertificate(): BadRequest {
  return new BadRequest('no client certificate found');
}

/** No role trusts the certificate, or the named role does not, or there is none of that name. The answer does not say which. */
export function notTrusted(): BadRequest {
  return new BadRequest('invalid certificate or no client certificate supplied');
}

/** A trusted CA has signed the certificate, which cannot be used nevertheless. */
export function unusable(reason: string): BadRequest {
  return new BadRequest(`failed to verify client's certificate: ${reason}`);
}

/** The certificate does not fit the role, or is revoked. `errors`: what could not be found out. */
export function unfit(errors: readonly string[] = []): BadRequest {
  return new BadRequest(errors.length === 0 ? UNFIT : `${UNFIT}; additionally got errors during verification: ${errors.join('; ')}`);
}

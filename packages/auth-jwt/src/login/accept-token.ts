import { BadRequest, type IssuedAuth } from '@strongroom/engine-sdk';
import { claimedAuth, type ClaimedLogin } from '../claims/claimed-auth.ts';
import { unreported, type StepRunner } from '../claims/step.ts';
import type { JsonObject } from '../json/json-pointer.ts';
import { audiencesOf, checkAudience, checkIssuer, checkSubject } from '../token/token-claims.ts';
import { checkTimes } from '../token/token-times.ts';

/** A token whose signature is proven, presented to a role. */
export interface PresentedToken extends ClaimedLogin {
  /** The `iss` that it must have; '' for any. */
  readonly issuer: string;
  /** Seconds since the epoch. */
  readonly now: number;
}

/** What a role grants for a token. @throws BadRequest where it does not accept the token */
export function acceptToken(
  token: PresentedToken,
  run: StepRunner = unreported,
): { readonly auth: IssuedAuth & { readonly groupAliases: readonly string[] }; readonly expires: number } {
  const { claims, role } = token;
  run('issuer', () => checkIssuer(claims, token.issuer));
  run('subject', () => checkSubject(claims, role.bound_subject));
  run('audience', () => checkBoundAudience(claims, role.bound_audiences));
  const expires = run('times', () => checkTimes(claims, role, token.now));
  return { auth: claimedAuth(token, run), expires };
}

/** A role without audiences accepts only tokens that are for nobody in particular. */
function checkBoundAudience(claims: JsonObject, audiences: readonly string[]): void {
  if (audiences.length > 0) checkAudience(claims, audiences);
  else if (audiencesOf(claims).length > 0) throw new BadRequest('audience claim found in JWT but no audiences bound to the role');
}

import { TokenRefused } from '@strongroom/engine-sdk';

/** The one answer to every login that is refused for its role, its token or its account. Why is for the operator: it would tell which roles exist. */
export function loginRefused(): TokenRefused {
  return new TokenRefused();
}

import type { Clock } from '@strongroom/engine-sdk';
import { TokenRefused } from '@strongroom/engine-sdk';
import type { Cluster } from './clusters.ts';
import { LEGACY_ISSUER } from './config.ts';
import { loginRefused } from './failures.ts';
import { serviceAccountOf, type ServiceAccount } from './service-account.ts';
import type { Trace } from './trace.ts';
import { audiencesOf, isSignedBy, parseWebToken, timeProblem } from './web-token.ts';

/** Characters of all audiences: they are sent to the API server and written to the log. */
const LONGEST_AUDIENCES = 4_096;

/** A token whose claims are good by themselves. Only a review by the API server says that it is valid. */
export interface PresentedToken {
  readonly jwt: string;
  readonly account: ServiceAccount;
  readonly audiences: readonly string[];
}

/**
 * Checks what can be checked without the API server: form, times, issuer, and the signature where there are keys. No role matters to it, so its refusals
 * tell nothing of roles. @throws TokenRefused
 */
export function presentedToken(jwt: string, { config, keys }: Cluster, clock: Clock, trace: Trace): PresentedToken {
  const since = trace.start();
  const refuse = (reason: string, answer = loginRefused()) => trace.failed('token', since, {}, reason, answer);
  const token = parseWebToken(jwt);
  if (!token) throw refuse('not a service account token: it is malformed, or not signed with RS or ES 256, 384 or 512');
  if (keys.length > 0 && !isSignedBy(token, keys)) throw refuse('none of pem_keys has signed the token');
  const late = timeProblem(token.claims, clock.millis() / 1_000);
  if (late !== undefined) throw refuse(late, new TokenRefused(late));
  const issuer = config.issuer === '' ? LEGACY_ISSUER : config.issuer;
  if (!config.disable_iss_validation && token.claims['iss'] !== issuer) {
    throw refuse(`the issuer of the token is not ${issuer}`, new TokenRefused('invalid issuer (iss) claim'));
  }
  const account = serviceAccountOf(token.claims);
  if (!account) throw refuse('the token does not name a service account with a namespace, a name and a uid');
  const audiences = audiencesOf(token.claims);
  if (audiences.join().length > LONGEST_AUDIENCES) throw refuse('the token has too many audiences');
  trace.passed('token', since, { service_account: `${account.namespace}/${account.name}`, audiences });
  return { jwt, account, audiences };
}

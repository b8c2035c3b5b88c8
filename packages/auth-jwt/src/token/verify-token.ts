import { own, type BadRequest } from '@strongroom/engine-sdk';
import type { Setup } from '../config/setup.ts';
import { ALGORITHMS } from '../keys/algorithms.ts';
import { checkAudience, checkIssuer } from './token-claims.ts';
import { checkTimes, type Leeways } from './token-times.ts';
import { signatureRefused, tokenRefused } from './token-refused.ts';
import { verifySignature, type VerifiedToken } from './verify-signature.ts';

export type { VerifiedToken };

/** Proves the signature of a token, and that its algorithm is one that the configuration accepts. @throws BadRequest, UpstreamFailed */
export async function verifySigned(
  { config, keys }: Setup,
  token: string,
  signal: AbortSignal,
  algorithms: readonly string[] = ALGORITHMS,
): Promise<VerifiedToken> {
  const verified = await verifySignature(keys, token, signal);
  if (!verified) throw notVerified({ config });
  const accepted = config.jwt_supported_algs.length > 0 ? config.jwt_supported_algs : algorithms;
  if (!accepted.includes(verified.alg)) {
    throw tokenRefused('invalid algorithm (alg) header parameter: token signed with unexpected algorithm');
  }
  return verified;
}

/** The refusal of a token that no key of the configuration has signed. */
export function notVerified({ config }: Pick<Setup, 'config'>): BadRequest {
  const known = config.jwt_validation_pubkeys.length > 0;
  return signatureRefused(known ? 'no known key successfully validated the token signature' : 'failed to verify id token signature');
}

/** What an ID token must be. */
export interface IdTokenOptions {
  /** The client that it is for. */
  readonly audience: string;
  /** What the client put into its request; undefined where the flow has none. */
  readonly nonce?: string;
  readonly leeways: Leeways;
  /** Seconds since the epoch. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/**
 * Verifies the ID token of a flow of OpenID Connect: signature, algorithm (RS256 where the configuration names none), issuer, audience, times, nonce.
 * @throws BadRequest, UpstreamFailed
 */
export async function verifyIdToken(setup: Setup, token: string, options: IdTokenOptions): Promise<VerifiedToken> {
  const verified = await verifySigned(setup, token, options.signal, ['RS256']);
  checkIssuer(verified.claims, setup.issuer);
  checkAudience(verified.claims, [options.audience]);
  checkTimes(verified.claims, options.leeways, options.now);
  if (options.nonce !== undefined && own(verified.claims, 'nonce') !== options.nonce) throw tokenRefused('invalid id_token nonce');
  return verified;
}

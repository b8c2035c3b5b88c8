import { UpstreamFailed } from '@strongroom/engine-sdk';
import type { JsonObject } from '../json/json-pointer.ts';
import type { KeySource } from '../keys/key-source.ts';
import { candidates, type VerificationKey } from '../keys/verification-key.ts';
import { claimsIn, headerOf } from './compact-jwt.ts';

/** A token whose signature is proven. */
export interface VerifiedToken {
  readonly alg: string;
  readonly claims: JsonObject;
}

/**
 * Proves the signature of a token by the keys of a source. Keys that are known are tried first, so that a source that is down harms no token that they
 * have signed. If none has, the source is looked at once more: its keys may have changed.
 * @returns undefined for a token that somebody else signed
 * @throws BadRequest for a token that is malformed, UpstreamFailed where its key may be missing
 */
export async function verifySignature(source: KeySource, token: string, signal: AbortSignal): Promise<VerifiedToken | undefined> {
  const hint = headerOf(token);
  await source.restored();
  const tried = candidates(source.known(), hint);
  const payload = (await payloadBy(tried, token)) ?? (await payloadByNewKeys(source, token, tried, signal));
  if (payload) return { alg: hint.alg, claims: claimsIn(payload) };
  const problem = source.problem();
  if (problem && (problem.unknown || candidates(source.known(), hint).length === 0)) {
    throw new UpstreamFailed(`the keys of the issuer are not known: ${problem.error}`);
  }
  return undefined;
}

async function payloadByNewKeys(
  source: KeySource,
  token: string,
  tried: readonly VerificationKey[],
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  if (!(await source.refresh(signal))) return undefined;
  const now = candidates(source.known(), headerOf(token));
  return payloadBy(
    now.filter(({ key }) => !tried.some((one) => one.key.equals(key))),
    token,
  );
}

async function payloadBy(keys: readonly VerificationKey[], token: string): Promise<Uint8Array | undefined> {
  const { compactVerify } = await import('jose');
  for (const { key } of keys) {
    try {
      return (await compactVerify(token, key)).payload;
    } catch {
      // Another key may have signed it.
    }
  }
  return undefined;
}

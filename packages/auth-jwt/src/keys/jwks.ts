import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { own } from '@strongroom/engine-sdk';
import type { JsonObject } from '../json/json-pointer.ts';
import { keyProblem } from './algorithms.ts';
import { IssuerRefused } from './issuer-http.ts';
import type { VerificationKey } from './verification-key.ts';

/** More keys than any issuer has. */
const MOST_KEYS = 1_000;

/** The keys of a JSON Web Key Set (RFC 7517) that signatures can be checked with. @throws IssuerRefused for what is no key set */
export function keysOfSet(set: JsonObject): readonly VerificationKey[] {
  const keys = own(set, 'keys');
  if (!Array.isArray(keys)) throw new IssuerRefused('the answer is not a key set: it has no list of keys');
  if (keys.length > MOST_KEYS) throw new IssuerRefused(`the key set has more than ${MOST_KEYS} keys`);
  return keys.flatMap((key: unknown) => verificationKey(key) ?? []);
}

/** Undefined for what is not a public key for signatures, such as one for encryption or of a kind that is unknown here. */
function verificationKey(jwk: unknown): VerificationKey | undefined {
  if (typeof jwk !== 'object' || jwk === null) return undefined;
  const { kty, use, kid, alg, crv, n, e, x, y } = jwk as Record<string, unknown>;
  if (use !== undefined && use !== 'sig') return undefined;
  try {
    // Only the public parts, whatever else the set shows.
    const key = createPublicKey({ key: { kty, crv, n, e, x, y } as JsonWebKey, format: 'jwk' });
    if (keyProblem(key) !== undefined) return undefined;
    return { key, kid: typeof kid === 'string' ? kid : undefined, alg: typeof alg === 'string' ? alg : undefined };
  } catch {
    return undefined;
  }
}

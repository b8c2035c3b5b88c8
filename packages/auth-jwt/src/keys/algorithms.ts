import type { KeyObject } from 'node:crypto';

/** The signature algorithms of JWTs that are accepted where the configuration names none. HMAC is not among them: its key would be a public one. */
export const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'EdDSA'] as const;

export function isAlgorithm(name: string): boolean {
  return (ALGORITHMS as readonly string[]).includes(name);
}

/** The algorithm as tokens name it. Keys call EdDSA by its curve, too (RFC 9864). */
export function algorithmOf(name: string): string {
  return name === 'Ed25519' ? 'EdDSA' : name;
}

const curves: Readonly<Record<string, string>> = { ES256: 'prime256v1', ES384: 'secp384r1', ES512: 'secp521r1' };

const RSA_BITS = 2_048;

/** Why no signature can be checked with a public key, as a phrase; undefined if one can. */
export function keyProblem({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string | undefined {
  const bits = details?.modulusLength ?? 0;
  if (type === 'rsa' || type === 'rsa-pss')
    return bits < RSA_BITS ? `an RSA key needs ${RSA_BITS} bits, and this one has ${bits}` : undefined;
  if (type === 'ed25519') return undefined;
  if (type === 'ec')
    return Object.values(curves).includes(details?.namedCurve ?? '') ? undefined : `the curve ${details?.namedCurve} is not supported`;
  return `keys of the kind ${type} are not supported`;
}

/** Whether a public key can have made a signature of this algorithm. */
export function fitsAlgorithm(key: { readonly type: string; readonly curve: string | undefined }, algorithm: string): boolean {
  if (algorithm === 'EdDSA') return key.type === 'ed25519';
  if (algorithm.startsWith('ES')) return key.type === 'ec' && key.curve === curves[algorithm];
  return key.type === 'rsa' || (algorithm.startsWith('PS') && key.type === 'rsa-pss');
}

import { createHash } from 'node:crypto';
import { Type, type Static } from 'typebox';

/** As the header of a token names them, in the order in which discovery lists them. */
export const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;
export const Algorithm = Type.Enum([...ALGORITHMS]);
export type Algorithm = Static<typeof Algorithm>;

/** What node calls the parts of each. `hash` also makes `at_hash` and `c_hash`. */
interface AlgorithmParts {
  readonly hash: 'sha256' | 'sha384' | 'sha512';
  readonly key:
    | { readonly type: 'rsa' }
    | { readonly type: 'ec'; readonly curve: 'P-256' | 'P-384' | 'P-521' }
    | { readonly type: 'ed25519' };
}

const PARTS: Readonly<Record<Algorithm, AlgorithmParts>> = {
  RS256: { hash: 'sha256', key: { type: 'rsa' } },
  RS384: { hash: 'sha384', key: { type: 'rsa' } },
  RS512: { hash: 'sha512', key: { type: 'rsa' } },
  ES256: { hash: 'sha256', key: { type: 'ec', curve: 'P-256' } },
  ES384: { hash: 'sha384', key: { type: 'ec', curve: 'P-384' } },
  ES512: { hash: 'sha512', key: { type: 'ec', curve: 'P-521' } },
  EdDSA: { hash: 'sha512', key: { type: 'ed25519' } },
};

export function partsOf(algorithm: Algorithm): AlgorithmParts {
  return PARTS[algorithm];
}

export function isAlgorithm(name: string): name is Algorithm {
  return (ALGORITHMS as readonly string[]).includes(name);
}

/** `at_hash` of an access token, `c_hash` of a code: the left half of its hash. */
export function hashClaim(algorithm: Algorithm, value: string): string {
  const digest = createHash(PARTS[algorithm].hash).update(value).digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}

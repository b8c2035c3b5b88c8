import type { KeyObject } from 'node:crypto';
import { algorithmOf, fitsAlgorithm } from './algorithms.ts';

/** A public key that signatures are checked with. */
export interface VerificationKey {
  readonly key: KeyObject;
  /** The name that token headers call it by; undefined for one without a name. */
  readonly kid: string | undefined;
  /** The one algorithm that its owner declares it for; undefined where any that fits is meant. */
  readonly alg: string | undefined;
}

/** What a token's header says of the key that signed it. */
export interface KeyHint {
  readonly alg: string;
  readonly kid: string | undefined;
}

/** The keys that may have signed a token: of the kind of its algorithm and, where the header names one, of that name. */
export function candidates(keys: readonly VerificationKey[], { alg, kid }: KeyHint): VerificationKey[] {
  return keys.filter(({ key, ...declared }) => {
    if (kid !== undefined && declared.kid !== undefined && declared.kid !== kid) return false;
    if (declared.alg !== undefined && algorithmOf(declared.alg) !== alg) return false;
    return fitsAlgorithm({ type: key.asymmetricKeyType ?? '', curve: key.asymmetricKeyDetails?.namedCurve }, alg);
  });
}

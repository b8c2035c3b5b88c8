import { constants, verify, type KeyObject } from 'node:crypto';
import type { AlgorithmIdentifier } from '@peculiar/asn1-x509';

interface Scheme {
  readonly key: 'rsa' | 'ec' | 'ed25519' | 'ed448';
  /** Null where the algorithm has its own. */
  readonly hash: string | null;
}

/** Signatures over MD5 and SHA-1 are not here: they can be forged. */
const SCHEMES: Readonly<Record<string, Scheme>> = {
  '1.2.840.113549.1.1.11': { key: 'rsa', hash: 'sha256' },
  '1.2.840.113549.1.1.12': { key: 'rsa', hash: 'sha384' },
  '1.2.840.113549.1.1.13': { key: 'rsa', hash: 'sha512' },
  '1.2.840.10045.4.3.2': { key: 'ec', hash: 'sha256' },
  '1.2.840.10045.4.3.3': { key: 'ec', hash: 'sha384' },
  '1.2.840.10045.4.3.4': { key: 'ec', hash: 'sha512' },
  '1.3.101.112': { key: 'ed25519', hash: null },
  '1.3.101.113': { key: 'ed448', hash: null },
};

const RSA_PSS = '1.2.840.113549.1.1.10';
/** The identifiers of SHA-256, SHA-384 and SHA-512, as DER has them in the parameters of RSA-PSS. */
const PSS_HASHES = [
  ['608648016503040201', 'sha256'],
  ['608648016503040202', 'sha384'],
  ['608648016503040203', 'sha512'],
] as const;

/** Bytes with the signature over them, as certificates, revocation lists and OCSP responses carry it. */
export interface Signed {
  readonly bytes: ArrayBuffer;
  readonly algorithm: AlgorithmIdentifier;
  readonly signature: ArrayBuffer;
}

/** Whether this key made the signature, by an algorithm that is not broken. Never throws. */
export function isSignedBy(key: KeyObject, { bytes, algorithm, signature }: Signed): boolean {
  try {
    const [data, bits] = [new Uint8Array(bytes), new Uint8Array(signature)];
    if (algorithm.algorithm === RSA_PSS) {
      const hash = pssHash(algorithm);
      if (hash === undefined || !key.asymmetricKeyType?.startsWith('rsa')) return false;
      return verify(hash, data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }, bits);
    }
    const scheme = Object.hasOwn(SCHEMES, algorithm.algorithm) ? SCHEMES[algorithm.algorithm] : undefined;
    return scheme !== undefined && scheme.key === key.asymmetricKeyType && verify(scheme.hash, data, key, bits);
  } catch {
    return false;
  }
}

/** The one hash that the parameters name; undefined for none, several, or one that is not listed (the default is SHA-1). */
function pssHash({ parameters }: AlgorithmIdentifier): string | undefined {
  const hex = parameters ? Buffer.from(parameters).toString('hex') : '';
  const named = PSS_HASHES.filter(([oid]) => hex.includes(`0609${oid}`));
  return named.length === 1 ? named[0]![1] : undefined;
}

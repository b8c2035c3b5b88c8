import { createPublicKey, X509Certificate, type KeyObject } from 'node:crypto';
import { BadRequest } from '@strongroom/engine-sdk';

const BLOCK = /-----BEGIN [A-Z0-9 ]+-----[^-]+-----END [A-Z0-9 ]+-----/g;

/** The public keys of PEM texts: of keys, and of certificates. @throws BadRequest */
export function publicKeys(texts: readonly string[]): KeyObject[] {
  return texts.map((text) => {
    try {
      const key = createPublicKey(text);
      if (key.asymmetricKeyType === 'rsa' || key.asymmetricKeyType === 'ec') return key;
    } catch {
      // Answered below.
    }
    throw new BadRequest('data does not contain any valid public keys');
  });
}

/** @throws BadRequest that names the field */
export function requireCertificates(pem: string, field: string): void {
  try {
    const blocks = pem.match(BLOCK) ?? [];
    for (const block of blocks) new X509Certificate(block);
    if (blocks.length > 0) return;
  } catch {
    // Answered below.
  }
  throw new BadRequest(`${field}: not a certificate; send the PEM of the cluster's CA, as in ca.crt of a service account`);
}

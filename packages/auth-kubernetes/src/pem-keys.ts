import { createPublicKey, type KeyObject } from 'node:crypto';
import { BadRequest } from '@strongroom/engine-sdk';

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

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { CorruptRecord } from './key-ring.ts';

const NONCE = 12;
const TAG = 16;

/** AES-256-GCM with one given key: for the few records that exist outside the key ring. Layout: nonce, ciphertext, tag. */
export function sealWith(key: Uint8Array, name: string, plain: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(name));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]);
}

/** @throws CorruptRecord when the key is another one, or the record was damaged. */
export function unsealWith(key: Uint8Array, name: string, sealed: Uint8Array): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE));
    decipher.setAAD(Buffer.from(name));
    decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE, sealed.length - TAG)), decipher.final()]);
  } catch {
    throw new CorruptRecord(name, 'message authentication failed');
  }
}

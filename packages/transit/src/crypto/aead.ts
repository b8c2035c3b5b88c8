import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { createCipheriv, createDecipheriv, KeyObject, type CipherGCMTypes } from 'node:crypto';
import type { KeyType } from './key-types.ts';

const TAG_BYTES = 16;

/** What opened with another key or other data, or was changed. */
export class NotAuthentic extends Error {
  override readonly name = 'NotAuthentic';
}

const CIPHERS = new Map<string, CipherGCMTypes>([
  ['aes128-gcm96', 'aes-128-gcm'],
  ['aes256-gcm96', 'aes-256-gcm'],
  ['chacha20-poly1305', 'chacha20-poly1305' as CipherGCMTypes],
]);

/** The key of a cipher: a `KeyObject` where it serves more than once, which saves work each time. */
export type CipherKey = KeyObject | Uint8Array;

/** Encrypts. The result is the nonce, the ciphertext and the tag. */
export function seal(type: KeyType, key: CipherKey, nonce: Uint8Array, plaintext: Uint8Array, associated: Uint8Array): Buffer {
  const name = CIPHERS.get(type.name);
  if (!name) return Buffer.concat([nonce, xchacha20poly1305(bytesOf(key), nonce, associated).encrypt(plaintext)]);
  const cipher = createCipheriv(name, key, nonce, { authTagLength: TAG_BYTES });
  if (associated.length > 0) cipher.setAAD(associated, { plaintextLength: plaintext.length });
  const body = cipher.update(plaintext);
  // These ciphers keep nothing back for the end.
  cipher.final();
  return Buffer.concat([nonce, body, cipher.getAuthTag()], nonce.length + body.length + TAG_BYTES);
}

/** Opens what `seal` made. @throws NotAuthentic */
export function open(type: KeyType, key: CipherKey, sealed: Buffer, associated: Uint8Array): Buffer {
  if (sealed.length < type.nonceBytes) throw new NotAuthentic('invalid ciphertext length');
  const failed = `${type.name.startsWith('aes') ? 'cipher' : 'chacha20poly1305'}: message authentication failed`;
  if (sealed.length < type.nonceBytes + TAG_BYTES) throw new NotAuthentic(failed);
  const nonce = sealed.subarray(0, type.nonceBytes);
  const body = sealed.subarray(type.nonceBytes, sealed.length - TAG_BYTES);
  const name = CIPHERS.get(type.name);
  try {
    if (!name) return Buffer.from(xchacha20poly1305(bytesOf(key), nonce, associated).decrypt(sealed.subarray(type.nonceBytes)));
    const decipher = createDecipheriv(name, key, nonce, { authTagLength: TAG_BYTES });
    if (associated.length > 0) decipher.setAAD(associated, { plaintextLength: body.length });
    decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
    const plaintext = decipher.update(body);
    decipher.final();
    return plaintext;
  } catch {
    throw new NotAuthentic(failed);
  }
}

function bytesOf(key: CipherKey): Uint8Array {
  return key instanceof KeyObject ? key.export() : key;
}

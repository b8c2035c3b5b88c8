import { BadRequest } from '@strongroom/engine-sdk';
import { constants, createCipheriv, createDecipheriv, privateDecrypt, publicEncrypt, randomBytes, type KeyObject } from 'node:crypto';
import { fromBase64, NotBase64 } from './base64.ts';

/** AES key wrap with padding (RFC 5649), section 3: its constant. */
const INITIAL_VALUE = Buffer.from('a65959a6', 'hex');
const CIPHER = 'id-aes256-wrap-pad';
const EPHEMERAL_BYTES = 32;

/** The hashes that OAEP may use, by the names that callers send, with those of Node. */
const HASHES: ReadonlyMap<string, string> = new Map([
  ['SHA1', 'sha1'],
  ['SHA224', 'sha224'],
  ['SHA256', 'sha256'],
  ['SHA384', 'sha384'],
  ['SHA512', 'sha512'],
]);

export const WRAP_HASHES = [...HASHES.keys()];

/** @throws BadRequest for another hash */
export function wrapHash(name: string): string {
  const hash = HASHES.get(name.toUpperCase());
  if (hash === undefined) throw new BadRequest(`unknown hash function: ${name}; hash_function must be one of ${WRAP_HASHES.join(', ')}`);
  return hash;
}

/** Wraps a key for the owner of an RSA key: an ephemeral AES key in RSA-OAEP with SHA-256, followed by the key under it. In Base64. */
export function wrapKey(recipient: KeyObject, target: Uint8Array): string {
  const ephemeral = randomBytes(EPHEMERAL_BYTES);
  const wrapped = publicEncrypt({ key: recipient, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, ephemeral);
  const cipher = createCipheriv(CIPHER, ephemeral, INITIAL_VALUE);
  return Buffer.concat([wrapped, cipher.update(target), cipher.final()]).toString('base64');
}

/** What `wrapKey` wrapped, or another program in the same form. `hash` is a name of Node. @throws BadRequest */
export function unwrapKey(recipient: KeyObject, hash: string, text: string): Buffer {
  const wrapped = decodedText(text);
  const modulusBytes = recipient.asymmetricKeyDetails!.modulusLength! / 8;
  if (wrapped.length <= modulusBytes)
    throw new BadRequest('provided ciphertext is too short: it must be the wrapped AES key, then the wrapped key');
  try {
    const oaep = { key: recipient, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: hash };
    const ephemeral = privateDecrypt(oaep, wrapped.subarray(0, modulusBytes));
    const decipher = createDecipheriv(CIPHER, ephemeral, INITIAL_VALUE);
    return Buffer.concat([decipher.update(wrapped.subarray(modulusBytes)), decipher.final()]);
  } catch {
    // One answer for every fault, so that it tells nothing about the padding.
    throw new BadRequest(
      'ciphertext cannot be unwrapped: it must be wrapped with wrapping_key, and hash_function must be the one that was used',
    );
  }
}

function decodedText(text: string): Buffer {
  try {
    return fromBase64(text);
  } catch (error) {
    if (error instanceof NotBase64) throw new BadRequest(error.message);
    throw error;
  }
}

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { SealWrongKey } from './errors.ts';

const FORMAT = 1;
const HEADER = 3;
const KEY = 32;
const NONCE = 12;
const TAG = 16;

/**
 * For services that encrypt only few bytes, or take no associated data: what is to be wrapped is encrypted here, with AES-256-GCM under a random key that
 * is used once, and the service wraps that key. `wrapKey` gets its 32 bytes.
 *
 * Layout: format (1 byte), length of the wrapped key (2, big endian), wrapped key, nonce (12), ciphertext, tag (16).
 */
export async function sealEnvelope(
  plain: Uint8Array,
  aad: Uint8Array,
  wrapKey: (key: Uint8Array) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const key = randomBytes(KEY);
  try {
    const wrapped = await wrapKey(key);
    const header = Buffer.alloc(HEADER, FORMAT);
    header.writeUInt16BE(wrapped.length, 1);
    return Buffer.concat([header, wrapped, encrypt(key, plain, aad)]);
  } finally {
    key.fill(0);
  }
}

/** Opens what `sealEnvelope` made. @throws SealWrongKey when it was damaged or `aad` is another; what `unwrapKey` throws */
export async function openEnvelope(
  blob: Uint8Array,
  aad: Uint8Array,
  unwrapKey: (wrapped: Uint8Array) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const bytes = Buffer.from(blob);
  const end = bytes.length < HEADER ? 0 : HEADER + bytes.readUInt16BE(1);
  if (bytes[0] !== FORMAT || bytes.length < end + NONCE + TAG) throw new SealWrongKey('the blob is not an envelope of this seal');
  const key = Buffer.from(await unwrapKey(bytes.subarray(HEADER, end)));
  try {
    return decrypt(key, bytes.subarray(end), aad);
  } finally {
    key.fill(0);
  }
}

/** AES-256-GCM. Layout: nonce (12), ciphertext, tag (16). */
export function encrypt(key: Uint8Array, plain: Uint8Array, aad: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aad);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]);
}

/** @throws SealWrongKey */
export function decrypt(key: Uint8Array, sealed: Uint8Array, aad: Uint8Array): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE)).setAAD(aad);
    decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE, sealed.length - TAG)), decipher.final()]);
  } catch {
    throw new SealWrongKey('the blob was made with another key or for other associated data, or it was damaged');
  }
}

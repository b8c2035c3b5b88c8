import { BadRequest } from '@strongroom/engine-sdk';
import { constants, createHmac, publicEncrypt, webcrypto } from 'node:crypto';
import type { KeyRecord } from '../stored/records.ts';
import { NotAuthentic, open, seal } from './aead.ts';
import { fromBase64, NotBase64 } from './base64.ts';
import type { Material } from './material.ts';
import { readVersionedText, versionedText } from './versioned-text.ts';

/** Bytes of the key that nonces of convergent encryption come from. */
const NONCE_KEY_BYTES = 32;

const NO_CONTEXT =
  "missing 'context' for key derivation; the key was created using a derived key, which means additional, per-request information must be included in order to perform operations with the key";

/** The version that a caller asks for; 0 is the latest. @throws BadRequest */
export function versionFor(key: KeyRecord, asked: number, noun: 'encryption' | 'signing' | 'key wrapping'): number {
  if (asked === 0) return key.latest_version;
  if (asked < 0) throw new BadRequest(`requested version for ${noun} is negative`);
  if (asked > key.latest_version) throw new BadRequest(`requested version for ${noun} is higher than the latest key version`);
  if (asked < key.min_encryption_version)
    throw new BadRequest(`requested version for ${noun} is less than the minimum encryption key version`);
  return asked;
}

/** @throws BadRequest where the key is derived and there is no context */
export function requireContext(key: KeyRecord, context: Buffer): void {
  if (key.derived && context.length === 0) throw new BadRequest(NO_CONTEXT);
}

/** Encrypts with a version of a key that can. @throws BadRequest */
export function encryptWith(
  key: KeyRecord,
  material: Material,
  version: number,
  parts: { plaintext: Buffer; context: Buffer; associated: Buffer },
  randomBytes: (count: number) => Uint8Array,
): string {
  const { plaintext, context, associated } = parts;
  if (material.type.family === 'rsa') {
    const padding = { key: material.publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
    // What RSA can hold: the modulus without two hashes and two bytes.
    if (plaintext.length > material.type.bits / 8 - 66) throw new BadRequest('plaintext is too long for an RSA key');
    return versionedText(version, publicEncrypt(padding, plaintext).toString('base64'));
  }
  requireContext(key, context);
  const { keyBytes, nonceBytes } = material.type;
  if (!key.convergent) {
    const own = key.derived ? material.derived(context, keyBytes) : material.secretKey;
    return versionedText(version, seal(material.type, own, randomBytes(nonceBytes), plaintext, associated).toString('base64'));
  }
  const own = material.derived(context, keyBytes + NONCE_KEY_BYTES);
  const nonce = createHmac('sha256', own.subarray(keyBytes)).update(plaintext).digest().subarray(0, nonceBytes);
  return versionedText(version, seal(material.type, own.subarray(0, keyBytes), nonce, plaintext, associated).toString('base64'));
}

/** The version that a ciphertext or signature was made with, as the key allows it, and its bytes in text. @throws BadRequest */
export function allowedVersion(
  key: KeyRecord,
  text: string,
  what: 'ciphertext' | 'signature',
): { readonly version: number; readonly body: string } {
  const read = readVersionedText(text, what);
  if (read.version > key.latest_version) throw new BadRequest(`invalid ${what}: version is too new`);
  if (read.version < key.min_decryption_version) throw new BadRequest('ciphertext or signature version is disallowed by policy (too old)');
  return read;
}

/** Opens the body of a ciphertext. @throws BadRequest */
export async function decryptWith(
  key: KeyRecord,
  material: Material,
  parts: { body: string; context: Buffer; associated: Buffer },
): Promise<Buffer> {
  const sealed = ciphertextBytes(parts.body);
  if (material.type.family === 'rsa') {
    if (material.isPublicOnly) throw new BadRequest('cannot decrypt ciphertext, key version does not have a private counterpart');
    const own = await material.decryptionKey();
    try {
      return Buffer.from(await webcrypto.subtle.decrypt({ name: 'RSA-OAEP' }, own, sealed));
    } catch {
      throw new BadRequest('failed to RSA decrypt the ciphertext: crypto/rsa: decryption error');
    }
  }
  requireContext(key, parts.context);
  const own = key.derived ? material.derived(parts.context, material.type.keyBytes) : material.secretKey;
  try {
    return open(material.type, own, sealed, parts.associated);
  } catch (error) {
    if (error instanceof NotAuthentic) throw new BadRequest(error.message);
    throw error;
  }
}

function ciphertextBytes(body: string): Buffer {
  try {
    return fromBase64(body);
  } catch (error) {
    if (error instanceof NotBase64) throw new BadRequest('invalid ciphertext: could not decode base64');
    throw error;
  }
}

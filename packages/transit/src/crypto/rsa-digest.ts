import { constants, createHash, privateEncrypt, publicDecrypt, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { Hash } from './hashes.ts';

const TRAILER = 0xbc;

/** PKCS #1 v1.5 over a digest that the caller made. Without a hash, over the bytes as they are. @throws Error where the digest does not fit */
export function signDigestPkcs1(key: KeyObject, hash: Hash | undefined, digest: Buffer): Buffer {
  return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, digestInfo(hash, digest));
}

export function verifyDigestPkcs1(key: KeyObject, hash: Hash | undefined, digest: Buffer, signature: Buffer): boolean {
  try {
    const found = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
    const expected = digestInfo(hash, digest);
    return found.length === expected.length && timingSafeEqual(found, expected);
  } catch {
    return false;
  }
}

function digestInfo(hash: Hash | undefined, digest: Buffer): Buffer {
  return hash ? Buffer.concat([hash.digestInfo, digest]) : digest;
}

/** PSS over a digest that the caller made (RFC 8017, section 9.1.1). */
export function signDigestPss(key: KeyObject, bits: number, hash: Hash, digest: Buffer, saltLength: number): Buffer {
  const salt = randomBytes(saltLength);
  const encodedBytes = bits / 8;
  const dbBytes = encodedBytes - hash.size - 1;
  const h = createHash(hash.node).update(Buffer.alloc(8)).update(digest).update(salt).digest();
  const db = Buffer.concat([Buffer.alloc(dbBytes - salt.length - 1), Buffer.of(1), salt]);
  const masked = xor(db, mask(hash, h, dbBytes));
  masked[0]! &= 0x7f;
  return privateEncrypt({ key, padding: constants.RSA_NO_PADDING }, Buffer.concat([masked, h, Buffer.of(TRAILER)]));
}

/** Without `saltLength`, whatever length the signer took (RFC 8017, section 9.1.2). */
export function verifyDigestPss(key: KeyObject, bits: number, hash: Hash, digest: Buffer, signature: Buffer, saltLength?: number): boolean {
  let encoded: Buffer;
  try {
    encoded = publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, signature);
  } catch {
    return false;
  }
  const dbBytes = bits / 8 - hash.size - 1;
  const masked = encoded.subarray(0, dbBytes);
  const h = encoded.subarray(dbBytes, dbBytes + hash.size);
  if (encoded[encoded.length - 1] !== TRAILER || (masked[0]! & 0x80) !== 0) return false;
  const db = xor(masked, mask(hash, h, dbBytes));
  db[0]! &= 0x7f;
  const start = db.findIndex((byte) => byte !== 0);
  if (start < 0 || db[start] !== 1) return false;
  const salt = db.subarray(start + 1);
  if (saltLength !== undefined && salt.length !== saltLength) return false;
  return timingSafeEqual(h, createHash(hash.node).update(Buffer.alloc(8)).update(digest).update(salt).digest());
}

/** MGF1. */
function mask(hash: Hash, seed: Buffer, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let count = 0; count * hash.size < length; count += 1) {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(count);
    blocks.push(createHash(hash.node).update(seed).update(counter).digest());
  }
  return Buffer.concat(blocks).subarray(0, length);
}

function xor(left: Buffer, right: Buffer): Buffer {
  return Buffer.from(left.map((byte, index) => byte ^ right[index]!));
}

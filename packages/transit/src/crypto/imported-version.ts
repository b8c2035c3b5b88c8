import { BadRequest } from '@strongroom/engine-sdk';
import { createPrivateKey, createPublicKey, randomBytes, type KeyObject } from 'node:crypto';
import type { VersionRecord } from '../stored/records.ts';
import { HMAC_KEY_BYTES, type KeyType } from './key-types.ts';
import { ed25519Parts, HMAC_BYTES, pairParts } from './new-version.ts';

/** Names of Node for the curves. */
export const CURVES: ReadonlyMap<string, string> = new Map([
  ['P-256', 'prime256v1'],
  ['P-384', 'secp384r1'],
  ['P-521', 'secp521r1'],
]);

/** A version of the bytes of a symmetric key, or of PKCS #8 in DER. @throws BadRequest for what is no key of the type */
export function importedVersion(type: KeyType, bytes: Buffer, now: Date): VersionRecord {
  const created = now.toISOString();
  const hmac_key = randomBytes(HMAC_BYTES).toString('base64');
  if (type.family === 'hmac') {
    const { least, most } = HMAC_KEY_BYTES;
    if (bytes.length < least || bytes.length > most)
      throw new BadRequest(
        `error importing key: invalid key size ${bytes.length} bytes for key type hmac: it must be from ${least} to ${most}`,
      );
    const key = bytes.toString('base64');
    return { created, key, hmac_key: key };
  }
  if (type.family === 'aead') {
    if (bytes.length !== type.keyBytes)
      throw new BadRequest(
        `error importing key: invalid key size ${bytes.length} bytes for key type ${type.name}: it must be ${type.keyBytes}`,
      );
    return { created, key: bytes.toString('base64'), hmac_key };
  }
  const key = readKey(() => createPrivateKey({ key: bytes, format: 'der', type: 'pkcs8' }), 'asymmetric key: it must be PKCS #8 in DER');
  requireType(type, key);
  if (type.family === 'ed25519') return { created, ...ed25519Parts(key), hmac_key };
  return { created, ...pairParts(key, createPublicKey(key)), hmac_key };
}

/** A version that has only a public key, of its PEM: it encrypts and verifies. @throws BadRequest */
export function importedPublicVersion(type: KeyType, pem: string, now: Date): VersionRecord {
  if (!importsPublic(type)) throw new BadRequest('provided type does not support public_key import');
  const key = readKey(() => createPublicKey({ key: pem, format: 'pem' }), 'public key: it must be PEM');
  requireType(type, key);
  return { created: now.toISOString(), ...pairParts(undefined, key), hmac_key: randomBytes(HMAC_BYTES).toString('base64') };
}

export function importsPublic({ family }: KeyType): boolean {
  return family === 'rsa' || family === 'ecdsa' || family === 'ed25519';
}

function readKey(read: () => KeyObject, what: string): KeyObject {
  try {
    return read();
  } catch {
    throw new BadRequest(`error importing key: error parsing ${what}`);
  }
}

function requireType(type: KeyType, key: KeyObject): void {
  const { asymmetricKeyType: kind, asymmetricKeyDetails: details } = key;
  const wanted = type.family === 'ecdsa' ? 'ec' : type.family;
  if (kind !== wanted) throw new BadRequest(`error importing key: invalid key type: expected ${type.name}, got ${kind}`);
  if (type.family === 'rsa' && details?.modulusLength !== type.bits)
    throw new BadRequest(`error importing key: invalid key size: expected ${type.bits} bits, got ${details?.modulusLength}`);
  if (type.family === 'ecdsa' && details?.namedCurve !== CURVES.get(type.curve))
    throw new BadRequest(`error importing key: invalid curve: expected ${type.curve}, got ${details?.namedCurve}`);
}

/** Whether a private key belongs to the public key of a version. */
export function isPairOf(own: VersionRecord, other: VersionRecord): boolean {
  return own.public !== undefined && own.public === other.public;
}

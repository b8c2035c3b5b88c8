import { generateKeyPair, randomBytes, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { VersionRecord } from '../stored/records.ts';
import type { KeyType } from './key-types.ts';

const keyPair = promisify(generateKeyPair);
/** Bytes of the HMAC key that every version has. */
export const HMAC_BYTES = 32;

/** Makes a new version of a key. RSA keys take a second or two, on another thread. `keySize` is that of an HMAC key, in bytes. */
export async function newVersion(type: KeyType, now: Date, keySize = HMAC_BYTES): Promise<VersionRecord> {
  const created = now.toISOString();
  const hmac_key = randomBytes(HMAC_BYTES).toString('base64');
  switch (type.family) {
    case 'aead':
      return { created, key: randomBytes(type.keyBytes).toString('base64'), hmac_key };
    case 'hmac': {
      const key = randomBytes(keySize).toString('base64');
      return { created, key, hmac_key: key };
    }
    case 'ed25519': {
      const { privateKey } = await keyPair('ed25519');
      return { created, ...ed25519Parts(privateKey), hmac_key };
    }
    case 'ecdsa': {
      const { privateKey, publicKey } = await keyPair('ec', { namedCurve: type.curve });
      return { created, ...pairParts(privateKey, publicKey), hmac_key };
    }
    case 'rsa': {
      const { privateKey, publicKey } = await keyPair('rsa', { modulusLength: type.bits });
      return { created, ...pairParts(privateKey, publicKey), hmac_key };
    }
  }
}

export function pairParts(privateKey: KeyObject | undefined, publicKey: KeyObject): Pick<VersionRecord, 'private' | 'public'> {
  return {
    ...(privateKey ? { private: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64') } : {}),
    public: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  };
}

const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex');

export function ed25519Parts(privateKey: KeyObject): Pick<VersionRecord, 'key' | 'public'> {
  const { d, x } = privateKey.export({ format: 'jwk' }) as { d: string; x: string };
  const open = Buffer.from(x, 'base64url');
  return { key: Buffer.concat([Buffer.from(d, 'base64url'), open]).toString('base64'), public: ed25519Spki(open).toString('base64') };
}

/** SubjectPublicKeyInfo of the 32 bytes of a public key. */
export function ed25519Spki(open: Uint8Array): Buffer {
  return Buffer.concat([ED25519_SPKI, open]);
}

import { createPrivateKey, createPublicKey, createSecretKey, webcrypto, type KeyObject } from 'node:crypto';
import type { VersionRecord } from '../stored/records.ts';
import { hkdfSha256 } from './hkdf.ts';
import type { KeyType } from './key-types.ts';
import { ed25519Spki } from './new-version.ts';

const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A version of a key, decoded once and then used by many requests. */
export class Material {
  readonly type: KeyType;
  /** The bytes of a symmetric key; empty for others. */
  readonly key: Buffer;
  readonly hmacKey: Buffer | undefined;
  /** Whether only the public key was imported. */
  readonly isPublicOnly: boolean;
  readonly #record: VersionRecord;
  #secret: KeyObject | undefined;
  #private: KeyObject | undefined;
  #public: KeyObject | undefined;
  #decryption: Promise<webcrypto.CryptoKey> | undefined;

  constructor(type: KeyType, record: VersionRecord) {
    this.type = type;
    this.#record = record;
    this.key = Buffer.from(record.key ?? '', 'base64');
    this.hmacKey = record.hmac_key === undefined ? undefined : Buffer.from(record.hmac_key, 'base64');
    this.isPublicOnly = record.key === undefined && record.private === undefined;
  }

  /** The symmetric key, for ciphers. */
  get secretKey(): KeyObject {
    this.#secret ??= createSecretKey(this.key);
    return this.#secret;
  }

  /** @throws Error for a version without one */
  get privateKey(): KeyObject {
    this.#private ??=
      this.type.family === 'ed25519'
        ? ed25519Private(this.key.subarray(0, 32))
        : createPrivateKey({ key: Buffer.from(this.#record.private!, 'base64'), format: 'der', type: 'pkcs8' });
    return this.#private;
  }

  get publicKey(): KeyObject {
    this.#public ??= createPublicKey({ key: Buffer.from(this.#record.public!, 'base64'), format: 'der', type: 'spki' });
    return this.#public;
  }

  /** For RSA-OAEP, which only Web Crypto opens on another thread. */
  async decryptionKey(): Promise<webcrypto.CryptoKey> {
    this.#decryption ??= webcrypto.subtle.importKey(
      'pkcs8',
      Buffer.from(this.#record.private!, 'base64'),
      { name: 'RSA-OAEP', hash: 'SHA-256' },
      false,
      ['decrypt'],
    );
    return this.#decryption;
  }

  /** Bytes for a context, where the key is derived. */
  derived(context: Uint8Array, length: number): Buffer {
    return hkdfSha256(this.key, context, length);
  }
}

/** The key pair of 32 bytes of seed. */
export function ed25519Private(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([ED25519_PKCS8, seed]), format: 'der', type: 'pkcs8' });
}

/** The 32 bytes of an Ed25519 public key, in Base64 as reads show it. */
export function ed25519Text(publicKey: KeyObject): string {
  return publicKey
    .export({ type: 'spki', format: 'der' })
    .subarray(ed25519Spki(Buffer.alloc(0)).length)
    .toString('base64');
}

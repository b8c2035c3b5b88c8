/** What a type of key is made of, and what it can do. */
export interface KeyType {
  readonly name: string;
  /** Its number in a backup. */
  readonly code: number;
  readonly family: 'aead' | 'rsa' | 'ecdsa' | 'ed25519' | 'hmac';
  /** Of an `aead`: bytes of the key. */
  readonly keyBytes: number;
  /** Of an `aead`: bytes of the nonce. */
  readonly nonceBytes: number;
  /** Of RSA: bits of the modulus. */
  readonly bits: number;
  /** Of ECDSA: the curve, as public keys name it. */
  readonly curve: string;
}

const none = { keyBytes: 0, nonceBytes: 0, bits: 0, curve: '' };

const TYPES: readonly KeyType[] = [
  { ...none, name: 'aes256-gcm96', code: 0, family: 'aead', keyBytes: 32, nonceBytes: 12 },
  { ...none, name: 'ecdsa-p256', code: 1, family: 'ecdsa', curve: 'P-256' },
  { ...none, name: 'ed25519', code: 2, family: 'ed25519' },
  { ...none, name: 'rsa-2048', code: 3, family: 'rsa', bits: 2048 },
  { ...none, name: 'rsa-4096', code: 4, family: 'rsa', bits: 4096 },
  { ...none, name: 'chacha20-poly1305', code: 5, family: 'aead', keyBytes: 32, nonceBytes: 12 },
  { ...none, name: 'ecdsa-p384', code: 6, family: 'ecdsa', curve: 'P-384' },
  { ...none, name: 'ecdsa-p521', code: 7, family: 'ecdsa', curve: 'P-521' },
  { ...none, name: 'aes128-gcm96', code: 8, family: 'aead', keyBytes: 16, nonceBytes: 12 },
  { ...none, name: 'rsa-3072', code: 9, family: 'rsa', bits: 3072 },
  { ...none, name: 'hmac', code: 10, family: 'hmac' },
  { ...none, name: 'xchacha20-poly1305', code: 11, family: 'aead', keyBytes: 32, nonceBytes: 24 },
];

const BY_NAME = new Map(TYPES.map((type) => [type.name, type]));
const BY_CODE = new Map(TYPES.map((type) => [type.code, type]));

export const KEY_TYPE_NAMES: readonly string[] = TYPES.map(({ name }) => name);

/** Undefined for a type that there is not. */
export function keyType(name: string): KeyType | undefined {
  return BY_NAME.get(name);
}

/** The type of a number in a backup; undefined for one that there is not. */
export function keyTypeOfCode(code: number): KeyType | undefined {
  return BY_CODE.get(code);
}

export const encrypts = ({ family }: KeyType): boolean => family === 'aead' || family === 'rsa';
export const signs = ({ family }: KeyType): boolean => family === 'rsa' || family === 'ecdsa' || family === 'ed25519';
export const derives = ({ family }: KeyType): boolean => family === 'aead' || family === 'ed25519';

/** Bytes that an HMAC key may have. */
export const HMAC_KEY_BYTES = { least: 32, most: 512 } as const;

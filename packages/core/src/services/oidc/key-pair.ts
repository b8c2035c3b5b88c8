import { createPrivateKey, createPublicKey, generateKeyPair, randomUUID, sign, verify, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { Type, type Static } from 'typebox';
import { Algorithm, partsOf } from './signing-algorithm.ts';

/** A public key as a key set publishes it. */
export const PublicKey = Type.Record(Type.String(), Type.String());
export type PublicKey = Static<typeof PublicKey>;

/** A key that signs. The private half never leaves the store but to sign. */
export const KeyPair = Type.Object({
  kid: Type.String(),
  algorithm: Algorithm,
  /** PKCS #8, DER, base64. */
  private_key: Type.String(),
  public_key: PublicKey,
});
export type KeyPair = Static<typeof KeyPair>;

const RSA_BITS = 2_048;
const generate = promisify(generateKeyPair);

/** A new key with a new id. Off the main thread: an RSA key takes a tenth of a second. */
export async function newKeyPair(algorithm: Algorithm): Promise<KeyPair> {
  const { privateKey, publicKey } = await generated(algorithm);
  const kid = randomUUID();
  return {
    kid,
    algorithm,
    private_key: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    public_key: { use: 'sig', kid, alg: algorithm, ...(publicKey.export({ format: 'jwk' }) as Record<string, string>) },
  };
}

async function generated(algorithm: Algorithm): Promise<{ privateKey: KeyObject; publicKey: KeyObject }> {
  const { key } = partsOf(algorithm);
  switch (key.type) {
    case 'rsa':
      return generate('rsa', { modulusLength: RSA_BITS });
    case 'ec':
      return generate('ec', { namedCurve: key.curve });
    case 'ed25519':
      return generate('ed25519');
  }
}

/** The claims as a signed token, in compact form. Signed off the main thread. */
export async function signedToken(pair: KeyPair, claims: Readonly<Record<string, unknown>>): Promise<string> {
  const content = `${encoded({ alg: pair.algorithm, kid: pair.kid })}.${encoded(claims)}`;
  const key = createPrivateKey({ key: Buffer.from(pair.private_key, 'base64'), format: 'der', type: 'pkcs8' });
  const signature = await new Promise<Buffer>((resolve, reject) =>
    sign(digestOf(pair.algorithm), Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' }, (error, made) =>
      error ? reject(error) : resolve(made),
    ),
  );
  return `${content}.${signature.toString('base64url')}`;
}

/** A token taken apart; nothing of it is believed yet. */
export interface ParsedToken {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  /** What is signed. */
  readonly content: string;
  readonly signature: Buffer;
}

/** @throws Error that says what is wrong with the form */
export function parsedToken(token: string): ParsedToken {
  const parts = token.split('.');
  if (parts.length !== 3) throw new Error('a token has three parts, separated by dots');
  const [header = '', claims = '', signature = ''] = parts;
  return {
    header: decoded(header, 'header'),
    claims: decoded(claims, 'payload'),
    content: `${header}.${claims}`,
    signature: bytesOf(signature, 'signature'),
  };
}

/** Whether the key made the signature, by the algorithm that it is for. */
export function isSignedBy(key: PublicKey, { header, content, signature }: ParsedToken): boolean {
  if (header['alg'] !== key['alg'] || header['kid'] !== key['kid']) return false;
  const publicKey = createPublicKey({ key, format: 'jwk' });
  return verify(digestOf(key['alg'] as Algorithm), Buffer.from(content), { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
}

/** Ed25519 hashes by itself. */
function digestOf(algorithm: Algorithm): string | undefined {
  return algorithm === 'EdDSA' ? undefined : partsOf(algorithm).hash;
}

function encoded(value: Readonly<Record<string, unknown>>): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Only the one text that encodes the bytes: no verifier takes another. @throws Error for all else */
function bytesOf(part: string, what: string): Buffer {
  const bytes = Buffer.from(part, 'base64url');
  if (bytes.toString('base64url') !== part) throw new Error(`the ${what} is not base64url`);
  return bytes;
}

function decoded(part: string, what: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(bytesOf(part, what).toString());
  } catch {
    throw new Error(`the ${what} is not JSON in base64url`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`the ${what} is not a JSON object`);
  return value as Record<string, unknown>;
}

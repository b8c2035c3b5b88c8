import { BadRequest } from '@strongroom/engine-sdk';
import { constants, createPublicKey, sign, verify, type KeyObject, type SignKeyObjectInput } from 'node:crypto';
import { promisify } from 'node:util';
import type { KeyRecord } from '../stored/records.ts';
import { requireContext } from './cipher.ts';
import { signDigestEcdsa, verifyDigestEcdsa } from './ecdsa-digest.ts';
import { hashOf, type Hash } from './hashes.ts';
import { ed25519Private, type Material } from './material.ts';
import { signDigestPkcs1, signDigestPss, verifyDigestPkcs1, verifyDigestPss } from './rsa-digest.ts';

const signAsync = promisify(sign) as (hash: string | null, data: Buffer, key: SignKeyObjectInput | KeyObject) => Promise<Buffer>;
const verifyAsync = promisify(verify) as (
  hash: string | null,
  data: Buffer,
  key: SignKeyObjectInput | KeyObject,
  signature: Buffer,
) => Promise<boolean>;

/** How a signature is made, as the caller asks. */
export interface Scheme {
  /** Undefined: none, for PKCS #1 v1.5 over bytes that the caller prepared. */
  readonly hash: Hash | undefined;
  readonly prehashed: boolean;
  readonly rsa: 'pss' | 'pkcs1v15';
  readonly marshaling: 'asn1' | 'jws';
  readonly salt: 'auto' | 'hash' | number;
}

export interface SchemeFields {
  readonly hash: string;
  readonly prehashed: boolean;
  readonly signature_algorithm: string | undefined;
  readonly marshaling_algorithm: string;
  readonly salt_length: string;
}

/** @throws BadRequest that names the field */
export function readScheme(fields: SchemeFields): Scheme {
  const hash = hashOf(fields.hash);
  if (!hash && fields.hash !== 'none') throw new BadRequest(`invalid hash algorithm "${fields.hash}"`);
  const marshaling = fields.marshaling_algorithm;
  if (marshaling !== 'asn1' && marshaling !== 'jws') throw new BadRequest(`invalid marshaling type "${marshaling}"`);
  const rsa = fields.signature_algorithm === undefined || fields.signature_algorithm === '' ? 'pss' : fields.signature_algorithm;
  if (rsa !== 'pss' && rsa !== 'pkcs1v15')
    throw new BadRequest(`unsupported rsa signature algorithm ${rsa}: signature_algorithm must be pss or pkcs1v15`);
  return { hash, prehashed: fields.prehashed, rsa, marshaling, salt: saltOf(fields.salt_length) };
}

function saltOf(text: string): Scheme['salt'] {
  const asked = text.toLowerCase();
  if (asked === 'auto' || asked === '0') return 'auto';
  if (asked === 'hash' || asked === '-1') return 'hash';
  if (!/^-?[0-9]{1,9}$/.test(asked)) throw new BadRequest(`salt length neither 'auto', 'hash', nor an int: ${text}`);
  if (Number(asked) < 0) throw new BadRequest(`salt length is invalid: ${asked}`);
  return Number(asked);
}

/** Signs, on another thread where Node can. Resolves with the bytes, and with the public key of a derived key. @throws BadRequest */
export async function signWith(
  key: KeyRecord,
  material: Material,
  scheme: Scheme,
  input: Buffer,
  context: Buffer,
): Promise<{ signature: Buffer; publicKey?: KeyObject }> {
  if (material.isPublicOnly) throw new BadRequest('requested version for signing does not contain a private part');
  const { type } = material;
  if (type.family === 'ed25519') {
    const own = edKey(key, material, context);
    const signature = await signAsync(null, input, own);
    return key.derived ? { signature, publicKey: createPublicKey(own) } : { signature };
  }
  if (type.family === 'ecdsa') return { signature: await signEcdsa(material, scheme, input) };
  const { hash } = scheme;
  if (scheme.rsa === 'pkcs1v15') {
    if (hash && !scheme.prehashed)
      return { signature: await signAsync(hash.node, input, { key: material.privateKey, padding: constants.RSA_PKCS1_PADDING }) };
    checkDigest(scheme, input);
    if (input.length > type.bits / 8 - 11) throw new BadRequest('input is too long for an RSA key');
    return { signature: signDigestPkcs1(material.privateKey, hash, input) };
  }
  if (!hash) throw noHash();
  const length = saltBytes(scheme, type.bits, hash) ?? type.bits / 8 - 2 - hash.size;
  if (!scheme.prehashed) return { signature: await signAsync(hash.node, input, pss(material.privateKey, length)) };
  checkDigest(scheme, input);
  return { signature: signDigestPss(material.privateKey, type.bits, hash, input, length) };
}

/** @throws BadRequest for a scheme that the key does not have; a signature that does not fit is false */
export async function verifyWith(
  key: KeyRecord,
  material: Material,
  scheme: Scheme,
  input: Buffer,
  context: Buffer,
  signature: Buffer,
): Promise<boolean> {
  const { type } = material;
  if (type.family === 'ed25519')
    return verifyAsync(null, input, key.derived ? createPublicKey(edKey(key, material, context)) : material.publicKey, signature);
  if (type.family === 'ecdsa') return verifyEcdsa(material, scheme, input, signature);
  const { hash } = scheme;
  if (scheme.rsa === 'pkcs1v15') {
    if (hash && !scheme.prehashed)
      return verifyAsync(hash.node, input, { key: material.publicKey, padding: constants.RSA_PKCS1_PADDING }, signature);
    checkDigest(scheme, input);
    return verifyDigestPkcs1(material.publicKey, hash, input, signature);
  }
  if (!hash) throw noHash();
  const length = saltBytes(scheme, type.bits, hash);
  if (!scheme.prehashed) return verifyAsync(hash.node, input, pss(material.publicKey, length ?? constants.RSA_PSS_SALTLEN_AUTO), signature);
  checkDigest(scheme, input);
  return verifyDigestPss(material.publicKey, type.bits, hash, input, signature, length);
}

function edKey(key: KeyRecord, material: Material, context: Buffer): KeyObject {
  requireContext(key, context);
  return key.derived ? ed25519Private(material.derived(context, 32)) : material.privateKey;
}

async function signEcdsa(material: Material, scheme: Scheme, input: Buffer): Promise<Buffer> {
  if (scheme.prehashed || !scheme.hash)
    return signDigestEcdsa(material.type, material.privateKey, input, scheme.marshaling === 'jws' ? 'compact' : 'der');
  return signAsync(scheme.hash.node, input, { key: material.privateKey, dsaEncoding: scheme.marshaling === 'jws' ? 'ieee-p1363' : 'der' });
}

async function verifyEcdsa(material: Material, scheme: Scheme, input: Buffer, signature: Buffer): Promise<boolean> {
  if (scheme.prehashed || !scheme.hash)
    return verifyDigestEcdsa(material.type, material.publicKey, input, signature, scheme.marshaling === 'jws' ? 'compact' : 'der');
  const form = { key: material.publicKey, dsaEncoding: scheme.marshaling === 'jws' ? ('ieee-p1363' as const) : ('der' as const) };
  return verifyAsync(scheme.hash.node, input, form, signature);
}

function pss(key: KeyObject, saltLength: number): SignKeyObjectInput {
  return { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
}

/** Undefined for auto. @throws BadRequest */
function saltBytes({ salt }: Scheme, bits: number, hash: Hash): number | undefined {
  if (salt === 'auto') return undefined;
  if (salt === 'hash') return hash.size;
  if (salt > bits / 8 - 2 - hash.size) throw new BadRequest(`requested salt length ${salt} is invalid`);
  return salt;
}

function checkDigest({ hash }: Scheme, input: Buffer): void {
  if (hash && input.length !== hash.size)
    throw new BadRequest(`input is ${input.length} bytes; prehashed input of ${hash.name} has ${hash.size}`);
}

function noHash(): BadRequest {
  return new BadRequest('hash_algorithm=none requires both prehashed=true and signature_algorithm=pkcs1v15');
}

import type { KeyObject } from 'node:crypto';
import type { KeyType } from './key-types.ts';

/** ECDSA over a digest that the caller made, which Node does not offer. Loaded when it is used. */
async function curveOf(type: KeyType) {
  const { p256, p384, p521 } = await import('@noble/curves/nist.js');
  return type.curve === 'P-256' ? p256 : type.curve === 'P-384' ? p384 : p521;
}

/** The signature as two numbers of the curve's length, or in DER. */
export async function signDigestEcdsa(type: KeyType, key: KeyObject, digest: Buffer, format: 'compact' | 'der'): Promise<Buffer> {
  const curve = await curveOf(type);
  const { d } = key.export({ format: 'jwk' }) as { d: string };
  return Buffer.from(curve.sign(digest, Buffer.from(d, 'base64url'), { prehash: false, lowS: false, format }));
}

export async function verifyDigestEcdsa(
  type: KeyType,
  key: KeyObject,
  digest: Buffer,
  signature: Buffer,
  format: 'compact' | 'der',
): Promise<boolean> {
  const curve = await curveOf(type);
  const { x, y } = key.export({ format: 'jwk' }) as { x: string; y: string };
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  try {
    return curve.verify(signature, digest, point, { prehash: false, lowS: false, format });
  } catch {
    return false;
  }
}

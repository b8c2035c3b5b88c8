import { createPublicKey, createSign, createVerify, type KeyObject } from 'node:crypto';

export interface JsonWebToken {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A token signed with RS256. `key` is a PEM or a private key. */
export function signJwt(key: KeyObject | string, claims: Record<string, unknown>, header: Record<string, unknown> = {}): string {
  const signed = `${encode({ alg: 'RS256', typ: 'JWT', ...header })}.${encode(claims)}`;
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key).toString('base64url')}`;
}

/** Reads a token signed with RS256, or says what is wrong with it. Only `exp`, `nbf` and the signature are checked here. */
export function verifyJwt(token: string, key: KeyObject | string, nowSeconds: number): JsonWebToken | { readonly fault: string } {
  const [header, claims, signature, ...rest] = token.split('.');
  if (header === undefined || claims === undefined || signature === undefined || rest.length > 0)
    return { fault: 'not a token of three parts' };
  const read = { header: decode(header), claims: decode(claims) };
  if (read.header === undefined || read.claims === undefined) return { fault: 'not JSON inside' };
  if (read.header['alg'] !== 'RS256') return { fault: 'not signed with RS256' };
  const publicKey = typeof key === 'string' ? createPublicKey(key) : key;
  if (!createVerify('RSA-SHA256').update(`${header}.${claims}`).verify(publicKey, signature, 'base64url'))
    return { fault: 'the signature is wrong' };
  const { exp, nbf } = read.claims;
  if (typeof exp !== 'number' || exp <= nowSeconds) return { fault: 'expired' };
  if (typeof nbf === 'number' && nbf > nowSeconds) return { fault: 'not valid yet' };
  return { header: read.header, claims: read.claims };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

import { verify, type KeyObject } from 'node:crypto';

/** The algorithms that clusters sign with: the hash, the kind of key and, for EC, its curve. */
const ALGORITHMS: ReadonlyMap<string, { readonly hash: string; readonly type: 'rsa' | 'ec'; readonly curve?: string }> = new Map([
  ['RS256', { hash: 'sha256', type: 'rsa' }],
  ['RS384', { hash: 'sha384', type: 'rsa' }],
  ['RS512', { hash: 'sha512', type: 'rsa' }],
  ['ES256', { hash: 'sha256', type: 'ec', curve: 'prime256v1' }],
  ['ES384', { hash: 'sha384', type: 'ec', curve: 'secp384r1' }],
  ['ES512', { hash: 'sha512', type: 'ec', curve: 'secp521r1' }],
] as const);
/** Seconds that clocks may differ. */
const LEEWAY = 60;
const PART = /^[\w-]+$/;
/** Characters. Tokens of clusters have about a thousand. */
const LONGEST = 32_768;

/** A signed token in compact form. Nothing of it is verified. */
export interface WebToken {
  readonly algorithm: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** Undefined: not a token that a cluster issues. */
export function parseWebToken(text: string): WebToken | undefined {
  if (text.length > LONGEST) return undefined;
  const parts = text.split('.');
  if (parts.length !== 3 || !parts.every((part) => PART.test(part))) return undefined;
  const [header, payload, signature] = parts as [string, string, string];
  const algorithm = decode(header)?.['alg'];
  const claims = decode(payload);
  if (typeof algorithm !== 'string' || !ALGORITHMS.has(algorithm) || !claims) return undefined;
  return { algorithm, claims, signed: Buffer.from(`${header}.${payload}`), signature: Buffer.from(signature, 'base64url') };
}

/** Whether one of the keys has signed the token. */
export function isSignedBy({ algorithm, signed, signature }: WebToken, keys: readonly KeyObject[]): boolean {
  const { hash, type, curve } = ALGORITHMS.get(algorithm)!;
  return keys.some(
    (key) =>
      key.asymmetricKeyType === type &&
      (curve === undefined || key.asymmetricKeyDetails?.namedCurve === curve) &&
      verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature),
  );
}

/** What is wrong with the times of a token; undefined if nothing is. Tokens of secrets have none. `now`: seconds. */
export function timeProblem(claims: WebToken['claims'], now: number): string | undefined {
  const { exp, nbf, iat } = claims;
  for (const time of [exp, nbf, iat]) if (time !== undefined && !Number.isFinite(time)) return 'a time of the token is not a number';
  if (exp !== undefined && now > (exp as number) + LEEWAY) return 'invalid expiration time (exp) claim: token is expired';
  if (nbf !== undefined && now < (nbf as number) - LEEWAY) return 'invalid not before (nbf) claim: token not yet valid';
  if (iat !== undefined && now < (iat as number) - LEEWAY) return 'invalid issued at (iat) claim: token issued in the future';
  return undefined;
}

/** The audiences of a token: a list, or one text. */
export function audiencesOf({ aud }: WebToken['claims']): string[] {
  return [aud].flat().filter((one) => typeof one === 'string');
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

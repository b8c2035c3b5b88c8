import type { KeyRing } from '../../kernel/barrier/key-ring.ts';

const NAME = 'batch-token';

/** What a batch token carries; it is stored nowhere. */
export interface BatchTokenClaims {
  path: string;
  policies: string[];
  meta?: Record<string, string>;
  display_name: string;
  entity_id?: string;
  created: number;
  expires: number;
  creation_ttl: number;
  parent?: string;
  bound_cidrs?: string[];
  no_default_policy?: boolean;
  role?: string;
}

/** `b.` and the claims, encrypted with the key ring. */
export function sealBatchToken(ring: KeyRing, claims: BatchTokenClaims): string {
  return `b.${ring.encrypt(NAME, Buffer.from(JSON.stringify(claims))).toString('base64url')}`;
}

/** Undefined for anything that this server did not make. */
export function openBatchToken(ring: KeyRing, token: string): BatchTokenClaims | undefined {
  const text = token.slice(2);
  const sealed = Buffer.from(text, 'base64url');
  // One token has one variant: what it was issued is filed under a digest of it.
  if (sealed.toString('base64url') !== text) return undefined;
  try {
    return JSON.parse(ring.decrypt(NAME, sealed).toString()) as BatchTokenClaims;
  } catch {
    return undefined;
  }
}

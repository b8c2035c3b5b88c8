import type { KeyPair, PublicKey } from './key-pair.ts';
import type { NamedKey } from './oidc-records.ts';

export const DEFAULT_KEY = 'default';

/** What a key is made of that is written without settings. */
export const unwrittenKey: NamedKey = {
  algorithm: 'RS256',
  rotation_period: 86_400,
  verification_ttl: 86_400,
  allowed_client_ids: [],
  retired: [],
  rotated: 0,
  next_rotation: 0,
};

/** The key `default` is there before anybody writes it, and serves every client. */
export function builtInKey(name: string): NamedKey | undefined {
  return name === DEFAULT_KEY ? { ...unwrittenKey, allowed_client_ids: ['*'] } : undefined;
}

/** What signs and what will. */
export interface Signers {
  readonly current: KeyPair;
  readonly next: KeyPair;
}

export function signersOf({ current, next }: NamedKey): Signers | undefined {
  return current && next && { current, next };
}

/** With its first keys. */
export function begun(key: NamedKey, signers: Signers, now: number): NamedKey {
  return { ...key, ...signers, rotated: now, next_rotation: now + key.rotation_period * 1_000 };
}

/**
 * After a rotation: the next key signs, `fresh` is the next one, and the one that signed until now stays published for `verificationTtl` seconds without its
 * private half. By default that is the time for which what it signed may be good.
 */
export function rotated(key: NamedKey, { current, next }: Signers, fresh: KeyPair, now: number, verificationTtl?: number): NamedKey {
  const until = verificationTtl === undefined ? verifiesUntil(key, now) : now + verificationTtl * 1_000;
  const retired = [...key.retired, { public_key: current.public_key, until }];
  return { ...begun(key, { current: next, next: fresh }, now), retired: retired.filter(({ until }) => until > now) };
}

/** Until when what it signs now, or signed under earlier settings, may be good. */
export function verifiesUntil({ verifies_until = 0, verification_ttl }: NamedKey, now: number): number {
  return Math.max(verifies_until, now + verification_ttl * 1_000);
}

/** With other settings. A shorter period counts from the last rotation; nothing is due before now. */
export function rescheduled(key: NamedKey, now: number): NamedKey {
  if (!key.current) return key;
  return { ...key, next_rotation: Math.max(now, key.rotated + key.rotation_period * 1_000) };
}

/** The keys that verify what was signed: the current one, the next one, and the retired ones for their time. */
export function publishedKeys({ current, next, retired }: NamedKey, now: number): PublicKey[] {
  return [
    ...(current ? [current.public_key] : []),
    ...(next ? [next.public_key] : []),
    ...retired.filter(({ until }) => until > now).map(({ public_key }) => public_key),
  ];
}

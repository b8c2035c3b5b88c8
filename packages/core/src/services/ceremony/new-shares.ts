import type { PgpPublicKey } from './pgp-keys.ts';

/** Shares as they are handed out: plain, or each encrypted to the key of its holder. */
export interface NewShares {
  readonly shares: readonly Buffer[];
  /** Of the key that each is encrypted to; undefined for plain shares. */
  readonly fingerprints: readonly string[] | undefined;
}

/** Encrypts each share, as text in hex, to the key in the same place; without keys the shares stay as they are. */
export async function protectShares(shares: readonly Buffer[], keys: readonly PgpPublicKey[]): Promise<NewShares> {
  if (keys.length === 0) return { shares, fingerprints: undefined };
  const encrypted: Buffer[] = [];
  for (const [at, key] of keys.entries()) encrypted.push(Buffer.from(await key.encrypt(Buffer.from(shares[at]!.toString('hex')))));
  return { shares: encrypted, fingerprints: keys.map(({ fingerprint }) => fingerprint) };
}

/** As answers show shares: in hex and in base64. */
export function shownShares(shares: readonly Buffer[]): { keys: string[]; keys_base64: string[] } {
  return { keys: shares.map((share) => share.toString('hex')), keys_base64: shares.map((share) => share.toString('base64')) };
}

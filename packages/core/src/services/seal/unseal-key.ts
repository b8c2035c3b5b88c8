import { combine, split } from 'shamir-secret-sharing';

/** Splits as Vault and OpenBao do: with one share the share is the key itself, otherwise each has one byte more than the key. */
export async function splitKey(key: Uint8Array, shares: number, threshold: number): Promise<Buffer[]> {
  if (shares === 1) return [Buffer.from(key)];
  return (await split(Uint8Array.from(key), shares, threshold)).map((share) => Buffer.from(share));
}

/** @throws when the shares do not belong together; wrong shares of the right form give a wrong key instead. */
export async function combineShares(shares: readonly Uint8Array[]): Promise<Buffer> {
  const [only] = shares;
  if (shares.length === 1 && only) return Buffer.from(only);
  return Buffer.from(await combine(shares.map((share) => Uint8Array.from(share))));
}

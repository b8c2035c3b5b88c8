import { Type, type Static } from 'typebox';
import { Records } from '../../kernel/storage/records.ts';
import type { NewShares } from './new-shares.ts';

/** Encrypted shares that operators asked to keep: in hex, by the fingerprint of the key that each is encrypted to. */
export const ShareBackup = Type.Object({
  nonce: Type.String(),
  keys: Type.Record(Type.String(), Type.Array(Type.String())),
});
export type ShareBackup = Static<typeof ShareBackup>;

/** By what the shares are of: `root` or `recovery`. */
export const BACKUPS = new Records('core/share-backup/', ShareBackup);

/** The backup of shares that are encrypted. `nonce`: of the rekey that made them. */
export function backupOf(nonce: string, { shares, fingerprints = [] }: NewShares): ShareBackup {
  const keys = new Map<string, string[]>();
  for (const [at, fingerprint] of fingerprints.entries()) {
    keys.set(fingerprint, [...(keys.get(fingerprint) ?? []), shares[at]!.toString('hex')]);
  }
  return { nonce, keys: Object.fromEntries(keys) };
}

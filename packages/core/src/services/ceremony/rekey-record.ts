import { Type, type Static } from 'typebox';
import { Records } from '../../kernel/storage/records.ts';
import { ShareBackup } from './share-backup.ts';

const Given = Type.Array(Type.String());

/** A rekey under way. It is in the store, so every server of it goes on with the same one, and a restart ends none. */
export const RekeyRecord = Type.Object({
  nonce: Type.String(),
  /** The type of the seal that it was begun under: another one ends it. */
  seal: Type.String(),
  shares: Type.Integer(),
  threshold: Type.Integer(),
  /** Base64 or armored, as they were sent; one for each share, or none. */
  pgp_keys: Type.Array(Type.String()),
  fingerprints: Type.Array(Type.String()),
  backup: Type.Boolean(),
  verification: Type.Boolean(),
  /** Milliseconds. The keys were found fit then, and are used as of then. */
  begun: Type.Number(),
  /** When a share was given last, or it was begun; milliseconds. */
  touched: Type.Number(),
  given: Given,
  /** The new shares are made, and count when enough of them were given once. */
  pending: Type.Optional(
    Type.Object({
      nonce: Type.String(),
      /** Base64 of what only the new key opens. */
      proof: Type.String(),
      given: Given,
      /** The backup that the one of these shares took the place of: it comes back if they are dropped. */
      replaced: Type.Optional(ShareBackup),
    }),
  ),
});
export type RekeyRecord = Static<typeof RekeyRecord>;

/** By what is rekeyed: `root` or `recovery`. */
export const REKEYS = new Records('core/rekey/', RekeyRecord);

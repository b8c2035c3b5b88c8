import { Type, type Static } from 'typebox';
import { shownShares } from '../../services/ceremony/new-shares.ts';
import type { Rekeyed, Rekeying } from '../../services/ceremony/rekeying.ts';
import type { RekeyPurpose } from '../../services/ceremony/purpose.ts';
import type { RekeyRecord } from '../../services/ceremony/rekey-record.ts';

const Fingerprints = Type.Array(Type.String(), { description: 'Of the keys of the new holders, in the order of their shares.' });
const secrets = Type.Array(Type.String(), { secret: true });

/** Of a rekey; beyond the first four, of one that is under way. */
export const RekeyStatus = Type.Object({
  started: Type.Boolean(),
  t: Type.Integer({ description: 'How many of the new shares will be needed.' }),
  n: Type.Integer({ description: 'How many new shares there will be.' }),
  required: Type.Integer({ description: 'How many present shares are needed.' }),
  nonce: Type.Optional(Type.String()),
  progress: Type.Optional(Type.Integer({ description: 'How many shares were given.' })),
  verification_required: Type.Optional(Type.Boolean()),
  verification_nonce: Type.Optional(Type.String({ description: 'Empty until the new shares are made.' })),
  backup: Type.Optional(Type.Boolean()),
  pgp_fingerprints: Type.Optional(Fingerprints),
});

/** The answer to the last present share. */
export const MadeShares = Type.Object({
  complete: Type.Boolean(),
  nonce: Type.String(),
  keys: secrets,
  keys_base64: secrets,
  pgp_fingerprints: Type.Union([Fingerprints, Type.Null()]),
  backup: Type.Boolean(),
  verification_required: Type.Boolean(),
  verification_nonce: Type.String(),
});

/** Of new shares that have to be given once before they count. */
export const Verification = Type.Object({
  nonce: Type.String(),
  started: Type.Boolean(),
  t: Type.Integer(),
  n: Type.Integer(),
  progress: Type.Integer(),
});
export const Verified = Type.Object({ nonce: Type.String(), complete: Type.Boolean() });

/** What was asked for is done, or waits for more shares. */
export async function statusOf(rekeying: Rekeying, purpose: RekeyPurpose, known?: RekeyRecord): Promise<Static<typeof RekeyStatus>> {
  const rekey = known ?? (await rekeying.current(purpose));
  const required = await rekeying.required();
  if (!rekey) return { started: false, t: 0, n: 0, required };
  return {
    started: true,
    t: rekey.threshold,
    n: rekey.shares,
    required,
    nonce: rekey.nonce,
    progress: rekey.given.length,
    verification_required: rekey.verification,
    verification_nonce: rekey.pending?.nonce ?? '',
    ...(rekey.fingerprints.length > 0 ? { backup: rekey.backup, pgp_fingerprints: rekey.fingerprints } : {}),
  };
}

export function madeOf({ rekey, made, verificationNonce }: Rekeyed): Static<typeof MadeShares> {
  return {
    complete: true,
    nonce: rekey.nonce,
    ...shownShares(made.shares),
    pgp_fingerprints: made.fingerprints ? [...made.fingerprints] : null,
    backup: rekey.backup,
    verification_required: rekey.verification,
    verification_nonce: verificationNonce ?? '',
  };
}

export function verificationOf({ threshold, shares, pending }: RekeyRecord): Static<typeof Verification> {
  return { nonce: pending!.nonce, started: true, t: threshold, n: shares, progress: pending!.given.length };
}

/** `complete`: the new shares count now. */
export function verifiedOf({
  rekey,
  complete,
}: {
  rekey: RekeyRecord;
  complete: boolean;
}): Static<typeof Verification> | Static<typeof Verified> {
  return complete ? { nonce: rekey.pending!.nonce, complete: true } : verificationOf(rekey);
}

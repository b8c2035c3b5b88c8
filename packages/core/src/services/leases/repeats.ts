import { Type, type Static } from 'typebox';
import { Records } from '../../kernel/storage/records.ts';
import type { StoreTransaction } from '../../kernel/storage/store.ts';

/** What was answered to a call with an idempotency key: `repeat/<digest>`, for as long as the lease lives. Encrypted like all records. */
export const RepeatRecord = Type.Object({
  /** Id of the lease. */
  lease: Type.String(),
  /** Digest of the parameters of the call. */
  parameters: Type.String(),
  data: Type.Unknown(),
  warnings: Type.Union([Type.Array(Type.String()), Type.Null()]),
});
export type RepeatRecord = Static<typeof RepeatRecord>;

export const repeatRecords = new Records('repeat/', RepeatRecord);

/** An answer to repeat. */
export type RepeatedAnswer = Pick<RepeatRecord, 'data'> & { readonly warnings: readonly string[] | null };

/** A call that asked to be answered once. */
export interface RepeatOrder {
  /** Of caller, path and key. */
  readonly digest: string;
  readonly parameters: string;
}

/** Stores the answer, unless another call with the same key was faster; false then. */
export async function holdRepeat(
  tx: StoreTransaction,
  { digest, parameters }: RepeatOrder,
  answer: RepeatedAnswer & Pick<RepeatRecord, 'lease'>,
  lives: (lease: string) => Promise<boolean>,
): Promise<boolean> {
  const held = await repeatRecords.get(tx, digest);
  if (held && (await lives(held.lease))) return false;
  repeatRecords.put(tx, digest, { ...answer, warnings: answer.warnings && [...answer.warnings], parameters });
  return true;
}

/** The lease ends: its answer goes with it, unless the key has been used for a new one since. */
export async function forgetRepeat(tx: StoreTransaction, digest: string, lease: string): Promise<void> {
  const held = await repeatRecords.get(tx, digest);
  if (held?.lease === lease) repeatRecords.delete(tx, digest);
}

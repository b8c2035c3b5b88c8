import type { StoreTransaction } from '../../kernel/storage/store.ts';
import type { LeaseRecord } from './lease-record.ts';

/** What was answered to a call with an idempotency key: `repeat/<digest>`, for as long as the lease lives. Encrypted like all records. */
export interface RepeatRecord {
  /** Id of the lease. */
  readonly lease: string;
  /** Digest of the parameters of the call. */
  readonly parameters: string;
  readonly data: unknown;
  readonly warnings: readonly string[] | null;
}

/** A call that asked to be answered once. */
export interface RepeatOrder {
  /** Of caller, path and key. */
  readonly digest: string;
  readonly parameters: string;
}

export const REPEATS = 'repeat/';

/** Whether a lease can still be handed out. */
export function isLive(lease: LeaseRecord | '' | undefined, now: number): lease is LeaseRecord {
  return lease !== undefined && lease !== '' && lease.revoking !== true && lease.expires > now;
}

/** Stores the answer, unless another call with the same key was faster; false then. */
export async function holdRepeat(
  tx: StoreTransaction,
  { digest, parameters }: RepeatOrder,
  answer: Pick<RepeatRecord, 'lease' | 'data' | 'warnings'>,
  lives: (lease: string) => Promise<boolean>,
): Promise<boolean> {
  const held = await tx.get<RepeatRecord>(REPEATS + digest);
  if (held && (await lives(held.lease))) return false;
  tx.put(REPEATS + digest, { ...answer, parameters } satisfies RepeatRecord);
  return true;
}

/** The lease ends: its answer goes with it, unless the key has been used for a new one since. */
export async function forgetRepeat(tx: StoreTransaction, digest: string, lease: string): Promise<void> {
  const held = await tx.get<RepeatRecord>(REPEATS + digest);
  if (held?.lease === lease) tx.delete(REPEATS + digest);
}

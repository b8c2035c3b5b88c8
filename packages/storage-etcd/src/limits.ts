import { StorageFailure, type StorageLog } from '@strongroom/storage-sdk';
import { isTooLarge, isTooManyOps, NAME } from './failure.ts';
import type { Layout } from './layout.ts';
import type { Session } from './session.ts';
import { get, isAt, put, type Op } from './wire.ts';

/** What etcd allows unless its flags say otherwise. */
const SHIPPED_OPS = 128;
/** With so many, everything that a server writes in one change fits. */
const ENOUGH_OPS = 10_000;
/** What a server writes in one change has rarely more. */
const NEEDED_OPS = 1_024;
const PROBE_BYTES = 2 * 2 ** 20;
const PROBE_MS = 5_000;
const REMEDY = '--max-txn-ops=10000 --max-request-bytes=33554432';

/** What etcd is known to take. */
export interface Limits {
  /** Operations of a transaction. */
  readonly ops: number;
  /** Whether requests may be larger than 2 MiB. */
  readonly large: boolean;
}

/**
 * Finds out with harmless transactions what etcd takes: reads of nothing, and a large write that depends on a key which is not there.
 * @throws StorageFailure where that is too little, unless it is allowed
 */
export async function learnLimits(session: Session, layout: Layout, allowSmall: boolean, log: StorageLog): Promise<Limits> {
  const nothing = layout.marker('0');
  const takes = async (operations: readonly Op[], isTooMuch: (error: unknown) => boolean): Promise<boolean> => {
    const request = { compare: [isAt(nothing, 1)], success: operations };
    try {
      await session.once(request, PROBE_MS);
      return true;
    } catch (error) {
      if (isTooMuch(error)) return false;
      throw error;
    }
  };
  const reads = (count: number): Op[] => Array.from({ length: count }, () => get(nothing));
  const large = await takes([put(nothing, Buffer.alloc(PROBE_BYTES))], isTooLarge);
  let ops = ENOUGH_OPS;
  if (!(await takes(reads(ENOUGH_OPS), isTooManyOps))) {
    ops = SHIPPED_OPS;
    for (let step = 4_096; step >= 64; step /= 2) if (await takes(reads(ops + step), isTooManyOps)) ops += step;
  }
  if (large && ops >= NEEDED_OPS) return { ops, large };
  const small = `etcd takes ${large ? 'large requests' : 'no requests of 2 MiB'} and ${ops} operations in a transaction`;
  if (!allowSmall) throw new StorageFailure(NAME, `${small}, which is too little: start its members with ${REMEDY}`);
  log.warn(`${small}: larger changes are refused`, { remedy: `start its members with ${REMEDY}` });
  return { ops, large };
}

import type { EnginePackage } from '@strongroom/engine-sdk';
import { userpass } from '../src/userpass-auth.ts';
import type { HashingLimits } from '../src/hashing-bulkhead.ts';
import type { ScryptCost } from '../src/scrypt.ts';

export const CHEAP: ScryptCost = { log_n: 4, r: 1, p: 1 };

/** The method with passwords that cost little to hash. */
export function cheap(limits?: HashingLimits): EnginePackage {
  return userpass({ house: CHEAP, ...(limits ? { limits } : {}) });
}

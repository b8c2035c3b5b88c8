import type { HclBody } from '@strongroom/hcl';
import { listed } from '@strongroom/engine-sdk';

/**
 * The complaint about keys that a block does not know, in Vault's and OpenBao's words; undefined without any. The line is that of the
 * assignment, so 0 for blocks and for JSON.
 */
export function keyFaults(body: HclBody, known: readonly string[], prefix = ''): string | undefined {
  const faults = body
    .filter((item) => !known.includes(item.key))
    .map((item) => `${prefix}invalid key ${JSON.stringify(item.key)} on line ${item.assigned ? item.line : 0}`);
  return faults.length === 0 ? undefined : listed(...faults);
}

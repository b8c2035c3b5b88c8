import type { HclBody, HclItem } from '@strongroom/hcl';

/** The keys that a block does not know. */
export function unknownKeys(body: HclBody, known: readonly string[]): HclItem[] {
  return body.filter((item) => !known.includes(item.key));
}

/** The complaint about one, in Vault's and OpenBao's words: the line is that of the assignment, so 0 for blocks and for JSON. */
export function keyFault({ key, assigned, line }: HclItem): string {
  return `invalid key ${JSON.stringify(key)} on line ${assigned ? line : 0}`;
}

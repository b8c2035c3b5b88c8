import { formatMark, OWNER_TAG, type OwnershipMark, parseMark, SYNCED_TAG } from '@strongroom/sync-sdk';

const OWNER = new RegExp(`(?:^|\\s)${OWNER_TAG}=(\\S+)`);

/** Vercel has no tags: a variable's comment says whose it is, to people and to us. */
export function ownerComment(mark: OwnershipMark): string {
  return `Synced by Strongroom; edits are overwritten. ${SYNCED_TAG} ${OWNER_TAG}=${formatMark(mark)}`;
}

/** Undefined for comments of others. */
export function parseOwnerComment(comment: string | undefined): OwnershipMark | undefined {
  return parseMark(OWNER.exec(comment ?? '')?.[1]);
}

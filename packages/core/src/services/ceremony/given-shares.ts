import { BadRequest } from '@strongroom/engine-sdk';
import type { Purpose } from './purpose.ts';

/** Shares given so far, as records keep them: in hex. There are always fewer than it takes, so no record ever holds a whole key. */
export type GivenShares = string[];

/** The given shares with one more. @throws BadRequest for a share that is too short, or there already */
export function withShare(given: GivenShares, share: Buffer, { during }: Purpose): GivenShares {
  requireShare(share);
  const hex = share.toString('hex');
  if (given.includes(hex)) throw new BadRequest(`given key has already been provided during this ${during}`);
  return [...given, hex];
}

/** @throws BadRequest for what is too short or too long to be a share */
export function requireShare(share: Buffer): void {
  if (share.length < 16) throw new BadRequest('key is shorter than minimum 16 bytes');
  if (share.length > 33) throw new BadRequest('key is longer than maximum 33 bytes');
}

export function buffersOf(given: GivenShares): Buffer[] {
  return given.map((share) => Buffer.from(share, 'hex'));
}

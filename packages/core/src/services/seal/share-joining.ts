import { BadRequest } from '@strongroom/engine-sdk';
import { combineShares } from './unseal-key.ts';

/** The key of these shares. @throws BadRequest when they do not belong together */
export async function joinedShares(shares: readonly Buffer[]): Promise<Buffer> {
  try {
    if (shares.some(({ length }) => length !== shares[0]?.length)) throw new Error('all parts must be the same length');
    return await combineShares(shares);
  } catch (error) {
    throw new BadRequest(`invalid key: failed to compute combined key: ${(error as Error).message}`);
  }
}

/** A share as operators send it: hex or base64. Hex of another length than a share has may be base64. @throws BadRequest */
export function parseShare(text: string, field = "'key'"): Buffer {
  if (/^(?:[0-9a-fA-F]{2}){16,33}$/.test(text)) return Buffer.from(text, 'hex');
  const decoded = Buffer.from(text, 'base64');
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 && decoded.length > 0) return decoded;
  throw new BadRequest(`${field} must be a valid hex or base64 string`);
}

import { BadRequest } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { BcryptThread } from './bcrypt-thread.ts';

/** A hash from another system. `text` is what that system stored, such as `$2y$10$…`. */
export const BcryptHash = Type.Object({ kind: Type.Literal('bcrypt'), text: Type.String() });
export type BcryptHash = Static<typeof BcryptHash>;

const LOWEST_COST = 5;
const HIGHEST_COST = 12;
/** bcrypt ignores what comes after. */
const MOST_BYTES = 72;

/** @throws BadRequest for what is not a bcrypt hash, or one that is too cheap or too costly to check */
export function readBcrypt(text: string): BcryptHash {
  if (!/^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/.test(text)) throw new BadRequest('password_hash is not a valid bcrypt hash');
  const cost = bcryptCost({ text });
  if (cost < LOWEST_COST) throw new BadRequest(`bcrypt cost of ${cost} is too low, want ${LOWEST_COST} at minimum`);
  if (cost > HIGHEST_COST) throw new BadRequest(`bcrypt cost of ${cost} exceeds maximum cost of ${HIGHEST_COST}`);
  return { kind: 'bcrypt', text };
}

export function bcryptCost({ text }: Pick<BcryptHash, 'text'>): number {
  return Number(text.slice(4, 6));
}

/** A password that bcrypt would shorten, or confuse with a shorter one, never matches. The work is the same. */
export async function matchesBcrypt(hash: BcryptHash, password: string, thread: BcryptThread): Promise<boolean> {
  const matches = await thread.compare(password, hash.text);
  return matches && Buffer.byteLength(password) <= MOST_BYTES && !password.includes('\0');
}

/** What no password matches, and checking costs as much as any other. */
export function bcryptDecoy(cost: number): BcryptHash {
  return { kind: 'bcrypt', text: `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}` };
}

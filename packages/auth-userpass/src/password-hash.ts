import { Type, type Static } from 'typebox';
import { bcryptCost, bcryptDecoy, BcryptHash } from './bcrypt.ts';
import { scryptDecoy, ScryptHash, type ScryptCost } from './scrypt.ts';

/** A password, as it is stored. */
export const PasswordHash = Type.Union([ScryptHash, BcryptHash]);
export type PasswordHash = Static<typeof PasswordHash>;

/** Hashes of one kind cost the same work to check: `scrypt-15-8-3`, `bcrypt-10`. */
export function kindOf(hash: PasswordHash | ScryptCost): string {
  return 'text' in hash ? `bcrypt-${bcryptCost(hash)}` : `scrypt-${hash.log_n}-${hash.r}-${hash.p}`;
}

/** A hash of the kind that no password matches. */
export function decoyOf(kind: string): PasswordHash {
  const [algorithm, ...numbers] = kind.split('-');
  const [first = 0, r = 0, p = 0] = numbers.map(Number);
  return algorithm === 'bcrypt' ? bcryptDecoy(first) : scryptDecoy({ log_n: first, r, p });
}

/** Whether a hash should give way to one at the house's cost: it is not ours, or cheaper to guess. */
export function isWeaker(hash: PasswordHash, house: ScryptCost): boolean {
  return hash.kind === 'bcrypt' || workOf(hash) < workOf(house);
}

function workOf({ log_n, r, p }: ScryptCost): number {
  return 2 ** log_n * r * p;
}

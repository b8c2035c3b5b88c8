import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Type, type Static } from 'typebox';

/** What one hash costs: 2^log_n blocks of 128·r bytes, p times over. */
export interface ScryptCost {
  readonly log_n: number;
  readonly r: number;
  readonly p: number;
}

/** A hash with the cost it was made at. Texts are base64. */
export const ScryptHash = Type.Object({
  kind: Type.Literal('scrypt'),
  log_n: Type.Number(),
  r: Type.Number(),
  p: Type.Number(),
  salt: Type.String(),
  key: Type.String(),
});
export type ScryptHash = Static<typeof ScryptHash>;

/** Of new hashes: 32 MiB, and about a quarter of a second on a small machine. It is one of the settings that OWASP recommends. */
export const HOUSE_COST: ScryptCost = { log_n: 15, r: 8, p: 3 };

const SALT_BYTES = 16;
const KEY_BYTES = 32;
const derive = promisify<string, Uint8Array, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);

export async function hashByScrypt(password: string, cost: ScryptCost): Promise<ScryptHash> {
  const salt = randomBytes(SALT_BYTES);
  const key = await keyOf(password, salt, cost);
  const { log_n, r, p } = cost;
  return { kind: 'scrypt', log_n, r, p, salt: salt.toString('base64'), key: key.toString('base64') };
}

export async function matchesScrypt(hash: ScryptHash, password: string): Promise<boolean> {
  const key = Buffer.from(hash.key, 'base64');
  const found = await keyOf(password, Buffer.from(hash.salt, 'base64'), hash);
  return key.length === found.length && timingSafeEqual(key, found);
}

/** What no password matches, and checking costs as much as any other. */
export function scryptDecoy({ log_n, r, p }: ScryptCost): ScryptHash {
  return {
    kind: 'scrypt',
    log_n,
    r,
    p,
    salt: Buffer.alloc(SALT_BYTES).toString('base64'),
    key: Buffer.alloc(KEY_BYTES).toString('base64'),
  };
}

async function keyOf(password: string, salt: Uint8Array, { log_n, r, p }: ScryptCost): Promise<Buffer> {
  const N = 2 ** log_n;
  return derive(password, salt, KEY_BYTES, { N, r, p, maxmem: 256 * r * (N + p) });
}

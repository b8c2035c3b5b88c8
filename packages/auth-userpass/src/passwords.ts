import { BadRequest } from '@strongroom/engine-sdk';
import { matchesBcrypt, readBcrypt } from './bcrypt.ts';
import type { BcryptThread } from './bcrypt-thread.ts';
import type { HashingQueue } from './hashing-bulkhead.ts';
import { decoyOf, isWeaker, kindOf, type PasswordHash } from './password-hash.ts';
import { hashByScrypt, matchesScrypt, type ScryptCost } from './scrypt.ts';

const MOST_BYTES = 65_536;

/** The result of a check. */
export interface Checked {
  readonly matches: boolean;
  /** The same password, hashed at the house's cost, where the stored hash is weaker. */
  readonly stronger?: PasswordHash;
}

/** Hashes passwords, and checks them with the same work whoever they are said to belong to. */
export class Passwords {
  readonly #house: ScryptCost;
  readonly #queue: HashingQueue;
  readonly #thread: BcryptThread;
  readonly #kinds: () => Promise<readonly string[]>;

  /** `kinds`: of the hashes that the mount stores. */
  constructor(parts: { house: ScryptCost; queue: HashingQueue; thread: BcryptThread; kinds: () => Promise<readonly string[]> }) {
    this.#house = parts.house;
    this.#queue = parts.queue;
    this.#thread = parts.thread;
    this.#kinds = parts.kinds;
  }

  /**
   * What a write sends: a password, or a hash of another system. Undefined for neither.
   * @throws BadRequest naming the parameter, TooManyRequests
   */
  async fromWrite(
    sent: { password?: string | undefined; password_hash?: string | undefined },
    signal: AbortSignal,
  ): Promise<PasswordHash | undefined> {
    const { password = '', password_hash = '' } = sent;
    if (password !== '' && password_hash !== '') throw new BadRequest('only one of password or password_hash may be provided');
    if (password_hash !== '') return readBcrypt(password_hash);
    if (password !== '') return this.#hash(requireShort(password), signal);
    if (sent.password !== undefined || sent.password_hash !== undefined) throw passwordMissing();
    return undefined;
  }

  /**
   * Checks a password against a user's hash, or against none. Every check of a mount does the same work: one comparison for each kind of hash that the mount
   * stores, so that the time does not tell whether there is such a user, or where the hash comes from.
   * @throws BadRequest for a password that is too long, TooManyRequests
   */
  async check(stored: PasswordHash | undefined, password: string, signal: AbortSignal): Promise<Checked> {
    requireShort(password);
    const own = stored && kindOf(stored);
    const kinds = new Set([...(await this.#kinds()), kindOf(this.#house), ...(own === undefined ? [] : [own])]);
    return this.#queue.run(signal, async () => {
      let matches = false;
      for (const kind of [...kinds].sort()) {
        const found = await this.#compare(kind === own ? stored! : decoyOf(kind), password);
        if (kind === own) matches = found;
      }
      if (!matches || !isWeaker(stored!, this.#house)) return { matches };
      return { matches, stronger: await hashByScrypt(password, this.#house) };
    });
  }

  async #hash(password: string, signal: AbortSignal): Promise<PasswordHash> {
    return this.#queue.run(signal, async () => hashByScrypt(password, this.#house));
  }

  async #compare(hash: PasswordHash, password: string): Promise<boolean> {
    return hash.kind === 'bcrypt' ? matchesBcrypt(hash, password, this.#thread) : matchesScrypt(hash, password);
  }
}

export function passwordMissing(): BadRequest {
  return new BadRequest('must provide either password or password_hash');
}

function requireShort(password: string): string {
  if (Buffer.byteLength(password) > MOST_BYTES) throw new BadRequest(`password is longer than ${MOST_BYTES} bytes`);
  return password;
}

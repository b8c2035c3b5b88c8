import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { Type } from 'typebox';
import type { EngineHost } from './engine.ts';

/** Random characters, and as many of the mark, that 12 or more characters hold. */
const HALF = 6;
/** The same of 10 or 11 characters. */
const SHORT_HALF = 5;

const CHARACTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const KEY_BYTES = 32;
const KEY_ID = 'key';
const MarkKey = Type.Object({ key: Type.String({ description: 'Hexadecimal.' }) });

/** Where a mount keeps the key of its mark, and how short a run of random characters may carry one. */
export interface NameMarkOptions {
  /** Prefix of the record with the key, such as `user-mark/`. */
  readonly records: string;
  /** How many random characters carry a mark: from 12 on, or from 10 on. */
  readonly shortest: 10 | 12;
}

/**
 * The mark of a mount in the names that it makes outside: of the random characters of a name, the second half (six at most) is an HMAC of the first, with a
 * key that only this mount has. So what is ours is known by its name alone, also where the store was restored from a backup that does not have it. Capitals do
 * not count where a template may have changed them. A short mark counts only where punctuation or the ends of the name enclose its characters, and to the
 * letter.
 */
export class NameMark {
  readonly #host: Pick<EngineHost, 'storage' | 'randomBytes'>;
  readonly #options: NameMarkOptions;
  #key: KeyObject | undefined;

  constructor(host: Pick<EngineHost, 'storage' | 'randomBytes'>, options: NameMarkOptions) {
    this.#host = host;
    this.#options = options;
  }

  /** Reads the key, and makes it where there is none. Called before any name is made. */
  async load(): Promise<void> {
    const { key } = await this.#host.storage.transaction(async (tx) => {
      const keys = tx.collection(this.#options.records, MarkKey);
      const stored = await keys.get(KEY_ID);
      if (stored) return stored;
      const made = { key: Buffer.from(this.#host.randomBytes(KEY_BYTES)).toString('hex') };
      await keys.put(KEY_ID, made);
      return made;
    });
    this.#key = createSecretKey(key, 'hex');
  }

  /** Random characters with the mark in them, or as they are where they are too few. */
  put(random: string): string {
    if (random.length < this.#options.shortest) return random;
    const half = random.length < 2 * HALF ? SHORT_HALF : HALF;
    const first = random.slice(0, half);
    return first + this.#of(first, half) + random.slice(2 * half);
  }

  /** Whether the name carries the mark, wherever in it. */
  isOn(name: string): boolean {
    return (name.match(/[A-Za-z0-9]+/g) ?? []).some((run) => this.#isShort(run) || this.#isIn(run));
  }

  #isShort(run: string): boolean {
    if (this.#options.shortest >= 2 * HALF) return false;
    if (run.length !== 2 * SHORT_HALF && run.length !== 2 * SHORT_HALF + 1) return false;
    return same(run.slice(SHORT_HALF, 2 * SHORT_HALF), this.#of(run.slice(0, SHORT_HALF), SHORT_HALF));
  }

  /** Anywhere in the run. Twelve characters in which both cases occur were not changed by the template, and have to be the mark to the letter. */
  #isIn(run: string): boolean {
    for (let at = 0; at + 2 * HALF <= run.length; at += 1) {
      const part = run.slice(at, at + 2 * HALF);
      const mark = this.#of(part.slice(0, HALF), HALF);
      const found = part.slice(HALF);
      const changed = part === part.toLowerCase() || part === part.toUpperCase();
      if (changed ? same(found.toLowerCase(), mark.toLowerCase()) : same(found, mark)) return true;
    }
    return false;
  }

  #of(random: string, length: number): string {
    if (!this.#key) throw new Error('the key of the mark is not loaded');
    const bytes = createHmac('sha256', this.#key).update(random.toLowerCase()).digest().subarray(0, length);
    return [...bytes].map((byte) => CHARACTERS.charAt(byte % CHARACTERS.length)).join('');
  }
}

function same(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { EngineHost } from '@strongroom/engine-sdk';
import { randomFunction, type TemplateFunction } from '@strongroom/go-template';
import { Type } from 'typebox';

/** Random characters, and as many of the mark, that 12 or more characters of `random` hold. */
const HALF = 6;
/** The same of 10 or 11 characters, such as those of the default `username_template`. */
const SHORT_HALF = 5;
/** What `random` must give for a name to carry the mark. */
export const MARKED_LENGTH = 2 * SHORT_HALF;

const CHARACTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const KEY_BYTES = 32;
const KEY_ID = 'key';
const MarkKey = Type.Object({ key: Type.String({ description: 'Hexadecimal.' }) });

/**
 * The mark of a mount in the names of the accounts that it makes: of ten or more characters that `random` gives in a `username_template`, the second half (six
 * at most) is an HMAC of the first, with a key that only this mount has. So an account of ours is known by its name alone, also where the store was restored
 * from a backup that does not have it. A short mark counts only where punctuation or the ends of the name enclose its characters, and to the letter.
 */
export class NameMark {
  readonly #host: EngineHost;
  #key: Buffer | undefined;

  constructor(host: EngineHost) {
    this.#host = host;
  }

  /** Reads the key, and makes it where there is none. Called before any name is made. */
  async load(): Promise<void> {
    const { key } = await this.#host.storage.transaction(async (tx) => {
      const keys = tx.collection('name-mark/', MarkKey);
      const stored = await keys.get(KEY_ID);
      if (stored) return stored;
      const made = { key: Buffer.from(this.#host.randomBytes(KEY_BYTES)).toString('hex') };
      await keys.put(KEY_ID, made);
      return made;
    });
    this.#key = Buffer.from(key, 'hex');
  }

  /** `random` of username templates: as usual, but marked where the text is long enough. */
  get random(): TemplateFunction {
    return { ...randomFunction, call: (args, call) => this.#marked(randomFunction.call(args, call) as string) };
  }

  /** Whether the name carries the mark. */
  isOn(name: string): boolean {
    return (name.match(/[A-Za-z0-9]+/g) ?? []).some((run) => this.#isShort(run) || this.#isIn(run));
  }

  #marked(text: string): string {
    if (text.length < MARKED_LENGTH) return text;
    const half = text.length < 2 * HALF ? SHORT_HALF : HALF;
    const random = text.slice(0, half);
    return random + this.#of(random, half) + text.slice(2 * half);
  }

  #isShort(run: string): boolean {
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

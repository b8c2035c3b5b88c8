import { createHmac } from 'node:crypto';
import { randomFunction, type TemplateFunction } from '@strongroom/go-template';
import type { EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';

/** The number of random characters, and of the characters that the mark makes of them. */
const HALF = 6;
/** What `random` must give for a name to carry the mark. */
export const MARKED_LENGTH = 2 * HALF;

const CHARACTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const KEY_BYTES = 32;
const KEY_ID = 'key';
const MarkKey = Type.Object({ key: Type.String({ description: 'Hexadecimal.' }) });

/**
 * The mark of a mount in the names of its users: of twelve characters or more that `random` gives in a `username_template`, the second six are an HMAC of
 * the first six, with a key that only this mount has. So a user of ours is known by its name alone, also where the store was restored from a backup that
 * does not have the user. Capitals do not count, since templates may change them.
 */
export class UserMark {
  readonly #host: EngineHost;
  #key: Buffer | undefined;

  constructor(host: EngineHost) {
    this.#host = host;
  }

  /** Reads the key, and makes it where there is none. Called before any name is made. */
  async load(): Promise<void> {
    const { key } = await this.#host.storage.transaction(async (tx) => {
      const keys = tx.collection('user-mark/', MarkKey);
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

  /** Whether the name carries the mark, wherever in it. */
  isOn(name: string): boolean {
    for (let at = 0; at + MARKED_LENGTH <= name.length; at += 1) {
      const run = name.slice(at, at + MARKED_LENGTH);
      if (/^[A-Za-z0-9]+$/.test(run) && this.#fits(run)) return true;
    }
    return false;
  }

  #marked(text: string): string {
    if (text.length < MARKED_LENGTH) return text;
    const random = text.slice(0, HALF);
    return random + this.#of(random) + text.slice(MARKED_LENGTH);
  }

  /** A run in which both cases occur was not changed by the template, and has to be the mark to the letter. */
  #fits(run: string): boolean {
    const mark = this.#of(run.slice(0, HALF));
    const found = run.slice(HALF);
    const changed = run === run.toLowerCase() || run === run.toUpperCase();
    return changed ? found.toLowerCase() === mark.toLowerCase() : found === mark;
  }

  #of(random: string): string {
    if (!this.#key) throw new Error('the key of the mark is not loaded');
    const bytes = createHmac('sha256', this.#key).update(random.toLowerCase()).digest().subarray(0, HALF);
    return [...bytes].map((byte) => CHARACTERS.charAt(byte % CHARACTERS.length)).join('');
  }
}

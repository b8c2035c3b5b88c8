import { createHmac, timingSafeEqual } from 'node:crypto';
import { NameMark, type EngineHost } from '@strongroom/engine-sdk';
import { randomFunction, type TemplateFunction } from '@strongroom/go-template';
import { Type } from 'typebox';

/** How many characters `random` must give for a name to carry the mark. */
export const MARKED_LENGTH = 10;

const UUID = /([\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3})-([\da-f]{12})/g;
const KEY_ID = 'uuid';
const MarkKey = Type.Object({ key: Type.String({ description: 'Hexadecimal.' }) });

/**
 * The mark of a mount in the names of its users. In what `random` gives it is that of all engines; of a UUID it is the last group, an HMAC of the others
 * with a key that only this mount has: 74 random bits are left.
 */
export class UserMark extends NameMark {
  readonly #host: EngineHost;
  #key: Buffer | undefined;

  constructor(host: EngineHost) {
    super(host, { records: 'name-mark/', shortest: MARKED_LENGTH });
    this.#host = host;
  }

  override async load(): Promise<void> {
    await super.load();
    const { key } = await this.#host.storage.transaction(async (tx) => {
      const keys = tx.collection('uuid-mark/', MarkKey);
      const stored = await keys.get(KEY_ID);
      if (stored) return stored;
      const made = { key: Buffer.from(this.#host.randomBytes(32)).toString('hex') };
      await keys.put(KEY_ID, made);
      return made;
    });
    this.#key = Buffer.from(key, 'hex');
  }

  /** `random` of username templates: as usual, but marked where the text is long enough. */
  get random(): TemplateFunction {
    return { ...randomFunction, call: (args, call) => this.put(randomFunction.call(args, call) as string) };
  }

  /** A UUID (version 4) with the mark in it. */
  uuid(): string {
    const hex = Buffer.from(this.#host.randomBytes(10)).toString('hex');
    const variant = '89ab'.charAt(Number.parseInt(hex.charAt(15), 16) & 3);
    const first = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-${variant}${hex.slice(16, 19)}`;
    return `${first}-${this.#last(first)}`;
  }

  override isOn(name: string): boolean {
    const isUuid = [...name.matchAll(UUID)].some(([, first, last]) => timingSafeEqual(Buffer.from(this.#last(first!)), Buffer.from(last!)));
    return isUuid || super.isOn(name);
  }

  #last(first: string): string {
    if (!this.#key) throw new Error('the key of the mark is not loaded');
    return createHmac('sha256', this.#key).update(first).digest('hex').slice(0, 12);
  }
}

import { BadRequest, type Clock } from '@strongroom/engine-sdk';

/** A public key of an operator that can be encrypted to. */
export interface PgpPublicKey {
  /** Of the primary key, in hex. */
  readonly fingerprint: string;
  encrypt(plain: Uint8Array): Promise<Uint8Array>;
}

/** What `@strongroom/pgp` offers. */
export interface OpenPgp {
  /** Reads one public key, and tries to encrypt to it. @throws BadRequest that says what is wrong with it */
  readPublicKey(key: Uint8Array, now: Date): Promise<PgpPublicKey>;
}

/** Reads the PGP keys that operators send, with an optional package that is loaded when the first key comes. */
export class PgpKeys {
  readonly #load: (() => Promise<OpenPgp | undefined>) | undefined;
  readonly #clock: Clock;

  /** `load` resolves with undefined where the package is not installed. */
  constructor(load: (() => Promise<OpenPgp | undefined>) | undefined, clock: Clock) {
    this.#load = load;
    this.#clock = clock;
  }

  /** `text`: base64 of the binary key, or the armored key as it is. `at`: when it must not have expired; now by default. @throws BadRequest */
  async read(text: string, at: Date = this.#clock.now()): Promise<PgpPublicKey> {
    const armored = isArmored(text);
    const bytes = armored ? Buffer.from(text) : decoded(text);
    const pgp = await this.#load?.();
    if (!pgp) {
      throw new BadRequest('PGP keys need a package that is not installed on this server: npm install @strongroom/pgp');
    }
    if (!armored && bytes.subarray(0, 5).toString('latin1') === '-----') throw new BadRequest(`error parsing given PGP key: ${NO_PACKET}`);
    try {
      return await pgp.readPublicKey(bytes, at);
    } catch (error) {
      throw error instanceof BadRequest ? new BadRequest(`error parsing given PGP key: ${error.message}`) : error;
    }
  }

  /** One key for each of so many shares, in their order; none at all is fine. @throws BadRequest that begins with `prefix` */
  async readAll(texts: readonly string[], shares: number, prefix: string, at?: Date): Promise<PgpPublicKey[]> {
    if (texts.length > 0 && texts.length !== shares) {
      throw new BadRequest(`${prefix}: count mismatch between number of provided PGP keys and number of shares`);
    }
    const keys: PgpPublicKey[] = [];
    for (const text of texts) {
      try {
        keys.push(await this.read(text, at));
      } catch (error) {
        throw error instanceof BadRequest ? new BadRequest(`${prefix}: ${error.message}`) : error;
      }
    }
    return keys;
  }
}

/** Keys as fields take them: a list, or one text with commas. An empty key stays, and is refused, so that nothing is answered in clear by mistake. */
export function separateKeys(texts: readonly string[] = []): string[] {
  return texts.flatMap((text) => (isArmored(text) ? [text] : text.split(',')));
}

/** An empty text where a list of keys belongs is what a script sends whose file is missing: taken for no keys, shares would be answered in clear. @throws BadRequest */
export function requireNoEmptyText(sent: Readonly<Record<string, unknown>>, fields: readonly string[]): void {
  const empty = fields.find((field) => typeof sent[field] === 'string' && sent[field].trim() === '');
  if (empty !== undefined) throw new BadRequest(`${empty} is an empty text: send a list with a key for each share, or leave it out`);
}

function isArmored(text: string): boolean {
  return text.trimStart().startsWith('-----BEGIN PGP');
}

/** As Vault and OpenBao refuse base64 of an armored key, which their clients never send. */
const NO_PACKET = 'openpgp: invalid data: tag byte does not have MSB set';

function decoded(text: string): Buffer {
  const compact = text.replace(/[\r\n]/g, '');
  const wrong = compact.search(/[^A-Za-z0-9+/]/);
  const padded = wrong < 0 ? compact.length : wrong;
  const whole = compact.length > 0 && compact.length % 4 === 0 && /^={0,2}$/.test(compact.slice(padded));
  if (!whole) throw new BadRequest(`error decoding given PGP key: illegal base64 data at input byte ${padded}`);
  return Buffer.from(compact, 'base64');
}

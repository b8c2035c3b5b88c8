import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** How many digests of tokens and accessors are kept: the same few come with nearly every request. */
const REMEMBERED = 1024;

/** Characters that are digested before others have a turn, of which each text counts as some more; about a millisecond. */
const TURN = 262_144;
const EACH = 1_024;
const PIECE = 65_536;

/** The keyed digest of one audit device: the same value gives the same text on this device and another one elsewhere. */
export class AuditDigest {
  readonly #key: KeyObject;
  readonly #remembered = new Map<string, string>();

  /** `salt` is text of the device's own, kept as long as the device. */
  constructor(salt: string) {
    this.#key = createSecretKey(salt, 'utf8');
  }

  /** `hmac-sha256:` and 64 hex digits. */
  of(value: string): string {
    return `hmac-sha256:${createHmac('sha256', this.#key).update(value).digest('hex')}`;
  }

  /** Those of many or long texts; `breath` is awaited now and then. */
  async ofAll(texts: Iterable<string>, breath: () => Promise<void>): Promise<ReadonlyMap<string, string>> {
    const digests = new Map<string, string>();
    let work = 0;
    const worked = async (characters: number): Promise<void> => {
      work += characters + EACH;
      if (work < TURN) return;
      work = 0;
      await breath();
    };
    for (const text of texts) {
      if (digests.has(text)) continue;
      const hmac = createHmac('sha256', this.#key);
      for (let at = 0; at < text.length || at === 0;) {
        let until = Math.min(at + PIECE, text.length);
        // Both halves of a character stay together.
        if (until < text.length && (text.charCodeAt(until - 1) & 0xfc00) === 0xd800) until += 1;
        hmac.update(text.slice(at, until));
        await worked(until - at);
        if (until === 0) break;
        at = until;
      }
      digests.set(text, `hmac-sha256:${hmac.digest('hex')}`);
    }
    return digests;
  }

  /** The same for what comes again and again. */
  ofToken(value: string): string {
    let digest = this.#remembered.get(value);
    if (digest === undefined) {
      if (this.#remembered.size >= REMEMBERED) this.#remembered.clear();
      digest = this.of(value);
      this.#remembered.set(value, digest);
    }
    return digest;
  }
}

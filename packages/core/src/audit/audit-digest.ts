import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** How many digests of tokens and accessors are kept: the same few come with nearly every request. */
const REMEMBERED = 1024;

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

import { createCipheriv, createDecipheriv, createSecretKey, generateKeySync, randomFillSync, type KeyObject } from 'node:crypto';

const FORMAT = 1;
const HEADER = 5;
const NONCE = 12;
const TAG = 16;
/** Bytes of a large record that are encrypted at a time. */
const PART = 4 * 1024 * 1024;

interface Term {
  /** Of 32 bytes. A raw key would cost Node 24 another 9 µs at each use. */
  readonly key: KeyObject;
  /** RFC 3339. */
  readonly installedAt: string;
}

/** The stored form of a key ring; itself encrypted with the root key. */
export interface KeyRingRecord {
  active: number;
  terms: Record<string, { key: string; installed_at: string }>;
  /** Encryptions of the active term, as of the last save. */
  encryptions: number;
}

/** A record that cannot be decrypted: damaged, moved to another key name, or written by another key ring. */
export class CorruptRecord extends Error {
  override readonly name = 'CorruptRecord';
  readonly key: string;
  constructor(key: string, reason: string) {
    super(`the stored record ${JSON.stringify(key)} cannot be read: ${reason}`);
    this.key = key;
  }
}

/** Written with a key that this key ring does not have: another process may have rotated since it was read. */
export class UnknownTerm extends CorruptRecord {}

/**
 * AES-256-GCM with one key per term; the newest encrypts, all decrypt. The record's key name is the associated data,
 * so a ciphertext that is moved to another key does not decrypt.
 *
 * Layout: format (1 byte), term (4, big endian), nonce (12), ciphertext, tag (16).
 */
export class KeyRing {
  readonly #terms = new Map<number, Term>();
  #active = 0;
  #encryptions = 0;
  #unsaved = 0;
  readonly #nonces = Buffer.alloc(NONCE * 512);
  #nonceAt = NONCE * 512;

  static create(now: Date): KeyRing {
    const ring = new KeyRing();
    ring.rotate(now);
    return ring;
  }

  static parse(record: KeyRingRecord): KeyRing {
    const ring = new KeyRing();
    for (const [term, { key, installed_at }] of Object.entries(record.terms)) {
      ring.#terms.set(Number(term), { key: createSecretKey(key, 'base64'), installedAt: installed_at });
    }
    ring.#active = record.active;
    ring.#encryptions = record.encryptions;
    return ring;
  }

  toRecord(): KeyRingRecord {
    const terms: KeyRingRecord['terms'] = {};
    for (const [term, { key, installedAt }] of this.#terms)
      terms[term] = { key: key.export().toString('base64'), installed_at: installedAt };
    return { active: this.#active, terms, encryptions: this.#encryptions };
  }

  /** Drops the keys: whoever still holds the ring can do nothing with it. Their memory is overwritten when it is freed. */
  forget(): void {
    this.#terms.clear();
  }

  get term(): number {
    return this.#active;
  }

  get installedAt(): string {
    return this.#terms.get(this.#active)?.installedAt ?? '';
  }

  /** By this process since the term began, and those saved before. */
  get encryptions(): number {
    return this.#encryptions + this.#unsaved;
  }

  /** Those by this process that no stored key ring counts yet. */
  get unsavedEncryptions(): number {
    return this.#unsaved;
  }

  /** So many were added to the stored count, which is now `total`. */
  countSaved(saved: number, total: number): void {
    this.#unsaved -= saved;
    this.#encryptions = total;
  }

  /** This ring replaces one that has counted this many. */
  carryOver(unsaved: number): void {
    this.#unsaved += unsaved;
  }

  /** Adds a term; what is written from now on uses it. */
  rotate(now: Date): void {
    this.#active += 1;
    this.#terms.set(this.#active, { key: generateKeySync('aes', { length: 256 }), installedAt: now.toISOString() });
    this.#encryptions = 0;
    this.#unsaved = 0;
  }

  encrypt(name: string, plain: Uint8Array): Buffer {
    const sealing = this.#begin(name, plain.length);
    sealing.add(plain);
    return sealing.end();
  }

  /** The same for a large record: `breath` is awaited between its parts. */
  async encryptInTurns(name: string, plain: Uint8Array, breath: () => Promise<void>): Promise<Buffer> {
    const sealing = this.#begin(name, plain.length);
    for (let at = 0; at < plain.length; at += PART) {
      sealing.add(plain.subarray(at, at + PART));
      await breath();
    }
    return sealing.end();
  }

  #begin(name: string, length: number): { add(part: Uint8Array): void; end(): Buffer } {
    const term = this.#terms.get(this.#active)!;
    const out = Buffer.allocUnsafe(HEADER + NONCE + length + TAG);
    out[0] = FORMAT;
    out.writeUInt32BE(this.#active, 1);
    const cipher = createCipheriv('aes-256-gcm', term.key, this.#writeNonce(out));
    cipher.setAAD(Buffer.from(name));
    this.#unsaved += 1;
    let at = HEADER + NONCE;
    return {
      add: (part) => {
        at += cipher.update(part).copy(out, at);
      },
      end: () => {
        cipher.final();
        cipher.getAuthTag().copy(out, at);
        return out;
      },
    };
  }

  /** @throws CorruptRecord */
  decrypt(name: string, sealed: Uint8Array): Buffer {
    const bytes = Buffer.isBuffer(sealed) ? sealed : Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (bytes.length < HEADER + NONCE + TAG || bytes[0] !== FORMAT) throw new CorruptRecord(name, 'it is not in the format of this store');
    const term = this.#terms.get(bytes.readUInt32BE(1));
    if (!term) throw new UnknownTerm(name, `it was written with key term ${bytes.readUInt32BE(1)}, which this key ring does not have`);
    const end = bytes.length - TAG;
    try {
      const decipher = createDecipheriv('aes-256-gcm', term.key, bytes.subarray(HEADER, HEADER + NONCE));
      decipher.setAAD(Buffer.from(name));
      decipher.setAuthTag(bytes.subarray(end));
      const plain = decipher.update(bytes.subarray(HEADER + NONCE, end));
      decipher.final();
      return plain;
    } catch {
      throw new CorruptRecord(name, 'message authentication failed');
    }
  }

  /** A random nonce, behind the header; they are drawn in blocks because one draw costs as much as one encryption. */
  #writeNonce(out: Buffer): Buffer {
    if (this.#nonceAt === this.#nonces.length) {
      randomFillSync(this.#nonces);
      this.#nonceAt = 0;
    }
    const from = this.#nonceAt;
    this.#nonceAt += NONCE;
    this.#nonces.copy(out, HEADER, from, this.#nonceAt);
    return out.subarray(HEADER, HEADER + NONCE);
  }
}

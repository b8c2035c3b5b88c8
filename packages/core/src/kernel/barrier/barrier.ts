import type { Clock } from '@strongroom/engine-sdk';
import { Conflict, type Entry, type Expectation, type StorageDriver } from '@strongroom/storage-sdk';
import { CorruptRecord, KeyRing, type KeyRingRecord } from './key-ring.ts';
import { sealWith, unsealWith } from './sealed-box.ts';

/** Notified when the keys are made, and whenever they change: also heard by processes that are sealed. */
export const KEY_RING = 'core/keyring';

/** There while `operator migrate` copies the store: no server opens it. Stored in clear. */
export const MIGRATION = 'core/migration';

/** Thrown where something is asked of a barrier that is closed. */
export class BarrierSealed extends Error {
  override readonly name = 'BarrierSealed';
  constructor() {
    super('Vault is sealed');
  }
}

/**
 * What stands between the store and everything above it. The root key opens the key ring, the key ring encrypts the records.
 * The root key itself is kept by the seal, never here once the barrier is closed.
 */
export class Barrier {
  readonly #driver: StorageDriver;
  readonly #clock: Clock;
  #ring: KeyRing | undefined;
  #rootKey: Buffer | undefined;
  /** How the seal finds the root key once more, after another process replaced it. Undefined: it cannot. */
  rootKeyAgain: (() => Promise<Buffer | undefined>) | undefined;

  constructor(driver: StorageDriver, clock: Clock) {
    this.#driver = driver;
    this.#clock = clock;
  }

  get sealed(): boolean {
    return this.#ring === undefined;
  }

  /** The open key ring. @throws BarrierSealed */
  get ring(): KeyRing {
    if (!this.#ring) throw new BarrierSealed();
    return this.#ring;
  }

  async initialized(): Promise<boolean> {
    return (await this.#driver.get(KEY_RING)) !== undefined;
  }

  /** Makes the first key ring, and stores what the seal keeps in the same commit. @throws Conflict when another process was first. */
  async initialize(rootKey: Buffer, beside: readonly { key: string; value: Uint8Array }[]): Promise<void> {
    const ring = KeyRing.create(this.#clock.now());
    await this.#driver.commit({
      expect: [{ key: KEY_RING, version: undefined }],
      put: [this.#entry(ring, rootKey), ...beside],
      // Processes that are sealed over the empty store hear of it.
      notify: [KEY_RING],
    });
  }

  /** @throws CorruptRecord when the root key is not the one that the key ring was stored with. */
  async unseal(rootKey: Buffer): Promise<void> {
    const stored = await this.#driver.get(KEY_RING);
    if (!stored) throw new CorruptRecord(KEY_RING, 'it is not there');
    this.#ring = KeyRing.parse(JSON.parse(unsealWith(rootKey, KEY_RING, stored.value).toString()) as KeyRingRecord);
    this.#rootKey = Buffer.from(rootKey);
  }

  /** Forgets the keys. */
  seal(): void {
    this.#rootKey?.fill(0);
    this.#rootKey = undefined;
    this.#ring?.forget();
    this.#ring = undefined;
  }

  /** Adds a term to the key ring and stores it; other processes are notified. */
  async rotate(): Promise<void> {
    for (;;) {
      const stored = await this.#driver.get(KEY_RING);
      if (!this.#rootKey || !this.#ring || !stored) throw new BarrierSealed();
      const next = KeyRing.parse(JSON.parse(unsealWith(this.#rootKey, KEY_RING, stored.value).toString()) as KeyRingRecord);
      next.rotate(this.#clock.now());
      try {
        await this.#driver.commit({
          expect: [{ key: KEY_RING, version: stored.version }],
          put: [this.#entry(next, this.#rootKey)],
          notify: [KEY_RING],
        });
        // Sealed meanwhile: the store has the new term, this process has no key any more.
        if (this.#ring) this.#ring = next;
        return;
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
      }
    }
  }

  /** Adds this process's encryptions to the stored count, which decides when the key rotates by itself. */
  async saveCount(): Promise<void> {
    const { ring } = this;
    const saved = ring.unsavedEncryptions;
    const stored = await this.#driver.get(KEY_RING);
    if (saved === 0 || !stored || !this.#rootKey) return;
    const next = KeyRing.parse(JSON.parse(unsealWith(this.#rootKey, KEY_RING, stored.value).toString()) as KeyRingRecord);
    if (next.term !== ring.term) return;
    const total = next.encryptions + saved;
    next.countSaved(0, total);
    await this.#driver.commit({ expect: [{ key: KEY_RING, version: stored.version }], put: [this.#entry(next, this.#rootKey)] });
    ring.countSaved(saved, total);
  }

  /** Re-encrypts the key ring with a new root key. The caller stores the root key in the same breath through `beside`. @throws Conflict */
  async replaceRootKey(rootKey: Buffer, beside: readonly Entry[], expect: readonly Expectation[] = []): Promise<void> {
    // A term that another process added a moment ago is in the stored ring, and not yet in this one.
    await this.reload();
    const stored = await this.#driver.get(KEY_RING);
    if (!this.#rootKey || !this.#ring || !stored) throw new BarrierSealed();
    const next = ringOf(this.#rootKey, stored.value);
    if (!next) throw new Conflict(KEY_RING);
    await this.#driver.commit({
      expect: [{ key: KEY_RING, version: stored.version }, ...expect],
      put: [this.#entry(next, rootKey), ...beside],
      notify: [KEY_RING],
    });
    if (!this.#rootKey || !this.#ring) return;
    if (next.term === this.#ring.term) next.carryOver(this.#ring.unsavedEncryptions);
    this.#ring = next;
    this.#rootKey.fill(0);
    this.#rootKey = Buffer.from(rootKey);
  }

  /** The open root key, for the seal that splits or wraps it again. @throws BarrierSealed */
  get rootKey(): Buffer {
    if (!this.#rootKey) throw new BarrierSealed();
    return this.#rootKey;
  }

  /** Another process rotated: take up its terms, and its root key. When the seal cannot find that, this process seals itself. */
  async reload(): Promise<void> {
    const stored = await this.#driver.get(KEY_RING);
    if (!this.#rootKey) return;
    if (!stored) {
      this.seal();
      throw new CorruptRecord(KEY_RING, 'it is not there');
    }
    let ring = ringOf(this.#rootKey, stored.value);
    if (!ring) {
      const rootKey = await this.rootKeyAgain?.();
      if (!this.#rootKey) return;
      ring = rootKey && ringOf(rootKey, stored.value);
      if (!rootKey || !ring) {
        this.seal();
        throw new CorruptRecord(KEY_RING, 'it is encrypted with another root key');
      }
      this.#rootKey.fill(0);
      this.#rootKey = rootKey;
    }
    if (ring.term === this.#ring?.term) ring.carryOver(this.#ring.unsavedEncryptions);
    this.#ring = ring;
  }

  #entry(ring: KeyRing, rootKey: Buffer): { key: string; value: Uint8Array } {
    return { key: KEY_RING, value: sealWith(rootKey, KEY_RING, Buffer.from(JSON.stringify(ring.toRecord()))) };
  }
}

/** Undefined when it was encrypted with another root key. */
function ringOf(rootKey: Buffer, sealed: Uint8Array): KeyRing | undefined {
  try {
    return KeyRing.parse(JSON.parse(unsealWith(rootKey, KEY_RING, sealed).toString()) as KeyRingRecord);
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error;
    return undefined;
  }
}

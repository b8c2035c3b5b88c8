import { BadRequest, type Clock, type Log } from '@strongroom/engine-sdk';
import { Conflict, type Entry, type StorageDriver } from '@strongroom/storage-sdk';
import { sealWith, unsealWith } from '../../kernel/barrier/sealed-box.ts';
import { randomBytes } from '../../kernel/random/random-bytes.ts';
import type { ConfiguredSeal } from './configured-seal.ts';
import { ROOT_KEY, type SealConfig } from './seal-config.ts';
import { SealFailure } from './seal-failure.ts';
import { SealHandle } from './seal-handle.ts';
import { newWrapsId, storedWraps, unwrapWithAny, wrapsEntry, wrapWithAll, type SealWraps } from './seal-wraps.ts';

/** The root key and the seal key that it is encrypted with, as one of the seals opened them. */
export interface OpenedKeys {
  readonly rootKey: Buffer;
  readonly sealKey: Buffer;
  /** Of the wraps that the seal key has. */
  readonly wrapsId: string;
  readonly by: SealHandle;
}

/** A new seal key: itself, and what the store needs of it. */
export interface NewSealKey {
  readonly sealKey: Buffer;
  readonly wrapsId: string;
  /** The wraps, and the root key encrypted with the seal key. */
  readonly entries: readonly Entry[];
}

/** No seal opened the keys. */
export class KeysNotOpened extends Error {
  /** Of the seals that were asked, in their order; none where no seal has wrapped anything. */
  readonly failures: readonly SealFailure[];

  constructor(failures: readonly SealFailure[]) {
    super(failures.map(({ message }) => message).join('; '));
    this.failures = failures;
  }
}

/**
 * The seals of the configuration that open by themselves. A random seal key encrypts the root key; each enabled seal wraps the seal key, so that any of
 * them opens the store.
 */
export class AutomaticSeals {
  /** The one that is asked first comes first. */
  readonly enabled: readonly SealHandle[];
  readonly disabled: readonly SealHandle[];
  readonly #driver: StorageDriver;
  readonly #log: Log;

  constructor(parts: { driver: StorageDriver; clock: Clock; log: Log; configured: readonly ConfiguredSeal[] }) {
    const handles = parts.configured
      .map((configured) => new SealHandle(configured, parts.clock))
      .toSorted((a, b) => a.priority - b.priority);
    this.enabled = handles.filter(({ disabled }) => !disabled);
    this.disabled = handles.filter(({ disabled }) => disabled);
    this.#driver = parts.driver;
    this.#log = parts.log;
  }

  /** Whether one of these seals may have wrapped the keys of the store, by its type. */
  async mayOpen(seals: readonly SealHandle[], config: SealConfig): Promise<boolean> {
    const types = (await storedWraps(this.#driver))?.wraps.map(({ type }) => type) ?? [config.type];
    return seals.some(({ type }) => types.includes(type));
  }

  /** Opens the keys of the store with the first of these seals that can. @throws KeysNotOpened */
  async openKeys(seals: readonly SealHandle[]): Promise<OpenedKeys> {
    const wraps = await storedWraps(this.#driver);
    if (!wraps) return this.#openEarlier(seals);
    const wrapped = await this.#wrappedRootKey();
    let rootKey: Buffer | undefined;
    const { opened, failures } = await unwrapWithAny(seals, wraps, (key) => (rootKey = rootKeyWith(key, wrapped.value)) !== undefined);
    if (!opened || !rootKey) throw new KeysNotOpened(failures);
    for (const failure of failures)
      this.#log.warn('a seal did not open the store; another one did', { reason: failure.reason, seal: failure.message });
    return { rootKey, sealKey: opened.key, by: opened.by, wrapsId: wraps.id };
  }

  /** A new seal key for this root key, wrapped by all enabled seals. @throws SealFailure when one cannot */
  async newSealKey(rootKey: Uint8Array): Promise<NewSealKey> {
    const sealKey = randomBytes(32);
    const wraps = await wrapWithAll(this.enabled, newWrapsId(), sealKey);
    return { sealKey, wrapsId: wraps.id, entries: entriesOf(sealKey, wraps, rootKey) };
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    await Promise.all([...this.enabled, ...this.disabled].map(async (seal) => seal.close()));
  }

  /** Earlier versions wrapped the root key itself with the key of the static seal. It gets a seal key. @throws KeysNotOpened */
  async #openEarlier(seals: readonly SealHandle[]): Promise<OpenedKeys> {
    const wrapped = await this.#wrappedRootKey();
    const failures: SealFailure[] = [];
    for (const seal of seals.filter(({ type }) => type === 'static')) {
      try {
        const rootKey = await seal.unwrap(wrapped.value, ROOT_KEY);
        const sealKey = randomBytes(32);
        const wraps = await wrapWithAll([seal], newWrapsId(), sealKey);
        await this.#driver.commit({ expect: [{ key: ROOT_KEY, version: wrapped.version }], put: entriesOf(sealKey, wraps, rootKey) });
        this.#log.info('the root key is now wrapped in an envelope', { seal: seal.name });
        return { rootKey, sealKey, wrapsId: wraps.id, by: seal };
      } catch (error) {
        // Another server was faster.
        if (error instanceof Conflict) return this.openKeys(seals);
        if (!(error instanceof SealFailure)) throw error;
        failures.push(error);
      }
    }
    throw new KeysNotOpened(failures);
  }

  async #wrappedRootKey(): Promise<{ value: Uint8Array; version: number }> {
    const stored = await this.#driver.get(ROOT_KEY);
    if (!stored) throw new BadRequest('Vault is not initialized');
    return stored;
  }
}

/** Undefined where the root key is encrypted with another seal key. */
function rootKeyWith(sealKey: Uint8Array, wrapped: Uint8Array): Buffer | undefined {
  try {
    return unsealWith(sealKey, ROOT_KEY, wrapped);
  } catch {
    return undefined;
  }
}

function entriesOf(sealKey: Uint8Array, wraps: SealWraps, rootKey: Uint8Array): Entry[] {
  return [wrapsEntry(wraps), { key: ROOT_KEY, value: sealWith(sealKey, ROOT_KEY, rootKey) }];
}

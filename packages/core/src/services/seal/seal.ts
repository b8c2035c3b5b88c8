import { randomUUID } from 'node:crypto';
import { BadRequest, Unavailable, type Clock, type Log } from '@strongroom/engine-sdk';
import { Conflict, type Change, type StorageDriver } from '@strongroom/storage-sdk';
import { KEY_RING, type Barrier } from '../../kernel/barrier/barrier.ts';
import { sealWith, unsealWith } from '../../kernel/barrier/sealed-box.ts';
import { randomBytes } from '../../kernel/random/random-bytes.ts';
import { AutomaticSeals, KeysNotOpened, type NewSealKey, type OpenedKeys } from './automatic-seals.ts';
import type { ConfiguredSeal } from './configured-seal.ts';
import { sameSecret } from './same-secret.ts';
import {
  checkShares,
  DEFAULT_RECOVERY_SHARES,
  defaultThreshold,
  operatorShares,
  RECOVERY_KEY,
  ROOT_KEY,
  SEAL_CONFIG,
  sealConfigEntry,
  storedSealConfig,
  type SealConfig,
  type StoredSealConfig,
} from './seal-config.ts';
import { SealFailure } from './seal-failure.ts';
import { SEAL_WRAPS, storedWraps } from './seal-wraps.ts';
import { joinedShares } from './share-joining.ts';
import { splitKey } from './unseal-key.ts';
import { renewWrap } from './wrap-renewal.ts';

export { parseShare } from './share-joining.ts';

export interface InitOrder {
  readonly secretShares: number | undefined;
  readonly secretThreshold: number | undefined;
  readonly recoveryShares: number | undefined;
  readonly recoveryThreshold: number | undefined;
}

export interface InitResult {
  readonly keys: readonly Buffer[];
  readonly recoveryKeys: readonly Buffer[];
}

/** The shares given so far, and the name of the attempt that they belong to; '' before the first. */
export interface UnsealAttempt {
  readonly shares: readonly Uint8Array[];
  readonly nonce: string;
}

/** `waits`: operators must migrate the store first. */
export type OpeningResult = 'open' | 'not initialized' | 'waits';

/** The seals of the configuration do not open the store now. `final`: no later try can change that. */
export class SealNotOpened extends Unavailable {
  readonly final: boolean;
  readonly failures: readonly SealFailure[];
  /** For the log: what each seal said, and its kind. */
  readonly reasons: readonly string[];
  readonly kinds: readonly string[];
  /** Milliseconds until the next try makes sense; undefined where no seal said so. */
  readonly pause: number | undefined;

  constructor(message: string, { failures }: Pick<KeysNotOpened, 'failures'>) {
    super(message);
    this.failures = failures;
    this.final = failures.every(({ kind }) => kind === 'wrong key');
    this.reasons = failures.map(({ reason }) => reason);
    this.kinds = [...new Set(failures.map(({ kind }) => kind))];
    this.pause = Math.max(0, ...failures.map(({ pause = 0 }) => pause)) || undefined;
  }
}

/**
 * Keeps the root key: encrypted with a seal key, which is split among operators (Shamir) or wrapped by the seals of the configuration. What the store says
 * counts until operators have migrated it to what the configuration says.
 */
export class Seal {
  readonly seals: AutomaticSeals;
  readonly #driver: StorageDriver;
  readonly #barrier: Barrier;
  readonly #log: Log;
  #shares: Buffer[] = [];
  #nonce = '';
  /** What the root key is encrypted with, while open. */
  #sealKey: Buffer | undefined;
  /** Called with a new unseal key that is in force. */
  keyReplaced: ((sealKey: Uint8Array) => Promise<void>) | undefined;
  #wrapsId: string | undefined;
  /** The enabled seals have answered that they did not seal this store, and a disabled one may have. */
  #sealedByDisabled = false;

  constructor(parts: {
    driver: StorageDriver;
    barrier: Barrier;
    configured?: readonly ConfiguredSeal[] | undefined;
    clock: Clock;
    log: Log;
  }) {
    this.#driver = parts.driver;
    this.#barrier = parts.barrier;
    this.#log = parts.log;
    this.seals = new AutomaticSeals({ ...parts, configured: parts.configured ?? [] });
    parts.barrier.rootKeyAgain = async () => this.#rootKeyAgain();
  }

  /** Of the seal that the configuration asks for. */
  get type(): string {
    return this.seals.enabled[0]?.type ?? 'shamir';
  }

  /** Whether the configuration asks for a seal that opens by itself. */
  get automatic(): boolean {
    return this.seals.enabled.length > 0;
  }

  /** Shares given so far, and the attempt they belong to. */
  get progress(): { count: number; nonce: string } {
    return { count: this.#shares.length, nonce: this.#nonce };
  }

  /** The shares themselves, for the other processes of this server. */
  get attempt(): UnsealAttempt {
    return { shares: this.#shares, nonce: this.#nonce };
  }

  /** Another process of this server was given shares, or dropped them. */
  set attempt({ shares, nonce }: UnsealAttempt) {
    [this.#shares, this.#nonce] = [Array.from(shares, (share) => Buffer.from(share)), nonce];
  }

  /** What the root key is encrypted with; undefined while sealed. */
  get sealKey(): Uint8Array | undefined {
    return this.#sealKey;
  }

  /** Another process of this server put a new unseal key in force. */
  async takeSealKey(sealKey: Uint8Array): Promise<void> {
    const stored = this.#sealKey && (await this.#driver.get(ROOT_KEY));
    if (stored && this.#sealKey && opens(sealKey, stored.value)) this.#sealKey = Buffer.from(sealKey);
  }

  /** What the seals have wrapped, while the server is open. */
  get opened(): { readonly sealKey: Buffer; readonly wrapsId: string } | undefined {
    return this.#sealKey && this.#wrapsId !== undefined ? { sealKey: this.#sealKey, wrapsId: this.#wrapsId } : undefined;
  }

  /** Whether every enabled seal has wrapped the seal key, so that each of them alone opens the store. Shares always do. */
  async fullyWrapped(): Promise<boolean> {
    const wraps = (await storedWraps(this.#driver))?.wraps ?? [];
    return this.seals.enabled.every((seal) => wraps.some(({ name, type }) => name === seal.name && type === seal.type));
  }

  async config(): Promise<SealConfig | undefined> {
    return (await storedSealConfig(this.#driver))?.config;
  }

  /** Whether operators must migrate the store to the seal of the configuration before it opens. */
  async migrating(): Promise<boolean> {
    const config = await this.config();
    if (!config || this.opened) return false;
    const { enabled, disabled } = this.seals;
    if (config.type === 'shamir') return enabled.length > 0;
    if (await this.seals.mayOpen(enabled, config)) return this.#sealedByDisabled;
    return this.seals.mayOpen(disabled, config);
  }

  /** Makes the keys of a new store; leaves the barrier open. @throws BadRequest, SealFailure when a seal cannot wrap */
  async initialize(order: InitOrder): Promise<InitResult> {
    if ((await this.config()) || (await this.#barrier.initialized())) throw new BadRequest('Vault is already initialized');
    const { shares, threshold } = this.#orderedShares(order);
    const rootKey = randomBytes(32);
    const operatorKey = randomBytes(32);
    const made = this.automatic ? await this.seals.newSealKey(rootKey) : undefined;
    const sealKey = made?.sealKey ?? operatorKey;
    await this.#barrier
      .initialize(rootKey, [
        sealConfigEntry(this.automatic ? automaticConfig(this.type, shares, threshold) : shamirConfig(shares, threshold)),
        ...(made?.entries ?? [{ key: ROOT_KEY, value: sealWith(sealKey, ROOT_KEY, rootKey) }]),
        ...(made && shares > 0 ? [{ key: RECOVERY_KEY, value: sealWith(rootKey, RECOVERY_KEY, operatorKey) }] : []),
      ])
      .catch((error: unknown) => {
        throw error instanceof Conflict ? new BadRequest('Vault is already initialized') : error;
      });
    await this.#opens({ rootKey, sealKey: Buffer.from(sealKey), wrapsId: made?.wrapsId });
    const split = shares > 0 ? await splitKey(operatorKey, shares, threshold) : [];
    return this.automatic ? { keys: [], recoveryKeys: split } : { keys: split, recoveryKeys: [] };
  }

  /** @throws BadRequest for what is asked of the other kind of seal */
  #requireFitting(order: InitOrder): void {
    const foreign = this.automatic
      ? { secret_shares: order.secretShares, secret_threshold: order.secretThreshold }
      : { recovery_shares: order.recoveryShares, recovery_threshold: order.recoveryThreshold };
    const sent = Object.entries(foreign).flatMap(([name, value]) => (value ? [name] : []));
    if (sent.length > 0) throw new BadRequest(`parameters ${sent.join(',')} not applicable to seal type ${this.type}`);
  }

  /**
   * Takes one share of the unseal key, or of the recovery key of an automatic seal; opens the barrier when there are enough. Shares are dropped then, right
   * or wrong; while a seal cannot be reached, only the last one is. `migrate`: the store is migrated to the seal of the configuration first. @throws BadRequest, Unavailable
   */
  async provide(share: Buffer, migrate = false): Promise<void> {
    const stored = await storedSealConfig(this.#driver);
    if (!stored) throw new BadRequest('Vault is not initialized');
    if (!this.#barrier.sealed) return;
    const pending = await this.migrating();
    if (pending && !migrate) throw new BadRequest('migrate option not provided and seal migration is pending');
    if (migrate && !pending) throw new BadRequest("can't perform a seal migration, no migration seal found");
    if (!pending) this.#requireKnown(stored.config);
    const { threshold } = operatorShares(stored.config);
    if (threshold === 0) throw noRecoveryKeys(pending, pending ? stored.config.type : this.type);
    if (share.length < 16) throw new BadRequest('invalid key: key is shorter than minimum 16 bytes');
    if (share.length > 33) throw new BadRequest('invalid key: key is longer than maximum 33 bytes');
    if (this.#shares.some((known) => known.equals(share))) return;
    if (this.#shares.length === 0) this.#nonce = randomUUID();
    this.#shares.push(share);
    if (this.#shares.length < threshold) return;
    const [shares, nonce] = [this.#shares, this.#nonce];
    this.reset();
    const key = await joinedShares(shares);
    try {
      if (migrate) await this.#migrate(stored, key);
      else if (stored.config.type === 'shamir') await this.#openWithShares(key);
      else await this.#openWithRecoveryKey(key);
    } catch (error) {
      // A seal did not answer: whoever sends the last share again, as command lines do, tries again.
      if (error instanceof Unavailable && shares.length > 1) [this.#shares, this.#nonce] = [shares.slice(0, -1), nonce];
      throw error;
    }
  }

  reset(): void {
    this.#shares = [];
    this.#nonce = '';
  }

  /** Opens with the seals of the configuration. @throws SealNotOpened */
  async openAutomatically(): Promise<OpeningResult> {
    if (!this.#barrier.sealed) return 'open';
    const config = await this.config();
    if (!config) return 'not initialized';
    this.#sealedByDisabled = false;
    if (await this.migrating()) return 'waits';
    try {
      const opened = await this.seals.openKeys(this.seals.enabled);
      await this.#opens(opened);
      await this.#renewWrap(opened);
      return 'open';
    } catch (error) {
      if (!(error instanceof KeysNotOpened)) throw error;
      const sealedByOther = error.failures.every(({ kind }) => kind === 'wrong key');
      if (sealedByOther && (await this.seals.mayOpen(this.seals.disabled, config))) {
        this.#sealedByDisabled = true;
        return 'waits';
      }
      throw this.#notOpened(error);
    }
  }

  /** Whether these shares are the operators': those that unseal, or the recovery shares of an automatic seal. */
  async proves(shares: readonly Buffer[]): Promise<boolean> {
    const key = await joinedShares(shares);
    const config = await this.config();
    if (config && config.type !== 'shamir') return this.#isRecoveryKey(key, this.#barrier.rootKey);
    const stored = await this.#driver.get(ROOT_KEY);
    return stored !== undefined && opens(key, stored.value);
  }

  /** Shares that `proves` asks for; none where recovery keys are not made yet. */
  async needed(): Promise<{ shares: number; threshold: number }> {
    const config = await this.config();
    if (!config) throw new BadRequest('Vault is not initialized');
    return operatorShares(config);
  }

  /**
   * Puts a new unseal key (of an automatic seal: recovery key) in force for the same root key: the shares of the present one are worthless from here on.
   * `beside` is written in the same commit. @throws Conflict when the seal or what `beside` expects was changed by others meanwhile
   */
  async replaceKey(key: Buffer, shares: number, threshold: number, beside: Change = {}): Promise<void> {
    const stored = await storedSealConfig(this.#driver);
    if (!stored) throw new BadRequest('Vault is not initialized');
    const { config, version } = stored;
    this.#requireKnown(config);
    const wrapped = await this.#driver.get(ROOT_KEY);
    // A root key that another process replaced before this point is found here, and one that it replaces later is a conflict.
    await this.#barrier.reload();
    const { rootKey } = this.#barrier;
    const automatic = config.type !== 'shamir';
    const next: SealConfig = automatic
      ? { ...config, recovery_shares: shares, recovery_threshold: threshold }
      : { ...config, secret_shares: shares, secret_threshold: threshold };
    await this.#driver.commit({
      ...beside,
      expect: [{ key: SEAL_CONFIG, version }, { key: ROOT_KEY, version: wrapped?.version }, ...(beside.expect ?? [])],
      put: [
        sealConfigEntry(next),
        automatic
          ? { key: RECOVERY_KEY, value: sealWith(rootKey, RECOVERY_KEY, key) }
          : { key: ROOT_KEY, value: sealWith(key, ROOT_KEY, rootKey) },
        ...(beside.put ?? []),
      ],
    });
    if (automatic) return;
    this.#sealKey = Buffer.from(key);
    await this.keyReplaced?.(key);
  }

  /**
   * A new root key, and the key ring encrypted with it. Unseal shares stay good, since they are the seal key. Automatic seals wrap a new seal key: who had the
   * old one opens nothing from here on. @throws Unavailable when one of them cannot; nothing has changed then
   */
  async replaceRootKey(): Promise<void> {
    if (this.#sealKey === undefined) throw new BadRequest('the root key can only be rotated by a server that was unsealed since');
    await this.#barrier.reload();
    const stored = await this.#driver.get(ROOT_KEY);
    if (!stored || !opens(this.#sealKey, stored.value)) {
      throw new BadRequest('the shares were changed by another process: seal and unseal this one first');
    }
    const rootKey = randomBytes(32);
    const made = this.opened ? await this.#newSealKey(rootKey) : undefined;
    const beside = [...(made?.entries ?? [{ key: ROOT_KEY, value: sealWith(this.#sealKey, ROOT_KEY, rootKey) }])];
    const recovery = await this.#driver.get(RECOVERY_KEY);
    if (recovery)
      beside.push({
        key: RECOVERY_KEY,
        value: sealWith(rootKey, RECOVERY_KEY, unsealWith(this.#barrier.rootKey, RECOVERY_KEY, recovery.value)),
      });
    await this.#barrier.replaceRootKey(rootKey, beside, [{ key: ROOT_KEY, version: stored.version }]);
    rootKey.fill(0);
    if (!made || this.#barrier.sealed) return;
    this.#sealKey?.fill(0);
    this.#sealKey = made.sealKey;
    this.#wrapsId = made.wrapsId;
  }

  /** Keeps what opens the store through `forget`: the result opens it once more, or resolves with false where that is not its key any more. */
  remember(): () => Promise<boolean> {
    const sealKey = this.#sealKey && Buffer.from(this.#sealKey);
    return async () => {
      try {
        if (sealKey && (await this.openWith(sealKey))) return true;
        return this.automatic && (await this.openAutomatically()) === 'open';
      } catch (error) {
        this.#log.warn('the restored store is not opened by the keys of this server', { reason: String(error) });
        return false;
      } finally {
        sealKey?.fill(0);
      }
    };
  }

  /** Forgets what was needed to open. */
  forget(): void {
    this.#sealKey?.fill(0);
    this.#sealKey = undefined;
    this.#wrapsId = undefined;
    this.reset();
  }

  #orderedShares(order: InitOrder): { shares: number; threshold: number } {
    this.#requireFitting(order);
    const shares = this.automatic ? (order.recoveryShares ?? DEFAULT_RECOVERY_SHARES) : (order.secretShares ?? 0);
    const threshold = this.automatic ? (order.recoveryThreshold ?? defaultThreshold(shares)) : (order.secretThreshold ?? 0);
    // Recovery keys may be postponed.
    if (!this.automatic || shares !== 0 || threshold !== 0) checkShares(shares, threshold, this.automatic ? 'recovery' : 'seal');
    return { shares, threshold };
  }

  /** @throws BadRequest where the store was sealed with a kind of seal that the configuration does not name */
  #requireKnown(config: SealConfig): void {
    if (this.automatic === (config.type !== 'shamir')) return;
    throw new BadRequest(
      this.automatic
        ? 'the store was migrated to the seal "shamir" by another server: change the configuration of this one, and restart it'
        : `the store is sealed with ${JSON.stringify(config.type)}, which the configuration does not name: add that seal, with disabled = "true" to migrate to shares`,
    );
  }

  #notOpened(error: KeysNotOpened): SealNotOpened {
    const names = this.seals.enabled.map(({ name }) => JSON.stringify(name)).join(', ');
    const other = `the store was sealed with another key than that of ${names}: the configuration must name the seal that sealed it, with disabled = "true" to migrate from it`;
    const failure = new SealNotOpened(error.message, error);
    return failure.final ? new SealNotOpened(other, error) : failure;
  }

  /** The server starts all the same where the seal cannot wrap just now: the next health check tries again. */
  async #renewWrap(opened: OpenedKeys): Promise<void> {
    const parts = { driver: this.#driver, log: this.#log, enabled: this.seals.enabled };
    await renewWrap(parts, opened.by, opened).catch((error: unknown) => {
      this.#log.warn('the seal key could not be rewrapped', {
        seal: opened.by.name,
        reason: error instanceof SealFailure ? error.reason : String(error),
      });
    });
  }

  /** Opens the store with a seal key, if that is its own. */
  async openWith(sealKey: Uint8Array): Promise<boolean> {
    const stored = await this.#driver.get(ROOT_KEY);
    if (!stored || !opens(sealKey, stored.value)) return false;
    const wraps = await storedWraps(this.#driver);
    await this.#opens({ rootKey: await this.#rootKeyOf(sealKey), sealKey: Buffer.from(sealKey), wrapsId: wraps?.id });
    return true;
  }

  async #openWithShares(sealKey: Buffer): Promise<void> {
    await this.#opens({ rootKey: await this.#rootKeyOf(sealKey), sealKey, wrapsId: undefined });
  }

  async #openWithRecoveryKey(key: Buffer): Promise<void> {
    const opened = await this.#openedFor(this.seals.enabled, 'recovery keys allow this server to open, and cannot do it themselves');
    await this.#requireRecoveryKey(key, opened.rootKey);
    await this.#opens(opened);
  }

  /** One commit: until it is made, the store is sealed as before. */
  async #migrate({ config, version }: StoredSealConfig, key: Buffer): Promise<void> {
    const before = await this.#driver.get(ROOT_KEY);
    const { shares, threshold } = operatorShares(config);
    const rootKey =
      config.type === 'shamir' ? await this.#rootKeyOf(key) : (await this.#openedFor(this.seals.disabled, 'nothing was migrated')).rootKey;
    if (config.type !== 'shamir') await this.#requireRecoveryKey(key, rootKey);
    const made = this.automatic ? await this.seals.newSealKey(rootKey) : undefined;
    const sealKey = made?.sealKey ?? key;
    const expect = [
      { key: SEAL_CONFIG, version },
      { key: ROOT_KEY, version: before?.version },
    ];
    // Servers that are sealed over the same store hear of it.
    const notify = [KEY_RING];
    if (made) {
      const recovery = { key: RECOVERY_KEY, value: sealWith(rootKey, RECOVERY_KEY, key) };
      await this.#commit({
        expect,
        put: [sealConfigEntry(automaticConfig(this.type, shares, threshold)), ...made.entries, recovery],
        notify,
      });
    } else {
      const root = { key: ROOT_KEY, value: sealWith(sealKey, ROOT_KEY, rootKey) };
      await this.#commit({
        expect,
        put: [sealConfigEntry(shamirConfig(shares, threshold)), root],
        delete: [RECOVERY_KEY, SEAL_WRAPS],
        notify,
      });
    }
    this.#sealedByDisabled = false;
    this.#log.info('the seal was migrated', { from: config.type, to: this.type });
    await this.#opens({ rootKey, sealKey: Buffer.from(sealKey), wrapsId: made?.wrapsId });
  }

  /** @throws Unavailable that says which seal does not open, and `consequence` */
  async #openedFor(seals: AutomaticSeals['enabled'], consequence: string): Promise<OpenedKeys> {
    try {
      return await this.seals.openKeys(seals);
    } catch (error) {
      if (!(error instanceof KeysNotOpened)) throw error;
      this.#log.error('the seal does not open', { reasons: error.failures.map(({ reason }) => reason) });
      throw new Unavailable(`${error.message || 'no seal of the configuration sealed this store'}: ${consequence}`);
    }
  }

  async #requireRecoveryKey(key: Buffer, rootKey: Buffer): Promise<void> {
    if (!(await this.#isRecoveryKey(key, rootKey))) throw new BadRequest('invalid key: these are not the recovery keys of this server');
  }

  async #isRecoveryKey(key: Buffer, rootKey: Buffer): Promise<boolean> {
    const stored = await this.#driver.get(RECOVERY_KEY);
    return stored !== undefined && sameSecret(unsealWith(rootKey, RECOVERY_KEY, stored.value), key);
  }

  /** @throws BadRequest when the shares were wrong */
  async #rootKeyOf(sealKey: Uint8Array): Promise<Buffer> {
    const stored = await this.#driver.get(ROOT_KEY);
    if (!stored) throw new BadRequest('Vault is not initialized');
    try {
      return unsealWith(sealKey, ROOT_KEY, stored.value);
    } catch {
      throw new BadRequest(
        'unable to retrieve stored keys: invalid key: failed to decrypt keys from storage: cipher: message authentication failed',
      );
    }
  }

  /** @throws Unavailable that names the seal that cannot wrap it */
  async #newSealKey(rootKey: Buffer): Promise<NewSealKey> {
    try {
      return await this.seals.newSealKey(rootKey);
    } catch (error) {
      if (!(error instanceof SealFailure)) throw error;
      this.#log.error('the root key was not replaced, since a seal cannot wrap it', { seal: error.seal, reason: error.reason });
      throw new Unavailable(`${error.message}: the root key was not replaced`);
    }
  }

  /**
   * The root key as another process left it, maybe with a seal key that only the seals open. Undefined: this server seals itself, and opens again if its seal does
   * that.
   */
  async #rootKeyAgain(): Promise<Buffer | undefined> {
    const stored = this.#sealKey && (await this.#driver.get(ROOT_KEY));
    if (!stored || !this.#sealKey) return undefined;
    try {
      return unsealWith(this.#sealKey, ROOT_KEY, stored.value);
    } catch {
      return this.opened && this.#openedAnew();
    }
  }

  async #openedAnew(): Promise<Buffer | undefined> {
    try {
      const { rootKey, sealKey, wrapsId } = await this.seals.openKeys(this.seals.enabled);
      // Sealed meanwhile.
      if (!this.#sealKey) return undefined;
      this.#sealKey = sealKey;
      this.#wrapsId = wrapsId;
      return rootKey;
    } catch (error) {
      this.#log.warn('the new keys of another server cannot be opened', { reason: String(error) });
      return undefined;
    }
  }

  async #opens({ rootKey, sealKey, wrapsId }: Omit<OpenedKeys, 'by' | 'wrapsId'> & { wrapsId: string | undefined }): Promise<void> {
    await this.#barrier.unseal(rootKey);
    this.#sealKey = sealKey;
    this.#wrapsId = wrapsId;
    rootKey.fill(0);
  }

  /** @throws BadRequest when another server changed the keys meanwhile; nothing has been written then */
  async #commit(change: Change): Promise<void> {
    try {
      await this.#driver.commit(change);
    } catch (error) {
      throw error instanceof Conflict ? new BadRequest('the keys were changed by another server meanwhile: start over') : error;
    }
  }
}

function automaticConfig(type: string, shares: number, threshold: number): SealConfig {
  return { type, secret_shares: 1, secret_threshold: 1, recovery_shares: shares, recovery_threshold: threshold };
}

function shamirConfig(shares: number, threshold: number): SealConfig {
  return { type: 'shamir', secret_shares: shares, secret_threshold: threshold };
}

function noRecoveryKeys(migrating: boolean, type: string): BadRequest {
  return new BadRequest(
    migrating
      ? `the store has no recovery keys yet, and a migration needs them: start a server with the seal ${JSON.stringify(type)} alone, and make them at sys/rotate/recovery/init`
      : `this server has no recovery keys yet: restart it, and its ${type} seal opens it`,
  );
}

/** Whether the root key is encrypted with this key. */
function opens(sealKey: Uint8Array, wrapped: Uint8Array): boolean {
  try {
    unsealWith(sealKey, ROOT_KEY, wrapped).fill(0);
    return true;
  } catch {
    return false;
  }
}

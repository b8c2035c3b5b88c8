import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { BadRequest, Unavailable, type Log } from '@strongroom/engine-sdk';
import { Conflict, type Change, type StorageDriver } from '@strongroom/storage-sdk';
import type { Barrier } from '../../kernel/barrier/barrier.ts';
import { sealWith, unsealWith } from '../../kernel/barrier/sealed-box.ts';
import { checkShares, DEFAULT_RECOVERY_SHARES, defaultThreshold, type SealConfig } from './seal-config.ts';
import { combineShares, splitKey } from './unseal-key.ts';

const CONFIG = 'core/seal-config';
const ROOT_KEY = 'core/root-key';
const RECOVERY = 'core/recovery-key';

/** A seal that opens by itself: its key comes from the configuration. */
export interface AutomaticSeal {
  /** Shown as `type`: `static`. */
  readonly type: string;
  /** 32 bytes, or where they come from: asked at each try to open. What it throws is shown to operators, and the try repeated later. */
  readonly key: Uint8Array | (() => Promise<Uint8Array>);
  /** Still opens what an earlier key closed; the next start writes it with `key`. */
  readonly previousKey?: Uint8Array;
}

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

/** Keeps the root key: split among operators (Shamir), or wrapped with a key of the configuration. */
export class Seal {
  readonly #driver: StorageDriver;
  readonly #barrier: Barrier;
  readonly #automatic: AutomaticSeal | undefined;
  readonly #log: Log;
  #shares: Buffer[] = [];
  #nonce = '';
  /** What the root key is wrapped with, while open. */
  #sealKey: Buffer | undefined;

  constructor(parts: { driver: StorageDriver; barrier: Barrier; automatic?: AutomaticSeal | undefined; log: Log }) {
    this.#driver = parts.driver;
    this.#barrier = parts.barrier;
    this.#automatic = parts.automatic;
    this.#log = parts.log;
    parts.barrier.rootKeyAgain = async () => this.#rootKeyAgain();
  }

  get type(): string {
    return this.#automatic?.type ?? 'shamir';
  }

  get automatic(): boolean {
    return this.#automatic !== undefined;
  }

  /** Shares given so far, and the attempt they belong to. */
  get progress(): { count: number; nonce: string } {
    return { count: this.#shares.length, nonce: this.#nonce };
  }

  async config(): Promise<SealConfig | undefined> {
    const stored = await this.#driver.get(CONFIG);
    return stored && (JSON.parse(Buffer.from(stored.value).toString()) as SealConfig);
  }

  /** Makes the keys of a new store; leaves the barrier open. @throws BadRequest */
  async initialize(order: InitOrder): Promise<InitResult> {
    if ((await this.config()) || (await this.#barrier.initialized())) throw new BadRequest('Vault is already initialized');
    this.#requireFitting(order);
    const shares = this.#automatic ? (order.recoveryShares ?? DEFAULT_RECOVERY_SHARES) : (order.secretShares ?? 0);
    const threshold = this.#automatic ? (order.recoveryThreshold ?? defaultThreshold(shares)) : (order.secretThreshold ?? 0);
    checkShares(shares, threshold, this.#automatic ? 'recovery' : 'seal');
    const rootKey = randomBytes(32);
    const sealKey = this.#automatic ? Buffer.from(await keyOf(this.#automatic)) : randomBytes(32);
    const config: SealConfig = this.#automatic
      ? { type: this.type, secret_shares: 1, secret_threshold: 1, recovery_shares: shares, recovery_threshold: threshold }
      : { type: this.type, secret_shares: shares, secret_threshold: threshold };
    const recoveryKey = randomBytes(32);
    await this.#barrier
      .initialize(rootKey, [
        { key: CONFIG, value: Buffer.from(JSON.stringify(config)) },
        { key: ROOT_KEY, value: sealWith(sealKey, ROOT_KEY, rootKey) },
        ...(this.#automatic ? [{ key: RECOVERY, value: sealWith(rootKey, RECOVERY, recoveryKey) }] : []),
      ])
      .catch((error: unknown) => {
        throw error instanceof Conflict ? new BadRequest('Vault is already initialized') : error;
      });
    await this.#barrier.unseal(rootKey);
    this.#sealKey = Buffer.from(sealKey);
    const split = await splitKey(this.#automatic ? recoveryKey : sealKey, shares, threshold);
    rootKey.fill(0);
    return this.#automatic ? { keys: [], recoveryKeys: split } : { keys: split, recoveryKeys: [] };
  }

  /** @throws BadRequest for what is asked of the other kind of seal */
  #requireFitting(order: InitOrder): void {
    const foreign = this.#automatic
      ? { secret_shares: order.secretShares, secret_threshold: order.secretThreshold }
      : { recovery_shares: order.recoveryShares, recovery_threshold: order.recoveryThreshold };
    const sent = Object.entries(foreign).flatMap(([name, value]) => (value ? [name] : []));
    if (sent.length > 0) throw new BadRequest(`parameters ${sent.join(',')} not applicable to seal type ${this.type}`);
  }

  /** Takes one share; opens the barrier when there are enough. Shares are dropped then, right or wrong. @throws BadRequest */
  async provide(share: Buffer): Promise<void> {
    const config = await this.config();
    if (!config) throw new BadRequest('Vault is not initialized');
    if (!this.#barrier.sealed) return;
    if (this.#automatic) {
      throw new BadRequest(
        `this server opens by itself with its ${this.type} seal, and recovery keys do not open it: see the log for why it is sealed, or restart it`,
      );
    }
    if (share.length < 16) throw new BadRequest('invalid key: key is shorter than minimum 16 bytes');
    if (share.length > 33) throw new BadRequest('invalid key: key is longer than maximum 33 bytes');
    if (this.#shares.some((known) => known.equals(share))) return;
    if (this.#shares.length === 0) this.#nonce = randomUUID();
    this.#shares.push(share);
    if (this.#shares.length < config.secret_threshold) return;
    const shares = this.#shares;
    this.reset();
    await this.#open(await joined(shares));
  }

  reset(): void {
    this.#shares = [];
    this.#nonce = '';
  }

  /** Opens with the configured key, if the seal is automatic and the store is initialised. @throws SealKeyUnavailable, BadRequest for a key that does not open it */
  async openAutomatically(): Promise<boolean> {
    if (!this.#automatic || !this.#barrier.sealed || !(await this.config())) return false;
    const { previousKey } = this.#automatic;
    const key = await keyOf(this.#automatic);
    try {
      await this.#open(Buffer.from(key));
    } catch (error) {
      if (!previousKey) throw error;
      await this.#open(Buffer.from(previousKey));
      await this.#driver.commit({ put: [{ key: ROOT_KEY, value: sealWith(key, ROOT_KEY, this.#barrier.rootKey) }] });
      this.#log.info('the seal now uses the new key');
    }
    return true;
  }

  /** Whether these shares are the operators': those that unseal, or the recovery shares of an automatic seal. */
  async proves(shares: readonly Buffer[]): Promise<boolean> {
    const key = await joined(shares);
    if (this.#automatic) {
      const stored = await this.#driver.get(RECOVERY);
      if (!stored) return false;
      const recovery = unsealWith(this.#barrier.rootKey, RECOVERY, stored.value);
      return recovery.length === key.length && timingSafeEqual(recovery, key);
    }
    const stored = await this.#driver.get(ROOT_KEY);
    return stored !== undefined && opens(key, stored.value);
  }

  /** Shares that `proves` asks for. */
  async needed(): Promise<{ shares: number; threshold: number }> {
    const config = await this.config();
    if (!config) throw new BadRequest('Vault is not initialized');
    return this.#automatic
      ? { shares: config.recovery_shares ?? 1, threshold: config.recovery_threshold ?? 1 }
      : { shares: config.secret_shares, threshold: config.secret_threshold };
  }

  /**
   * Puts a new unseal key (of an automatic seal: recovery key) in force for the same root key: the shares of the present one are worthless from here on.
   * `beside` is written in the same commit. @throws Conflict when the seal or what `beside` expects was changed by others meanwhile
   */
  async replaceKey(key: Buffer, shares: number, threshold: number, beside: Change = {}): Promise<void> {
    const config = await this.#driver.get(CONFIG);
    if (!config) throw new BadRequest('Vault is not initialized');
    const wrapped = await this.#driver.get(ROOT_KEY);
    // A root key that another process replaced before this point is found here, and one that it replaces later is a conflict.
    await this.#barrier.reload();
    const { rootKey } = this.#barrier;
    const before = JSON.parse(Buffer.from(config.value).toString()) as SealConfig;
    const next: SealConfig = this.#automatic
      ? { ...before, recovery_shares: shares, recovery_threshold: threshold }
      : { ...before, secret_shares: shares, secret_threshold: threshold };
    await this.#driver.commit({
      ...beside,
      expect: [{ key: CONFIG, version: config.version }, { key: ROOT_KEY, version: wrapped?.version }, ...(beside.expect ?? [])],
      put: [
        { key: CONFIG, value: Buffer.from(JSON.stringify(next)) },
        this.#automatic
          ? { key: RECOVERY, value: sealWith(rootKey, RECOVERY, key) }
          : { key: ROOT_KEY, value: sealWith(key, ROOT_KEY, rootKey) },
        ...(beside.put ?? []),
      ],
    });
    if (!this.#automatic) this.#sealKey = Buffer.from(key);
  }

  /** A new root key, and the key ring encrypted with it. The shares stay good: they open what the root key is wrapped in. */
  async replaceRootKey(): Promise<void> {
    if (this.#sealKey === undefined) throw new BadRequest('the root key can only be rotated by a server that was unsealed since');
    await this.#barrier.reload();
    const stored = await this.#driver.get(ROOT_KEY);
    if (!stored || !opens(this.#sealKey, stored.value)) {
      throw new BadRequest('the shares were changed by another process: seal and unseal this one first');
    }
    const rootKey = randomBytes(32);
    const beside = [{ key: ROOT_KEY, value: sealWith(this.#sealKey, ROOT_KEY, rootKey) }];
    const recovery = this.#automatic && (await this.#driver.get(RECOVERY));
    if (recovery)
      beside.push({ key: RECOVERY, value: sealWith(rootKey, RECOVERY, unsealWith(this.#barrier.rootKey, RECOVERY, recovery.value)) });
    await this.#barrier.replaceRootKey(rootKey, beside, [{ key: ROOT_KEY, version: stored.version }]);
    rootKey.fill(0);
  }

  /** Keeps what opens the store through `forget`: the result opens it once more, or resolves with false where that is not its key any more. */
  remember(): () => Promise<boolean> {
    const sealKey = this.#sealKey && Buffer.from(this.#sealKey);
    return async () => {
      try {
        if (this.#automatic) return await this.openAutomatically();
        if (sealKey) await this.#open(sealKey);
        return sealKey !== undefined;
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
    this.reset();
  }

  /** The root key as another process left it, if the key that it is wrapped in is still the same. */
  async #rootKeyAgain(): Promise<Buffer | undefined> {
    const stored = this.#sealKey && (await this.#driver.get(ROOT_KEY));
    if (!stored || !this.#sealKey) return undefined;
    try {
      return unsealWith(this.#sealKey, ROOT_KEY, stored.value);
    } catch {
      return undefined;
    }
  }

  async #open(sealKey: Buffer): Promise<void> {
    const stored = await this.#driver.get(ROOT_KEY);
    if (!stored) throw new BadRequest('Vault is not initialized');
    let rootKey: Buffer;
    try {
      rootKey = unsealWith(sealKey, ROOT_KEY, stored.value);
    } catch {
      throw new BadRequest(
        'unable to retrieve stored keys: invalid key: failed to decrypt keys from storage: cipher: message authentication failed',
      );
    }
    await this.#barrier.unseal(rootKey);
    this.#sealKey = Buffer.from(sealKey);
    rootKey.fill(0);
  }
}

/** The key of an automatic seal cannot be had now; it may come back. */
export class SealKeyUnavailable extends Unavailable {}

async function keyOf({ type, key }: AutomaticSeal): Promise<Uint8Array> {
  if (typeof key !== 'function') return key;
  try {
    return await key();
  } catch (error) {
    throw new SealKeyUnavailable(`the key of the ${type} seal cannot be had: ${(error as Error).message}`);
  }
}

/** Whether the root key is wrapped in this key. */
function opens(sealKey: Uint8Array, wrapped: Uint8Array): boolean {
  try {
    unsealWith(sealKey, ROOT_KEY, wrapped).fill(0);
    return true;
  } catch {
    return false;
  }
}

async function joined(shares: readonly Buffer[]): Promise<Buffer> {
  try {
    return await combineShares(shares);
  } catch (error) {
    throw new BadRequest(`invalid key: failed to compute combined key: ${(error as Error).message}`);
  }
}

/** A share as operators send it: hex or base64. Hex of another length than a share has may be base64. @throws BadRequest */
export function parseShare(text: string, field = "'key'"): Buffer {
  if (/^(?:[0-9a-fA-F]{2}){16,33}$/.test(text)) return Buffer.from(text, 'hex');
  const decoded = Buffer.from(text, 'base64');
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 && decoded.length > 0) return decoded;
  throw new BadRequest(`${field} must be a valid hex or base64 string`);
}

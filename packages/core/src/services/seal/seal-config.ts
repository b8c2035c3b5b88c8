import { BadRequest } from '@strongroom/engine-sdk';
import type { Entry, StorageDriver, Stored } from '@strongroom/storage-sdk';

export const SEAL_CONFIG = 'core/seal-config';
/** The root key, encrypted with the seal key. */
export const ROOT_KEY = 'core/root-key';
/** The recovery key of an automatic seal, encrypted with the root key. */
export const RECOVERY_KEY = 'core/recovery-key';

/** How the root key is kept; stored in clear below `core/seal-config`, since it is needed before anything can be decrypted. */
export interface SealConfig {
  /** `shamir`, or the type of an automatic seal. */
  type: string;
  secret_shares: number;
  secret_threshold: number;
  /** Of an automatic seal: shares that represent the operators. 0: they are not made yet. */
  recovery_shares?: number;
  recovery_threshold?: number;
}

/** Of the recovery key, where nobody says how many. */
export const DEFAULT_RECOVERY_SHARES = 5;

export function defaultThreshold(shares: number): number {
  return Math.min(3, shares);
}

/** `what` is configured: `seal`, `recovery`, or what makes new shares. @throws BadRequest with Vault's and OpenBao's texts */
export function checkShares(shares: number, threshold: number, what = 'seal'): void {
  const wrong = (text: string): never => {
    throw new BadRequest(`invalid ${what} configuration: ${text}`);
  };
  if (shares < 1) wrong('shares must be at least one');
  if (threshold < 1) wrong('threshold must be at least one');
  if (threshold > shares) wrong('threshold cannot be larger than shares');
  if (shares > 1 && threshold === 1) wrong('threshold must be greater than one for multiple shares');
  if (shares > 255) wrong('shares must be less than 256');
}

/** A configuration, and the version of its record. */
export interface StoredSealConfig {
  readonly config: SealConfig;
  readonly version: Stored['version'];
}

/** Undefined while the store is not initialized. */
export async function storedSealConfig(driver: StorageDriver): Promise<StoredSealConfig | undefined> {
  const stored = await driver.get(SEAL_CONFIG);
  return stored && { config: JSON.parse(Buffer.from(stored.value).toString()) as SealConfig, version: stored.version };
}

export function sealConfigEntry(config: SealConfig): Entry {
  return { key: SEAL_CONFIG, value: Buffer.from(JSON.stringify(config)) };
}

/** The shares that operators give: those of the unseal key, or of the recovery key of an automatic seal. */
export function operatorShares(config: SealConfig): { shares: number; threshold: number } {
  return config.type === 'shamir'
    ? { shares: config.secret_shares, threshold: config.secret_threshold }
    : { shares: config.recovery_shares ?? 1, threshold: config.recovery_threshold ?? 1 };
}

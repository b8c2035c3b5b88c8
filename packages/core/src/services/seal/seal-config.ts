import { BadRequest } from '@strongroom/engine-sdk';

/** How the root key is kept; stored in clear below `core/seal-config`, since it is needed before anything can be decrypted. */
export interface SealConfig {
  /** `shamir`, or the type of an automatic seal. */
  type: string;
  secret_shares: number;
  secret_threshold: number;
  /** Of an automatic seal: shares that represent the operators, for making a root token. */
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

import type { Right } from '../../api/rights.ts';

/** New shares that are being made, as `sys/rotate/{root,recovery}/init` tells it. */
export interface RekeyStatus {
  readonly started: boolean;
  /** Of the new shares. */
  readonly t: number;
  readonly n: number;
  /** How many of the present shares are needed. */
  readonly required: number;
  readonly nonce?: string;
  readonly progress?: number;
  readonly verification_required?: boolean;
  /** Empty until the new shares are made. */
  readonly verification_nonce?: string;
  readonly backup?: boolean;
  readonly pgp_fingerprints?: readonly string[];
}

/** The answer to a share, or to the order where no share is needed. */
export interface Rekeyed extends RekeyStatus {
  readonly complete?: boolean;
  readonly keys_base64?: readonly string[];
}

/** `root` where keyholders unseal, `recovery` where a seal opens the server by itself. */
export type RekeyKind = 'root' | 'recovery';

/** What a token needs for a step. */
export function stepRight(base: string, step: 'init' | 'update' | 'verify' | 'backup', need: Right['need']): Right {
  return { path: `${base}/${step}`, need, sudo: true };
}

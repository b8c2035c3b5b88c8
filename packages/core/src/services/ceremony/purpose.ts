import { BadRequest } from '@strongroom/engine-sdk';

/** What shares are collected for, in the words of the errors of Vault and OpenBao. */
export interface Purpose {
  /** As in `… failed; incorrect key shares supplied`. */
  readonly name: string;
  /** Behind `nonce for`. */
  readonly operation: string;
  /** Behind `provided during this`. */
  readonly during: string;
  /** Where nothing of the kind is under way. */
  readonly none: string;
}

/** Which words a rekey uses: those of `sys/rotate/…` or of `sys/rekey/…`. */
export interface RekeyPurpose extends Purpose {
  /** Between `invalid` and `configuration`. */
  readonly settings: string;
  /** Where no new shares wait for their verification, because none are being made. */
  readonly unconfigured: string;
  /** For recovery shares under a seal that has none. */
  readonly unsupported: string;
}

export const ROTATION: RekeyPurpose = {
  name: 'rotation',
  operation: 'rotation',
  during: 'rotation',
  none: 'no rotation in progress',
  settings: 'rotate seal',
  unconfigured: 'no rotation in progress',
  unsupported: 'recovery keys not supported',
};

export const REKEY: RekeyPurpose = {
  name: 'rekey',
  operation: 'this rekey operation',
  during: 'generation operation',
  none: 'no barrier rekey in progress',
  settings: 'rekey seal',
  unconfigured: 'no rekey configuration found',
  unsupported: 'recovery rekeying not supported',
};

export const ROOT_TOKEN: Purpose = {
  name: 'root generation',
  operation: 'this root generation operation',
  during: 'generation operation',
  none: 'no root generation in progress',
};

/** `tell`: the caller may know the nonce, so the refusal says what it is. @throws BadRequest for the nonce of another ceremony */
export function requireNonce(given: string, nonce: string, purpose: Pick<Purpose, 'name' | 'operation'>, tell = true): void {
  if (given === nonce) return;
  throw new BadRequest(
    tell
      ? `incorrect nonce supplied; nonce for ${purpose.operation} is ${JSON.stringify(nonce)}`
      : `incorrect nonce supplied; the answer that started this ${purpose.name} operation has the right one`,
  );
}

export function wrongShares({ name }: Pick<Purpose, 'name'>): BadRequest {
  return new BadRequest(`${name} failed; incorrect key shares supplied`);
}

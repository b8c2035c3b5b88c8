import { BadRequest } from './errors.ts';

/** A write of settings that contain an address and the secret that is sent to it. */
export interface AddressChange {
  /** Fields whose new value sends the stored secret to another place, or sends it less safely. Empty if there are none. */
  readonly changed: readonly string[];
  /** Field names of the stored secrets that the write does not send again. */
  readonly kept: readonly string[];
  /** `req.caller.sudo`: a caller with sudo may redirect a secret without knowing it. */
  readonly sudo: boolean;
}

/**
 * Refuses to send a stored secret to a new address. Otherwise, a caller who may write settings could have it sent to their own server.
 * @throws BadRequest that names the changed field and the secret to send again
 */
export function requireSecretsAgain({ changed, kept, sudo }: AddressChange): void {
  if (sudo || changed.length === 0 || kept.length === 0) return;
  const secrets = kept.join(' and ');
  throw new BadRequest(
    `${changed.join(', ')}: a new value sends the stored ${secrets} to another address; send ${secrets} again, or use a token whose policy grants sudo on this path`,
  );
}

import { BadRequest } from './errors.ts';

/** A write of settings that hold an address and the secret that is sent there. */
export interface AddressChange {
  /** Fields whose new value sends the stored secret elsewhere, or sends it less safely; empty where nothing of that kind changes. */
  readonly changed: readonly string[];
  /** Stored secrets that the write does not bring again, by field name. */
  readonly kept: readonly string[];
  /** `req.caller.sudo`: whoever has it may move a secret without knowing it. */
  readonly sudo: boolean;
}

/**
 * Keeps a stored secret from a new address: whoever may write settings could otherwise have it sent to a server of their own.
 * @throws BadRequest that names the changed field and the secret to send again
 */
export function requireSecretsAgain({ changed, kept, sudo }: AddressChange): void {
  if (sudo || changed.length === 0 || kept.length === 0) return;
  const secrets = kept.join(' and ');
  throw new BadRequest(
    `${changed.join(', ')}: a new value sends the stored ${secrets} to another address; send ${secrets} again, or use a token whose policy grants sudo on this path`,
  );
}

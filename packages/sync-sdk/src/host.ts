import type { IdentityToken, IdentityTokenOrder, Log } from '@strongroom/engine-sdk';
import type { NetworkGuard } from './network-guard.ts';

/** What the host lends a session. Deadlines, pacing, retries and redaction stay with the host. */
export interface DestinationHost<Account = unknown> {
  readonly log: Log;
  /** The host's clock, which tests move. */
  now(): Date;
  /** Every connection of the session is made through this. */
  readonly network: NetworkGuard;
  /**
   * Signs a token by which a cloud knows this destination, in place of stored credentials. Its subject ends in `sys/sync:<type>/<name>`. @throws BadRequest for an
   * unknown key. Absent: the host has no identity.
   */
  identityToken?(order: Omit<IdentityTokenOrder, 'part'>): Promise<IdentityToken>;
  /** The `cluster_id` of this server, as `sys/health` shows it: destinations that are servers of the same kind refuse to copy in circles by it. Absent: unknown. */
  readonly cluster?: string;
  /** The shared account that the connection names; see SharedAccounts. */
  readonly account?: Account;
}

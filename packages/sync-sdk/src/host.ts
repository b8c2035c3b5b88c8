import type { Log } from '@strongroom/engine-sdk';
import type { NetworkGuard } from './network-guard.ts';

/** What the host lends a session. Deadlines, pacing, retries and redaction stay with the host. */
export interface DestinationHost<Account = unknown> {
  readonly log: Log;
  /** The host's clock, which tests move. */
  now(): Date;
  /** Every connection of the session is made through this. */
  readonly network: NetworkGuard;
  /** The shared account that the connection names; see SharedAccounts. */
  readonly account?: Account;
}

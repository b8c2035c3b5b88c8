import type { ReportKind } from '@strongroom/engine-sdk';

/** What can happen: see docs/events.md. */
export type EventKind =
  | ReportKind
  | 'lease.issued'
  | 'lease.renewed'
  | 'lease.revoked'
  | 'lease.failing'
  | 'lease.irrevocable'
  | 'mount.enabled'
  | 'mount.tuned'
  | 'mount.moved'
  | 'mount.disabled'
  | 'policy.written'
  | 'policy.deleted'
  | 'circuit.opened'
  | 'circuit.closed'
  | 'login.failures'
  | 'server.unsealed'
  | 'server.stopped'
  | 'server.gone';

/** Something that happened. Names and numbers only, never a value. */
export interface CoreEvent {
  readonly kind: EventKind;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Uuid of the mount that it concerns; absent for none. */
  readonly mount?: string;
  /** Who may read one of these may see it: below the mount if there is one. Absent: everybody who may follow events. */
  readonly paths?: readonly string[];
  /** As `paths`, from the root, whether there is a mount or not. */
  readonly above?: readonly string[];
  /** The lease that it is about: who may list leases there may see it, and who holds the token with this digest. */
  readonly lease?: { readonly id: string; readonly token: string };
  /** What operators call it. */
  readonly name?: string;
  readonly version?: number;
  /** Failed attempts, denied logins. */
  readonly count?: number;
  /** The request that brought it about, where one did. */
  readonly request?: string;
}

/** An event before its time is known. */
export type NewEvent = Omit<CoreEvent, 'time'>;

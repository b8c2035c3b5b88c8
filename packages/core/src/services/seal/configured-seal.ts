import type { SealSession } from '@strongroom/seal-sdk';

/** A seal that opens by itself, as the configuration has it. */
export interface ConfiguredSeal {
  /** Shown as `type`: `awskms`. */
  readonly type: string;
  /** Unlike that of every other enabled seal; the type by default. */
  readonly name?: string;
  /** The lowest number is asked first; 1 by default. */
  readonly priority?: number;
  /** The store shall no longer be sealed with it: it only opens what is to be migrated. */
  readonly disabled?: boolean;
  /** Prepares a session, without connecting. Called when the seal is first needed, and again after it has thrown. */
  open(): Promise<SealSession>;
  readonly health?: SealHealthSettings;
}

/** How a seal is checked while the server is open. Milliseconds. */
export interface SealHealthSettings {
  readonly enabled: boolean;
  /** One check may take so long. */
  readonly timeout: number;
  readonly interval: number;
  /** Until the next check after one that failed. */
  readonly unhealthyInterval: number;
}

/** As Vault and OpenBao have them. */
export const HEALTH_DEFAULTS: SealHealthSettings = { enabled: true, timeout: 60_000, interval: 600_000, unhealthyInterval: 60_000 };

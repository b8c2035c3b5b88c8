import type { SealErrorCode } from './errors.ts';
import type { SealPlugin } from './seal-plugin.ts';

/** `describe` and `test` of Jest, Vitest or node:test. Assertions are made with node:assert. */
export interface ContractRunner {
  describe(title: string, body: () => void): unknown;
  test(title: string, run: () => Promise<void>, timeoutMs?: number): unknown;
}

/** A case that does not apply, and why. The reason is printed with every run. */
export interface ContractSkip {
  /** The exact title of a case. */
  readonly test: string;
  readonly reason: string;
}

/** A service with one key, fresh for each case: the real one, or a server that emulates it. */
export interface SealWorld {
  /** A block that opens this key, as an operator would write it. */
  readonly block: Readonly<Record<string, string>>;
  /** A block that opens another key of the same service. */
  readonly otherKey: Readonly<Record<string, string>>;
  /** Makes a new version of the key. `block` may be another one afterwards, for seals whose versions are configured. */
  rotate(): Promise<Readonly<Record<string, string>>>;
  /** From now on the service behaves so, until the result is called. */
  fail(how: SealFailure): Promise<() => Promise<void>>;
  /** Ends what was started. */
  stop(): Promise<void>;
}

/** `away`: nothing answers. `permission`: the credentials may no longer use the key. `throttled`: the service asks for a pause. */
export type SealFailure = 'away' | 'permission' | 'throttled';

/** What the host sees for each failure. */
export const FAILURE_CODES: Readonly<Record<SealFailure, SealErrorCode>> = {
  away: 'seal_unavailable',
  permission: 'seal_permission_denied',
  throttled: 'seal_throttled',
};

/** The plugin under test, and the service behind it. */
export interface SealContract {
  readonly plugin: SealPlugin;
  /** Called once for each case. */
  readonly start: () => Promise<SealWorld>;
  readonly skip?: readonly ContractSkip[];
}

import type { StorageDriver } from './driver.ts';

/** `describe` and `test` of Jest, Vitest or node:test. Assertions are made with node:assert. */
export interface ContractRunner {
  describe(title: string, body: () => void): unknown;
  test(title: string, run: () => Promise<void>, timeoutMs?: number): unknown;
}

/** A fresh, empty store and one driver over it. */
export interface ContractStore {
  readonly driver: StorageDriver;
  /** Closes `driver` and opens the same store again, as after a restart. */
  readonly reopen?: () => Promise<StorageDriver>;
  /** One more driver over the same store, as another process would have it. */
  readonly other?: () => Promise<StorageDriver>;
  /**
   * Runs `work` while `driver` reads no notifications, and removes the notifications before `driver` reads again: as if its process had
   * been stopped for longer than the store keeps notifications.
   */
  readonly missing?: (work: () => Promise<void>) => Promise<void>;
  /** Closes every driver that was handed out and removes the store. */
  cleanup(): Promise<void>;
}

/** A case that does not apply, and why. The reason is printed with every run. */
export interface ContractSkip {
  /** The exact title of a case. */
  readonly test: string;
  /** Why this driver need not pass it. */
  readonly reason: string;
}

/** The driver under test, and how it is opened. */
export interface StorageContract {
  readonly name: string;
  /** Called once for each case. */
  readonly open: () => Promise<ContractStore>;
  readonly skip?: readonly ContractSkip[];
}

export interface ContractCase {
  readonly title: string;
  run(store: ContractStore): Promise<void>;
}

import { commitCases } from './contract-commits.ts';
import { entryCases } from './contract-entries.ts';
import { lifetimeCases } from './contract-lifetime.ts';
import { rangeCases } from './contract-ranges.ts';
import { sharingCases } from './contract-sharing.ts';
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

export interface ContractSkip {
  /** The exact title of a case. */
  readonly test: string;
  /** Why this driver need not pass it. */
  readonly reason: string;
}

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

const CASE_TIMEOUT_MS = 60_000;

/**
 * Declares one test for each promise of StorageDriver.
 * @throws Error while declaring when a skip names no case or gives no reason.
 */
export function storageDriverContract(runner: ContractRunner, contract: StorageContract): void {
  const cases = [...entryCases, ...rangeCases, ...commitCases, ...lifetimeCases, ...sharingCases];
  const skipped = new Map<string, string>();
  for (const { test, reason } of contract.skip ?? []) {
    if (!cases.some(({ title }) => title === test)) throw new Error(`the storage contract has no case "${test}"`);
    if (reason.trim() === '') throw new Error(`skipping "${test}" needs a reason`);
    skipped.set(test, reason);
  }
  runner.describe(`storage driver contract: ${contract.name}`, () => {
    for (const { title, run } of cases) {
      if (skipped.has(title)) continue;
      runner.test(
        title,
        async () => {
          const store = await contract.open();
          try {
            await run(store);
          } finally {
            await store.cleanup();
          }
        },
        CASE_TIMEOUT_MS,
      );
    }
  });
}

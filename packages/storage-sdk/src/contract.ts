import { commitCases } from './contract-commits.ts';
import { copyCases } from './contract-copies.ts';
import { entryCases } from './contract-entries.ts';
import { lifetimeCases } from './contract-lifetime.ts';
import { rangeCases } from './contract-ranges.ts';
import { sharingCases } from './contract-sharing.ts';
import type { ContractRunner, StorageContract } from './storage-contract.ts';

const CASE_TIMEOUT_MS = 60_000;

/**
 * Declares one test for each promise of StorageDriver.
 * @throws Error while declaring when a skip names no case or gives no reason.
 */
export function storageDriverContract(runner: ContractRunner, contract: StorageContract): void {
  const cases = [...entryCases, ...rangeCases, ...commitCases, ...lifetimeCases, ...sharingCases, ...copyCases];
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

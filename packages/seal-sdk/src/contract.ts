import { CONTRACT_CASES } from './contract-cases.ts';
import { ContractFixture } from './contract-fixture.ts';
import type { ContractRunner, SealContract } from './seal-contract.ts';

const CASE_TIMEOUT_MS = 60_000;

/**
 * Declares one test for each promise of SealPlugin and SealSession, against the service or a server that emulates it.
 * @throws Error while declaring when a skip names no case or gives no reason.
 */
export function sealContract(runner: ContractRunner, contract: SealContract): void {
  const skipped = new Map<string, string>();
  for (const { test, reason } of contract.skip ?? []) {
    if (!CONTRACT_CASES.some(({ title }) => title === test)) throw new Error(`the seal contract has no case "${test}"`);
    if (reason.trim().split(/\s+/).length < 3) throw new Error(`skipping "${test}" needs a reason`);
    skipped.set(test, reason);
  }
  runner.describe(`seal contract: ${contract.plugin.name}`, () => {
    for (const { title, run } of CONTRACT_CASES) {
      const reason = skipped.get(title);
      if (reason === undefined) runner.test(title, async () => ContractFixture.use(contract, run), CASE_TIMEOUT_MS);
      else process.stderr.write(`seal contract of ${contract.plugin.name}: left out "${title}": ${reason}\n`);
    }
  });
}

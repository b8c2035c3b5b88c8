import assert from 'node:assert/strict';
import { contractCases } from './contract-cases.ts';
import { CONTRACT_CASES, type ContractCase } from './contract-titles.ts';
import { Fixture } from './contract-fixture.ts';
import type { Runner, EngineContract } from './engine-contract.ts';

const CASE_TIMEOUT_MS = 60_000;

/**
 * The proof an engine gives of itself: what the framework promises of every engine, tried on this one. Runs under any runner with
 * `describe` and `test`. @throws when a skip names no case or gives no reason.
 */
export function engineContract(runner: Runner, contract: EngineContract): void {
  const skipped = new Map<ContractCase, string>();
  for (const { test, reason } of contract.skip ?? []) {
    assert.ok(CONTRACT_CASES.includes(test), `the contract has no case "${test}"`);
    assert.ok(reason.trim().split(/\s+/).length >= 3, `skipping "${test}" needs a reason`);
    skipped.set(test, reason);
  }
  runner.describe(`${contract.engine.name}: engine contract`, () => {
    for (const title of CONTRACT_CASES) {
      const reason = skipped.get(title);
      if (reason !== undefined) {
        process.stderr.write(`${contract.engine.name}: skipped "${title}": ${reason}\n`);
        continue;
      }
      runner.test(
        title,
        async () => {
          const fixture = new Fixture(contract);
          try {
            await contractCases[title](fixture);
          } finally {
            await fixture.close();
          }
        },
        CASE_TIMEOUT_MS,
      );
    }
  });
}

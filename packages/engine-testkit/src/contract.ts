import assert from 'node:assert/strict';
import type { EnginePackage, Plugin } from '@strongroom/engine-sdk';
import { CONTRACT_CASES, contractCases, type ContractCase } from './contract-cases.ts';
import { Fixture } from './contract-fixture.ts';
import type { KnownNames } from './garbage.ts';
import type { ManualClock } from './manual-clock.ts';
import type { TestMount } from './mount-for-test.ts';

/** Jest's, Vitest's or node:test's own functions. */
export interface Runner {
  describe(name: string, body: () => void): unknown;
  test(name: string, body: () => Promise<void>, timeoutMs?: number): unknown;
}

/** A case that does not apply, and why. The reason is printed with every run. */
export interface ContractSkip {
  readonly test: ContractCase;
  readonly reason: string;
}

export interface EngineContract {
  readonly engine: EnginePackage;
  /** Where it is mounted; the engine's name by default. */
  readonly path?: string;
  /** Mount options, such as a version. */
  readonly options?: Readonly<Record<string, string>>;
  /** Others that the engine uses, such as database plugins. */
  readonly plugins?: readonly Plugin[];
  readonly clock?: () => ManualClock;
  /**
   * Brings a fresh mount into use: writes what there is to write and, if the engine issues anything, has it issued.
   * Resolves with the names it used, by capture: `{ name: ['readonly'] }`.
   */
  prepare(mount: TestMount): Promise<KnownNames | void>;
  /**
   * What the mount has outside after `prepare`, as `outside` of its secret types, its intents and the engine itself tells it: each of these must be in
   * the list that a forced removal answers.
   */
  readonly leavesOutside?: readonly { readonly kind: string; readonly name: RegExp }[];
  /** Patterns of paths whose garbage may reach an outside system: its failure is a 5xx that names it, and no fault. */
  readonly outside?: readonly string[];
  /** Patterns of paths whose read changes something, such as issuing a credential. */
  readonly readsWithEffect?: readonly string[];
  readonly skip?: readonly ContractSkip[];
}

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

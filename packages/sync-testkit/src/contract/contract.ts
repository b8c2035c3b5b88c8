import assert from 'node:assert/strict';
import type { TObject } from 'typebox';
import { SYNC_CONTRACT_CASES, type SyncContractCase } from './cases.ts';
import { declarationCases } from './declaration-cases.ts';
import { failureCases } from './failure-cases.ts';
import { Fixture } from './fixture.ts';
import type { Runner, SyncContractOptions } from './options.ts';
import { ownershipCases } from './ownership-cases.ts';
import { writeCases } from './write-cases.ts';

export type CaseBody<C extends TObject, A extends TObject> = (fixture: Fixture<C, A>) => Promise<void>;
export type Cases<C extends TObject, A extends TObject> = Partial<Record<SyncContractCase, CaseBody<C, A>>>;

/**
 * The proof a destination gives of itself, against the provider or a server that plays it. Which cases apply is read from the plugin's own
 * declaration; any other case left out must be named in `skip` with a reason, which is printed. Runs under any runner with
 * `describe` and `test`.
 */
export function syncDestinationContract<C extends TObject, A extends TObject>(runner: Runner, options: SyncContractOptions<C, A>): void {
  const { plugin, skip = [] } = options;
  for (const { test, reason } of skip) {
    assert.ok(SYNC_CONTRACT_CASES.includes(test), `the contract has no case "${test}"`);
    assert.ok(reason.trim().split(/\s+/).length >= 3, `skipping "${test}" needs a reason`);
  }
  const reasons = new Map<SyncContractCase, string>(skip.map(({ test, reason }) => [test, reason]));
  const bodies = { ...declarationCases, ...writeCases, ...ownershipCases, ...failureCases } as unknown as Cases<C, A>;
  runner.describe(`${plugin.name}: sync destination contract`, () => {
    for (const name of SYNC_CONTRACT_CASES) {
      if (!plugin.options.customTags && name === 'custom tags are set, and the tag of synced secrets with them') continue;
      const reason = reasons.get(name);
      if (reason !== undefined) {
        process.stderr.write(`${plugin.name}: skipped "${name}": ${reason}\n`);
        continue;
      }
      runner.test(name, () => bodies[name]!(new Fixture(options)));
    }
  });
}

import assert from 'node:assert/strict';
import type { TObject } from 'typebox';
import { SYNC_CONTRACT_CASES, type SyncContractCase } from './cases.ts';
import { declarationCases } from './declaration-cases.ts';
import { failureCases } from './failure-cases.ts';
import { Fixture } from './fixture.ts';
import { tellLeftOut } from './left-out.ts';
import type { Runner, SyncContractOptions } from './options.ts';
import { ownershipCases } from './ownership-cases.ts';
import { writeCases } from './write-cases.ts';
import type { Cases } from './case-bodies.ts';

/**
 * The proof a destination gives of itself, against the provider or a server that emulates it. Which cases apply is read from the plugin's own
 * declaration; any other case left out must be named in `skip` with a reason. Whatever is left out is printed with its reason. Runs under any runner with
 * `describe` and `test`.
 */
export function syncDestinationContract<C extends TObject, A extends TObject>(runner: Runner, options: SyncContractOptions<C, A>): void {
  const { plugin, skip = [] } = options;
  for (const { test, reason } of skip) {
    assert.ok(SYNC_CONTRACT_CASES.includes(test), `the contract has no case "${test}"`);
    assert.ok(reason.trim().split(/\s+/).length >= 3, `skipping "${test}" needs a reason`);
  }
  const reasons = new Map<SyncContractCase, string>([
    ...notApplicable(options),
    ...skip.map(({ test, reason }) => [test, reason] as const),
  ]);
  const bodies = { ...declarationCases, ...writeCases, ...ownershipCases, ...failureCases } as Cases<C, A>;
  runner.describe(`${plugin.name}: sync destination contract`, () => {
    for (const name of SYNC_CONTRACT_CASES) {
      const reason = reasons.get(name);
      if (reason === undefined) runner.test(name, () => bodies[name]!(new Fixture(options)));
      else tellLeftOut(plugin.name, name, reason);
    }
  });
}

/** What the plugin's own declaration, or the provider, rules out, and why. */
function notApplicable<C extends TObject, A extends TObject>({
  plugin,
  outside,
}: SyncContractOptions<C, A>): Map<SyncContractCase, string> {
  const reasons = new Map<SyncContractCase, string>();
  if (!plugin.options.customTags)
    reasons.set('custom tags are set, and the tag of synced secrets with them', 'secrets of this provider have no tags');
  if (!outside.softDelete) reasons.set('a soft-deleted name is recovered and then set', 'the provider deletes for good');
  return reasons;
}

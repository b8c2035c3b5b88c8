import assert from 'node:assert/strict';
import type { TObject } from 'typebox';
import { CONTRACT_CASES, type ContractCase } from './cases.ts';
import { Fixture } from './fixture.ts';
import { connectionCases } from './connection-cases.ts';
import { declarationCases } from './declaration-cases.ts';
import { lifecycleCases } from './lifecycle-cases.ts';
import { optionalCases } from './optional-cases.ts';
import { tellLeftOut } from './left-out.ts';
import { PLACEHOLDER, statementCases } from './statement-cases.ts';
import type { ContractOptions, Runner } from './options.ts';
import type { Cases } from './case-bodies.ts';

/**
 * The proof a database plugin gives of itself, against a real server. Which cases apply is read from what the plugin declares; any other
 * case left out must be named in `skip` with a reason. Whatever is left out is printed with its reason. Runs under any runner with `describe`
 * and `test`.
 */
export function databasePluginContract<C extends TObject>(runner: Runner, options: ContractOptions<C>): void {
  const { plugin, skip = [] } = options;
  for (const { test, reason } of skip) {
    assert.ok(CONTRACT_CASES.includes(test), `the contract has no case "${test}"`);
    assert.ok(reason.trim().split(/\s+/).length >= 3, `skipping "${test}" needs a reason`);
  }
  const reasons = new Map<ContractCase, string>([...notApplicable(options), ...skip.map(({ test, reason }) => [test, reason] as const)]);
  const bodies: Cases<C> = { ...declarationCases, ...connectionCases, ...statementCases, ...lifecycleCases, ...optionalCases };
  runner.describe(`${plugin.name}: database plugin contract`, () => {
    for (const name of CONTRACT_CASES) {
      const reason = reasons.get(name);
      if (reason === undefined) runner.test(name, () => bodies[name]!(new Fixture(options)));
      else tellLeftOut(plugin.name, name, reason);
    }
  });
}

/** What the plugin's own declaration rules out, and why. */
function notApplicable<C extends TObject>({ plugin: { supports, preview }, creation }: ContractOptions<C>): Map<ContractCase, string> {
  const reasons = new Map<ContractCase, string>();
  if (supports.expiry === 'native')
    reasons.set('renewUser may be absent, and does no harm where it is not', 'expiry is native, so renewal is tested by what it extends');
  else reasons.set('native expiry refuses an expired user, and renewUser extends', 'the database knows no expiry of users');
  if (supports.credentials.length === 3)
    reasons.set('a credential that is not supported is refused', 'every type of credential is supported');
  if (!supports.credentials.includes('password'))
    reasons.set('a quote, backslash or semicolon in a password works or is refused', 'passwords are not supported');
  if (!preview) reasons.set('preview shows what would be sent, and does nothing', 'the plugin has no preview');
  if (!creation.some((statement) => PLACEHOLDER.test(statement)))
    reasons.set('placeholders are substituted', 'the statements of this database hold no placeholders');
  return reasons;
}

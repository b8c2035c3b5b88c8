import assert from 'node:assert/strict';
import type { TObject } from 'typebox';
import { CONTRACT_CASES, type ContractCase } from './cases.ts';
import { Fixture } from './fixture.ts';
import { connectionCases } from './connection-cases.ts';
import { declarationCases } from './declaration-cases.ts';
import { lifecycleCases } from './lifecycle-cases.ts';
import { optionalCases } from './optional-cases.ts';
import { statementCases } from './statement-cases.ts';
import type { ContractOptions, Runner } from './options.ts';

export type CaseBody<C extends TObject> = (fixture: Fixture<C>) => Promise<void>;
export type Cases<C extends TObject> = Partial<Record<ContractCase, CaseBody<C>>>;

/**
 * The proof a database plugin gives of itself, against a real server. Which cases apply is read from the plugin's own `supports`; any other
 * case left out must be named in `skip` with a reason, which is printed. Runs under any runner with `describe` and `test`.
 */
export function databasePluginContract<C extends TObject>(runner: Runner, options: ContractOptions<C>): void {
  const { plugin, skip = [] } = options;
  for (const { test, reason } of skip) {
    assert.ok(CONTRACT_CASES.includes(test), `the contract has no case "${test}"`);
    assert.ok(reason.trim().split(/\s+/).length >= 3, `skipping "${test}" needs a reason`);
  }
  const reasons = new Map<ContractCase, string>(skip.map(({ test, reason }) => [test, reason]));
  const inapplicable = notApplicable(options);
  const bodies: Cases<C> = { ...declarationCases, ...connectionCases, ...statementCases, ...lifecycleCases, ...optionalCases };
  runner.describe(`${plugin.name}: database plugin contract`, () => {
    for (const name of CONTRACT_CASES) {
      if (inapplicable.has(name)) continue;
      const reason = reasons.get(name);
      if (reason !== undefined) {
        // The reason of a skip is part of the proof, so it is printed.
        // eslint-disable-next-line no-console
        console.warn(`${plugin.name}: skipped "${name}": ${reason}`);
        continue;
      }
      runner.test(name, () => bodies[name]!(new Fixture(options)));
    }
  });
}

/** What the plugin's own declaration rules out. */
function notApplicable<C extends TObject>({ plugin: { supports, preview } }: ContractOptions<C>): Set<ContractCase> {
  const names = new Set<ContractCase>();
  names.add(
    supports.expiry === 'native'
      ? 'renewUser may be absent, and does no harm where it is not'
      : 'native expiry refuses an expired user, and renewUser extends',
  );
  if (supports.credentials.length === 3) names.add('a credential that is not supported is refused');
  if (!supports.credentials.includes('password')) names.add('a quote, backslash or semicolon in a password works or is refused');
  if (!preview) names.add('preview shows what would be sent, and does nothing');
  return names;
}

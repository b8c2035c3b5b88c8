import { slapdMissing, startPostgres } from '@strongroom/lab';
import { orRefuse } from '../arguments.ts';
import { exitOnSignals } from '../exit-on-signals.ts';
import { checkerMissing, verdictOn } from './checker.ts';
import { consistencyArguments } from './consistency-arguments.ts';
import { consistencyRun } from './consistency-run.ts';
import type { FaultFigures } from './fault-log.ts';
import type { Fault } from './faults.ts';
import { idempotencyKeys } from './idempotency-keys.ts';
import { leaseQuotas } from './lease-quotas.ts';
import { libraryLoans } from './library-loans.ts';
import { registers } from './registers.ts';
import type { Scenario } from './scenario.ts';
import { secretIds } from './secret-ids.ts';
import { SET_UPS, setUp, type SetUp } from './set-ups.ts';
import { tokens } from './tokens.ts';
import { wrappingTokens } from './wrapping-tokens.ts';

/**
 * `npm run consistency [-- --seconds=60] [--only=lmdb|workers|postgresql|failover|etcd] [--faults=no]`: clients work through several servers on one store while things go wrong, and
 * each object's calls must be explained by one order (linearizability).
 */
const { seconds, only, faults: withFaults } = orRefuse('consistency', () => consistencyArguments(process.argv.slice(2)));
const say = (text: string): void => void process.stdout.write(`${text}\n`);

if (checkerMissing !== undefined) {
  say(checkerMissing);
  process.exit(2);
}
exitOnSignals();
const target = await startPostgres({ settings: ['max_connections=200'] });
try {
  for (const one of only === undefined ? SET_UPS : [setUp(only)]) {
    if (one.missing === undefined) await check(one);
    else say(`${one.title} is left out: ${one.missing}`);
  }
} finally {
  await target.stop();
}

/** A fault that never struck proves nothing, and fails the run. */
function sayFaults(faults: readonly Fault[], figures: readonly FaultFigures[]): void {
  say('  | Fault | Times | Slowest answer |\n  | --- | --- | --- |');
  for (const { name } of faults) {
    const { struck, slowest } = figures.find((one) => one.name === name) ?? { struck: 0, slowest: 0 };
    say(`  | ${name} | ${struck} | ${(slowest / 1_000).toFixed(1)} s |`);
    if (struck === 0) process.exitCode = 1;
  }
}

async function check({ title, start }: SetUp): Promise<void> {
  const loans = slapdMissing === undefined ? [await libraryLoans()] : [];
  const scenarios: Scenario[] = [registers(), tokens(), wrappingTokens(), secretIds(), idempotencyKeys(target), leaseQuotas(), ...loans];
  say(`${title}, ${seconds} s`);
  const { cluster, faults: all, stop } = await start();
  try {
    const faults = withFaults ? all : [];
    const began = performance.now();
    const { history, faults: struck } = await consistencyRun(cluster, scenarios, {
      seconds,
      faults,
      onFault: (name) => say(`  ${((performance.now() - began) / 1_000).toFixed(1)} s: ${name}`),
    });
    const verdict = await verdictOn(history.calls);
    for (const [model, calls] of Object.entries(verdict.calls)) say(`  ${model}: ${calls} calls of ${verdict.objects[model]} objects`);
    say(`  ${history.unknown} calls without a known effect`);
    sayFaults(faults, struck.figures(history.calls));
    for (const { client } of cluster.nodes) for (const [reason, count] of client.doubts) say(`    ${count}: ${reason}`);
    for (const object of verdict.illegal) {
      say(`  NOT EXPLAINED: ${object}`);
      for (const call of history.calls) if (`${call.model} ${call.key}` === object) say(`    ${JSON.stringify(call)}`);
    }
    for (const object of verdict.unknown) say(`  not decided in time: ${object}`);
    if (verdict.illegal.length > 0 || verdict.unknown.length > 0) process.exitCode = 1;
    else say('  linearizable');
  } finally {
    for (const scenario of scenarios) await scenario.close?.();
    await stop();
  }
}

import { expect } from '@jest/globals';
import { slapdMissing, type PostgresServer } from '@strongroom/lab';
import { verdictOn } from '../src/consistency/checker.ts';
import { consistencyRun, type ConsistencyReport } from '../src/consistency/consistency-run.ts';
import { idempotencyKeys } from '../src/consistency/idempotency-keys.ts';
import { leaseQuotas } from '../src/consistency/lease-quotas.ts';
import { libraryLoans } from '../src/consistency/library-loans.ts';
import { registers } from '../src/consistency/registers.ts';
import { secretIds } from '../src/consistency/secret-ids.ts';
import type { Started } from '../src/consistency/set-ups.ts';
import { tokens } from '../src/consistency/tokens.ts';
import { wrappingTokens } from '../src/consistency/wrapping-tokens.ts';
import type { Model } from '../src/consistency/history.ts';
import type { Verdict } from '../src/consistency/checker.ts';

/** Seconds of load: long enough for each fault to happen a few times. */
const SECONDS = 60;

/** What a run found. */
export interface CheckedRun extends ConsistencyReport {
  readonly verdict: Verdict;
  /** The kinds of faults that the set-up has. */
  readonly kinds: readonly string[];
}

/** Works through all nodes while the faults happen, and has every answer checked. `database`: the one that credentials are for. */
export async function checkedRun({ cluster, faults }: Started, database: PostgresServer): Promise<CheckedRun> {
  const loans = slapdMissing === undefined ? [await libraryLoans()] : [];
  try {
    const scenarios = [registers(), tokens(), wrappingTokens(), secretIds(), idempotencyKeys(database), leaseQuotas(), ...loans];
    const report = await consistencyRun(cluster, scenarios, { seconds: SECONDS, faults });
    return { ...report, verdict: await verdictOn(report.history.calls), kinds: faults.map(({ name }) => name) };
  } finally {
    for (const scenario of loans) await scenario.close?.();
  }
}

const MODELS: readonly Model[] = [
  'register',
  'token',
  'once',
  'uses',
  'repeat',
  'quota',
  ...(slapdMissing === undefined ? ['loan' as const] : []),
];

/** Each kind of object was called often enough, every kind of fault struck, and every call is explained. */
export function expectExplained({ history, faults, verdict, kinds }: CheckedRun, calls: number): void {
  expect([verdict.illegal, verdict.unknown]).toEqual([[], []]);
  const rare = MODELS.filter((model) => !(verdict.calls[model]! > calls));
  expect({ rare, calls: verdict.calls }).toMatchObject({ rare: [] });
  expect([...faults.names].toSorted()).toEqual([...kinds].toSorted());
  // Faults that hit nothing would prove nothing.
  expect(history.unknown).toBeGreaterThan(0);
}

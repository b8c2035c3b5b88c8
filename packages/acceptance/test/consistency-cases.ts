import { expect } from '@jest/globals';
import { slapdMissing, type PostgresServer } from '@strongroom/lab';
import { verdictOn } from '../src/consistency/checker.ts';
import { consistencyRun } from '../src/consistency/consistency-run.ts';
import { idempotencyKeys } from '../src/consistency/idempotency-keys.ts';
import { leaseQuotas } from '../src/consistency/lease-quotas.ts';
import { libraryLoans } from '../src/consistency/library-loans.ts';
import { registers } from '../src/consistency/registers.ts';
import { secretIds } from '../src/consistency/secret-ids.ts';
import type { Started } from '../src/consistency/set-ups.ts';
import { tokens } from '../src/consistency/tokens.ts';
import { wrappingTokens } from '../src/consistency/wrapping-tokens.ts';
import type { History } from '../src/consistency/history.ts';
import type { Verdict } from '../src/consistency/checker.ts';

/** Seconds of load: long enough for each fault to happen a few times. */
const SECONDS = 60;

/** Works through all nodes while the faults happen, and has every answer checked. `database`: the one that credentials are for. */
export async function checkedRun({ cluster, faults }: Started, database: PostgresServer): Promise<{ history: History; verdict: Verdict }> {
  const loans = slapdMissing === undefined ? [await libraryLoans()] : [];
  try {
    const scenarios = [registers(), tokens(), wrappingTokens(), secretIds(), idempotencyKeys(database), leaseQuotas(), ...loans];
    const history = await consistencyRun(cluster, scenarios, { seconds: SECONDS, faults });
    return { history, verdict: await verdictOn(history.calls) };
  } finally {
    for (const scenario of loans) await scenario.close?.();
  }
}

/** Each kind of object was called often enough, and every call is explained. */
export function expectExplained(history: History, verdict: Verdict, calls: number): void {
  expect([verdict.illegal, verdict.unknown]).toEqual([[], []]);
  for (const model of ['register', 'token', 'once', 'uses', 'repeat', 'quota']) expect(verdict.calls[model]).toBeGreaterThan(calls);
  // Faults that hit nothing would prove nothing.
  expect(history.unknown).toBeGreaterThan(0);
}

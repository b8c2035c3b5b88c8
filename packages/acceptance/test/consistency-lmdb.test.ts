import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import { checkerMissing, verdictOn } from '../src/consistency/checker.ts';
import type { RecordedCall } from '../src/consistency/history.ts';
import { setUp, type Started } from '../src/consistency/set-ups.ts';
import { checkedRun, expectExplained } from './consistency-cases.ts';

const describeWithChecker = checkerMissing === undefined ? describe : describe.skip;

describeWithChecker(
  `two processes on one LMDB folder, and beside them a server with two workers${checkerMissing === undefined ? '' : ` (skipped: ${checkerMissing})`}`,
  () => {
    let database: PostgresServer;
    let started: readonly Started[];
    let calls: readonly RecordedCall[];
    beforeAll(async () => {
      database = await startPostgres({ settings: ['max_connections=200'] });
      started = [await setUp('lmdb').start(), await setUp('workers').start()];
    }, 120_000);
    afterAll(async () => {
      await Promise.all((started ?? []).map((one) => one.stop()));
      await database?.stop();
    }, 60_000);

    test('answer as one, while they freeze, are killed and start again', async () => {
      const runs = await Promise.all(started.map((one) => checkedRun(one, database)));
      for (const run of runs) expectExplained(run, 50);
      ({ calls } = runs[0]!.history);
    }, 240_000);

    // A check that explains everything would prove nothing: one answer is changed to what a faulty server could say.
    test.each([
      ['a read of the previous version', 'register', (call: RecordedCall) => call.input.op === 'read' && call.output!.version! > 2, stale],
      ['a write that was lost', 'register', (call: RecordedCall) => call.input.op === 'write' && call.output?.ok === true, lost],
      ['a revoked token that is alive', 'token', (call: RecordedCall) => call.output?.ok === false, succeeded],
      ['a second unwrapping', 'once', (call: RecordedCall) => call.output?.ok === false, succeeded],
      ['a login more than a secret id is good for', 'uses', (call: RecordedCall) => call.output?.ok === false, succeeded],
      ['a token above the cap', 'quota', (call: RecordedCall) => call.output?.ok === false, belated],
      ['two leases for one idempotency key', 'repeat', (call: RecordedCall) => call.output?.ok === true, another],
    ] as const)('of such a history, %s is not explained', async (_fault, model, fits, change) => {
      const [key, place] = changeable(calls, model, fits, change === belated);
      const changed = calls.filter((call) => call.model === model && call.key === key);
      expect((await verdictOn(changed)).illegal).toEqual([]);
      const faulty = changed.map((call) => (call === place ? change(call) : call));
      expect((await verdictOn(faulty)).illegal).toEqual([`${model} ${key}`]);
    });

    test('an account that is lent twice is not explained, and one that came back in between is', async () => {
      const [first, between, second] = [loan(1, 'check-out'), loan(2, 'check-in'), loan(3, 'check-out')];
      expect((await verdictOn([first, between, second])).illegal).toEqual([]);
      expect((await verdictOn([first, second])).illegal).toEqual(['loan account']);
    });
  },
);

/**
 * A call of an object whose every effect is known, made when nothing else was under way: there is no other explanation of it. One that is moved away from the
 * others may have been made beside them.
 */
function changeable(
  calls: readonly RecordedCall[],
  model: string,
  fits: (call: RecordedCall) => boolean,
  isMoved: boolean,
): [string, RecordedCall] {
  const ofModel = calls.filter((call) => call.model === model);
  for (const call of ofModel) {
    const others = ofModel.filter((other) => other.key === call.key && other !== call);
    if (!call.output || !fits(call) || others.length < 2 || others.some((other) => other.return === 0)) continue;
    const isAlone = others.every((other) => other.return < call.call || other.call > call.return);
    if (isAlone || isMoved) return [call.key, call];
  }
  throw new Error(`no ${model} had a call that could be changed`);
}

function stale(call: RecordedCall): RecordedCall {
  return { ...call, output: { ...call.output!, version: call.output!.version! - 1 } };
}

function lost(call: RecordedCall): RecordedCall {
  return { ...call, output: { ...call.output!, version: call.output!.version! + 1 } };
}

function succeeded(call: RecordedCall): RecordedCall {
  return { ...call, output: { ok: true } };
}

/** Long after the cap was reached. */
function belated(call: RecordedCall): RecordedCall {
  const [later, output] = [20e9, { ok: true }];
  return { ...call, call: call.call + later, return: call.return + later, output };
}

function another(call: RecordedCall): RecordedCall {
  return { ...call, output: { ok: true, value: 'another lease' } };
}

function loan(at: number, op: string): RecordedCall {
  return { model: 'loan', key: 'account', client: at, call: at * 10, return: at * 10 + 5, input: { op }, output: { ok: true, version: 1 } };
}

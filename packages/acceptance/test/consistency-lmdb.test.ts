import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import { checkerMissing, verdictOn } from '../src/consistency/checker.ts';
import { lmdbCluster, type Cluster } from '../src/consistency/cluster.ts';
import { processFaults } from '../src/consistency/faults.ts';
import type { RecordedCall } from '../src/consistency/history.ts';
import { checkedRun } from './consistency-cases.ts';

const describeWithChecker = checkerMissing === undefined ? describe : describe.skip;

describeWithChecker(`two processes on one LMDB folder${checkerMissing === undefined ? '' : ` (skipped: ${checkerMissing})`}`, () => {
  let database: PostgresServer;
  let cluster: Cluster;
  let calls: readonly RecordedCall[];
  beforeAll(async () => {
    database = await startPostgres({ settings: ['max_connections=200'] });
    cluster = await lmdbCluster(2);
  }, 120_000);
  afterAll(async () => {
    await cluster?.close();
    await database?.stop();
  }, 60_000);

  test('answer as one, while they freeze, are killed and start again', async () => {
    const { history, verdict } = await checkedRun(cluster, processFaults(cluster), database);
    expect([verdict.illegal, verdict.unknown]).toEqual([[], []]);
    for (const model of ['register', 'token', 'once', 'uses', 'repeat']) expect(verdict.calls[model]).toBeGreaterThan(50);
    // Faults that hit nothing would prove nothing.
    expect(history.unknown).toBeGreaterThan(0);
    ({ calls } = history);
  }, 180_000);

  // A check that explains everything would prove nothing: one answer is changed to what a faulty server could say.
  test.each([
    ['a read of the previous version', 'register', (call: RecordedCall) => call.input.op === 'read' && call.output!.version! > 2, stale],
    ['a write that was lost', 'register', (call: RecordedCall) => call.input.op === 'write' && call.output?.ok === true, lost],
    ['a revoked token that is alive', 'token', (call: RecordedCall) => call.output?.ok === false, succeeded],
    ['a second unwrapping', 'once', (call: RecordedCall) => call.output?.ok === false, succeeded],
    ['a login more than a secret id is good for', 'uses', (call: RecordedCall) => call.output?.ok === false, succeeded],
    ['two leases for one idempotency key', 'repeat', (call: RecordedCall) => call.output?.ok === true, another],
  ] as const)('of such a history, %s is not explained', async (_fault, model, fits, change) => {
    const [key, place] = changeable(calls, model, fits);
    const changed = calls.filter((call) => call.model === model && call.key === key);
    expect((await verdictOn(changed)).illegal).toEqual([]);
    const faulty = changed.map((call) => (call === place ? change(call) : call));
    expect((await verdictOn(faulty)).illegal).toEqual([`${model} ${key}`]);
  });
});

/** A call of an object whose every effect is known, made when nothing else was under way: there is no other explanation of it. */
function changeable(calls: readonly RecordedCall[], model: string, fits: (call: RecordedCall) => boolean): [string, RecordedCall] {
  const ofModel = calls.filter((call) => call.model === model);
  for (const call of ofModel) {
    const others = ofModel.filter((other) => other.key === call.key && other !== call);
    if (!call.output || !fits(call) || others.length < 2 || others.some((other) => other.return === 0)) continue;
    if (others.every((other) => other.return < call.call || other.call > call.return)) return [call.key, call];
  }
  throw new Error(`no ${model} was alone with a call that could be changed`);
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

function another(call: RecordedCall): RecordedCall {
  return { ...call, output: { ok: true, value: 'another lease' } };
}

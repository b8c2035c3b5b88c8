import { expect, test } from '@jest/globals';
import { FaultLog } from '../src/consistency/fault-log.ts';
import type { RecordedCall } from '../src/consistency/history.ts';

/** Times in milliseconds; 0 is a call that was never answered. */
function call(called: number, answered: number): RecordedCall {
  return { model: 'token', key: 'a', client: 1, call: called * 1e6, return: answered * 1e6, input: { op: 'use' }, output: { ok: true } };
}

test('a kind of fault has the slowest answer of the calls that were under way between it and the next fault', () => {
  const log = new FaultLog();
  log.struck('frozen', 100);
  log.struck('cut', 200);
  log.struck('frozen', 300);
  const calls = [call(10, 90), call(90, 120), call(150, 240), call(310, 315), call(320, 0)];
  expect(log.figures(calls)).toEqual([
    { name: 'frozen', struck: 2, slowest: 90 },
    { name: 'cut', struck: 1, slowest: 90 },
  ]);
  expect([...log.names]).toEqual(['frozen', 'cut']);
});

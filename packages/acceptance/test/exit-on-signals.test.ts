import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { exitOnSignals } from '../src/exit-on-signals.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

let now = 0;
let exit: jest.SpiedFunction<typeof process.exit>;
/** Ends what a run cleans up. */
let cleaned: () => void;

beforeEach(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  exit = jest.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  const cleaning = new Promise<void>((resolve) => (cleaned = resolve));
  exitOnSignals(async () => cleaning);
});
afterEach(() => {
  for (const signal of SIGNALS) process.removeAllListeners(signal);
  jest.restoreAllMocks();
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('a run that gets %s, twice because its parent passes it on, cleans up before it ends', async (signal, code) => {
  process.emit(signal, signal);
  now += 50;
  process.emit(signal, signal);
  expect(exit).not.toHaveBeenCalled();
  cleaned();
  await new Promise(setImmediate);
  expect(exit.mock.calls).toEqual([[code]]);
});

test('a run that gets another signal later does not wait for what it cleans up', () => {
  process.emit('SIGTERM', 'SIGTERM');
  now += 1_500;
  process.emit('SIGINT', 'SIGINT');
  expect(exit.mock.calls).toEqual([[130]]);
});

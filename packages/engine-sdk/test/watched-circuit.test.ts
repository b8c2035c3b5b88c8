import { expect, test } from '@jest/globals';
import { BadRequest, reasonToWait, shownCircuit, shownFailure, UpstreamFailed, WatchedCircuit, type Circuit } from '../src/index.ts';

class Answered extends UpstreamFailed {
  override readonly answered = true;
}

const closed = { state: 'closed', failures: 0 } as const;
const open = { state: 'open', failures: 5, since: new Date(0), nextTry: new Date(5_000) } as const;

const never = new AbortController().signal;

function watched(status: ReturnType<Circuit['status']> = closed): WatchedCircuit {
  const circuit: Circuit = {
    check: () => undefined,
    call: async (_signal, work) => work(),
    isBackground: () => false,
    configure: () => undefined,
    status: () => status,
    reset: () => undefined,
  };
  return new WatchedCircuit(circuit, { millis: () => 1_000 }, (error) => (error as Error).message);
}

const failed = async (circuit: WatchedCircuit, error: Error, signal = never): Promise<void> =>
  expect(circuit.call(signal, async () => Promise.reject(error))).rejects.toBe(error);

test('a watched circuit breaker remembers what it counts as a failure, and goes on remembering it', async () => {
  const circuit = watched();
  expect(circuit.lastFailure).toBeUndefined();
  await failed(circuit, new UpstreamFailed('it is gone'));
  expect(await circuit.call(never, async () => Promise.resolve(7))).toBe(7);
  expect(circuit.lastFailure).toEqual({ message: 'it is gone', at: 1_000 });
  await failed(circuit, new Error('a bug'));
  expect(circuit.lastFailure).toEqual({ message: 'a bug', at: 1_000 });
});

test('a refusal, a wrong request and a request that has ended are no failures of the system', async () => {
  const circuit = watched();
  await failed(circuit, new Answered('refused'));
  await failed(circuit, new BadRequest('wrong'));
  await failed(circuit, new Error('ended'), AbortSignal.abort());
  expect(circuit.lastFailure).toBeUndefined();
});

test('an open circuit breaker is the reason to wait, with the last failure where it is known', () => {
  const until = 'its circuit breaker is open until 1970-01-01T00:00:05.000Z after 5 failures in a row';
  expect(reasonToWait(watched().status(), { message: 'gone', at: 0 })).toBeUndefined();
  expect(reasonToWait(watched(open).status(), undefined)).toBe(until);
  expect(reasonToWait(open, { message: 'gone', at: 0 })).toBe(`${until}: gone`);
});

test('answers show null for what there is not', () => {
  expect(shownCircuit(closed)).toEqual({ state: 'closed', failures: 0, since: null, next_try: null });
  expect(shownCircuit(open)).toMatchObject({ since: '1970-01-01T00:00:00.000Z', next_try: '1970-01-01T00:00:05.000Z' });
  expect(shownFailure(undefined)).toBeNull();
  expect(shownFailure({ message: 'gone', at: 0 })).toEqual({ message: 'gone', time: '1970-01-01T00:00:00.000Z' });
});

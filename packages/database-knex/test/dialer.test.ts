import { expect, test } from '@jest/globals';
import { Dialer, NotConnected, serverAnswers } from '../src/index.ts';

const answers = serverAnswers({
  code: (error) => (error as { number?: number }).number,
  text: () => undefined,
  credential: [1045],
  barred: [1130],
  isFarewell: (code) => code === 1040,
});
const refused = (number: number, text: string): Error => Object.assign(new Error(text), { number });

test('tries the candidates in order, and begins the next time with what worked last', async () => {
  const tried: string[] = [];
  const connect = async (candidate: string): Promise<{ to: string }> => {
    tried.push(candidate);
    if (candidate === 'a') throw new Error('no route');
    return { to: candidate };
  };
  const dialer = new Dialer({ candidates: ['a', 'b', 'c'], answers, connect, placeOf: (candidate) => candidate });
  expect(await dialer.dial()).toEqual({ to: 'b' });
  expect(await dialer.dial()).toEqual({ to: 'b' });
  expect(tried).toEqual(['a', 'b', 'b']);
});

test('says what happened at each candidate, and goes no further where the server has refused', async () => {
  const errors = [new Error('no route'), refused(1040, 'too many connections'), refused(1045, 'wrong password'), new Error('never tried')];
  let next = 0;
  const connect = async (): Promise<object> => Promise.reject(errors[next++]!);
  const dialer = new Dialer({
    candidates: [1, 2, 3, 4],
    answers,
    connect,
    placeOf: (candidate) => `host-${candidate}`,
    prefix: 'failed: ',
  });
  const thrown: unknown = await dialer.dial().catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(NotConnected);
  expect(thrown).toMatchObject({
    login: 'credential',
    cause: { message: 'failed: host-1: no route; host-2: too many connections; host-3: wrong password' },
  });
});

test('abandons a connection that cannot be made ready', async () => {
  const abandoned: object[] = [];
  const connection = {};
  const prepare = async (): Promise<void> => Promise.reject(new Error('the server is a standby'));
  const dialer = new Dialer({
    candidates: ['a'],
    answers,
    connect: async () => connection,
    prepare,
    abandon: (one) => void abandoned.push(one),
    placeOf: (candidate) => candidate,
  });
  await expect(dialer.dial()).rejects.toMatchObject({ cause: { message: 'a: the server is a standby' }, login: 'unreachable' });
  expect(abandoned).toEqual([connection]);
});

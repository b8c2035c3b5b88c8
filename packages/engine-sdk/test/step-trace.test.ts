import { describe, expect, test } from '@jest/globals';
import { BadRequest, StepFailed, StepTrace, untilStepFails, type StepReport } from '../src/index.ts';

interface Facts {
  readonly url?: string;
  readonly reason?: string;
}
const reasonFor = (error: unknown): unknown => {
  if (error instanceof TypeError) throw error;
  return error;
};

describe('the steps of a test', () => {
  test('are reported with what is known of them and how long they took', async () => {
    const { trace, steps, clock } = tracing();
    const work = async (): Promise<string> => Promise.resolve().then(() => clock.passes(7, 'found'));
    expect(await trace.take('look', work, { facts: (url) => ({ url }), reasonFor })).toBe('found');
    expect(await trace.take('count', () => clock.passes(2, 3), { reasonFor })).toBe(3);
    expect(steps).toEqual([
      { step: 'look', ok: true, milliseconds: 7, url: 'found' },
      { step: 'count', ok: true, milliseconds: 2 },
    ]);
  });

  test('end with the first that fails, and say nothing of who is to blame', async () => {
    const { trace, steps, clock } = tracing();
    const reached: string[] = [];
    const walk = async (): Promise<string> => {
      await trace.take('look', () => clock.passes(1, undefined), { reasonFor });
      await trace.take(
        'count',
        () => {
          clock.passes(4, undefined);
          throw new BadRequest('too many');
        },
        { reasonFor },
      );
      reached.push('the end');
      return 'done';
    };
    expect(await untilStepFails(walk)).toBeUndefined();
    expect(reached).toEqual([]);
    expect(steps).toEqual([
      { step: 'look', ok: true, milliseconds: 1 },
      { step: 'count', ok: false, milliseconds: 4, error: 'too many', reason: 'meaning of too many' },
    ]);
  });

  test('give the result of a walk that passes', async () => {
    const { trace } = tracing();
    expect(await untilStepFails(async () => trace.take('look', () => 'found', { reasonFor }))).toBe('found');
  });

  test('do not swallow what is no failure of a step', async () => {
    const { trace, steps } = tracing();
    const bug = new TypeError('a bug');
    const walk = async (): Promise<unknown> =>
      trace.take(
        'look',
        () => {
          throw bug;
        },
        { reasonFor },
      );
    await expect(untilStepFails(walk)).rejects.toBe(bug);
    expect(steps).toEqual([]);
  });

  test('do not report a step as failed that passed, where what is known of it cannot be told', async () => {
    const { trace, steps } = tracing();
    const facts = (): Facts => {
      throw new Error('no facts');
    };
    await expect(trace.take('look', () => 'found', { facts, reasonFor })).rejects.toThrow('no facts');
    expect(steps).toEqual([]);
  });

  test('can be reported as failed by hand, and the error that ends the walk knows why', () => {
    const { trace, steps, clock } = tracing();
    const since = trace.start();
    clock.passes(9, undefined);
    const reason = new Error('no route');
    const failed = trace.stopped('look', since, { url: 'ldap://here' }, reason);
    expect(failed).toBeInstanceOf(StepFailed);
    expect(failed.cause).toBe(reason);
    expect(steps).toEqual([
      { step: 'look', ok: false, milliseconds: 9, url: 'ldap://here', error: 'no route', reason: 'meaning of no route' },
    ]);
  });

  test('say who is to blame where the caller gets an answer', () => {
    const { trace, steps } = tracing();
    const answer = new BadRequest('wrong name');
    expect(trace.failed('look', trace.start(), {}, 'no entry', answer)).toBe(answer);
    expect(steps).toMatchObject([{ step: 'look', ok: false, error: 'no entry', fault: false }]);
  });
});

function tracing() {
  let now = 1_000;
  const clock = {
    now: () => new Date(now),
    millis: () => now,
    passes: <T>(milliseconds: number, value: T): T => {
      now += milliseconds;
      return value;
    },
  };
  const steps: StepReport<'look' | 'count', Facts>[] = [];
  const meaning = (reason: unknown): Facts => (reason instanceof Error ? { reason: `meaning of ${reason.message}` } : {});
  const trace = new StepTrace<'look' | 'count', Facts>(clock as never, (report) => steps.push(report), meaning);
  return { trace, steps, clock };
}

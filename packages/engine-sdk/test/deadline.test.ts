import { getMaxListeners } from 'node:events';
import { describe, expect, jest, test } from '@jest/globals';
import { abortable, Deadline, DeadlineIgnored, waitAtMost, withDeadline } from '../src/index.ts';
import { manualClock } from './manual-clock.ts';

const never = async (): Promise<never> => new Promise(() => undefined);

describe('withDeadline', () => {
  test('answers what the work answers, and leaves no timer and no listener behind', async () => {
    const clock = manualClock();
    const after = jest.spyOn(clock, 'after');
    const parent = new AbortController();
    const removed = jest.spyOn(parent.signal, 'removeEventListener');
    let limit!: AbortSignal;
    const work = async (signal: AbortSignal): Promise<number> => {
      limit = signal;
      return 1;
    };
    expect(await withDeadline({ clock, millis: 1_000, parent: parent.signal }, work)).toBe(1);
    await clock.advance(60_000);
    parent.abort();
    expect(limit.aborted).toBe(false);
    expect(after).toHaveBeenCalledTimes(1);
    expect(removed).toHaveBeenCalledTimes(1);
  });

  test('aborts the signal and rejects at once when the time is over; a late outcome is ignored', async () => {
    const clock = manualClock();
    let limit!: AbortSignal;
    let fail!: (error: Error) => void;
    const outcome = withDeadline({ clock, millis: 60_000 }, async (signal) => {
      limit = signal;
      return new Promise((_, reject) => (fail = reject));
    });
    const settled = expect(outcome).rejects.toThrow('no answer within 60 s');
    await clock.advance(60_000);
    await settled;
    expect(limit.reason).toEqual(new Error('no answer within 60 s'));
    fail(new Error('too late'));
  });

  test('ends sooner with the reason of its parent, and does not begin where that has ended', async () => {
    const clock = manualClock();
    const parent = new AbortController();
    const outcome = withDeadline({ clock, millis: 60_000, parent: parent.signal }, never);
    parent.abort(new Error('the server is stopping'));
    await expect(outcome).rejects.toThrow('the server is stopping');
    const work = jest.fn(never);
    await expect(withDeadline({ clock, millis: 60_000, parent: parent.signal }, work)).rejects.toThrow('the server is stopping');
    expect(work).not.toHaveBeenCalled();
  });

  test('with a grace, what the work answers after its signal still counts, and work that does not end is distinguished', async () => {
    const clock = manualClock();
    const options = { clock, millis: 1_000, grace: 5_000, passed: () => new Error('over') };
    const obedient = withDeadline(
      options,
      async (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('put away'))),
    );
    await clock.advance(1_000);
    expect(await obedient).toBe('put away');

    const deaf = withDeadline(options, never);
    const ignored = deaf.catch((error: unknown) => error);
    await clock.advance(1_000);
    await clock.advance(4_900);
    expect(await Promise.race([ignored, Promise.resolve('waiting')])).toBe('waiting');
    await clock.advance(100);
    const error = await ignored;
    expect(error).toBeInstanceOf(DeadlineIgnored);
    expect((error as Error).cause).toEqual(new Error('over'));
  });

  test('with an infinite grace, it waits for the work', async () => {
    const clock = manualClock();
    let end!: (value: number) => void;
    const outcome = withDeadline({ clock, millis: 1_000, grace: Infinity }, async () => new Promise<number>((resolve) => (end = resolve)));
    await clock.advance(3_600_000);
    end(7);
    expect(await outcome).toBe(7);
  });
});

describe('waitAtMost', () => {
  test('gives what the work gives, its failure, or undefined when that takes too long', async () => {
    const clock = manualClock();
    expect(await waitAtMost(clock, 1_000, Promise.resolve(1))).toBe(1);
    await expect(waitAtMost(clock, 1_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
    const late = waitAtMost(clock, 1_000, never());
    await clock.advance(1_000);
    expect(await late).toBeUndefined();
  });
});

describe('abortable', () => {
  test('hands on the result of the work', async () => {
    expect(await abortable(new AbortController().signal, Promise.resolve(1))).toBe(1);
    await expect(abortable(new AbortController().signal, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  test('rejects at once when the signal is aborted, before or during the work', async () => {
    const controller = new AbortController();
    const onAbort = jest.fn();
    const waiting = abortable(controller.signal, new Promise(() => undefined), onAbort);
    controller.abort(new Error('deadline'));
    await expect(waiting).rejects.toThrow('deadline');
    await expect(abortable(controller.signal, Promise.reject(new Error('later')), onAbort)).rejects.toThrow('deadline');
    expect(onAbort).toHaveBeenCalledTimes(2);
  });
});

describe('Deadline', () => {
  test('makes its signal when somebody asks for it, also after the end; the first reason counts', async () => {
    const deadline = new Deadline();
    const outcome = deadline.guard(never);
    deadline.end(new Error('first'));
    deadline.end(new Error('second'));
    await expect(outcome).rejects.toThrow('first');
    expect(deadline.signal.reason).toEqual(new Error('first'));
  });

  test('has a signal that ends any number of pieces of work', () => {
    expect(getMaxListeners(new Deadline().signal)).toBe(Infinity);
  });

  test('rejects where the work throws at once, and has ended then', async () => {
    const ended = jest.fn();
    const work = (): Promise<void> => {
      throw new Error('no');
    };
    await expect(new Deadline().guard(work, { ended })).rejects.toThrow('no');
    expect(ended).toHaveBeenCalledTimes(1);
  });
});

test('a signal that ends many pieces of work is still one that fetch accepts', async () => {
  const { signal } = new AbortController();
  await withDeadline({ clock: manualClock(), millis: 1_000, parent: signal }, async () => undefined);
  expect(getMaxListeners(signal)).toBe(Infinity);
});

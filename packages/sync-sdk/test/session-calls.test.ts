import { describe, expect, test } from '@jest/globals';
import { AddressRefused, ExternalServiceError, NameTaken, SessionCalls } from '../src/index.ts';

const never = new AbortController().signal;
const translate = (error: unknown) => new ExternalServiceError(`the provider says: ${(error as Error).message}`);
const failing = (error: Error) => async () => {
  throw error;
};

describe('SessionCalls', () => {
  test('translates what a library throws, and leaves errors of the package alone', async () => {
    const calls = new SessionCalls(translate);
    expect(await calls.run(never, async () => 'done')).toBe('done');
    await expect(calls.run(never, failing(new Error('no')))).rejects.toMatchObject({
      code: 'external_service',
      message: 'the provider says: no',
    });
    const taken = new NameTaken('somebody was faster');
    await expect(calls.run(never, failing(taken))).rejects.toBe(taken);
  });

  test('finds the refusal of an address in what a library made of it', async () => {
    const wrapped = new Error('fetch failed', { cause: new AddressRefused('127.0.0.1 is not allowed') });
    await expect(new SessionCalls(translate).run(never, failing(wrapped))).rejects.toMatchObject({
      code: 'address_refused',
      message: '127.0.0.1 is not allowed',
    });
  });

  test('strikes credentials and the value out of the text', async () => {
    const calls = new SessionCalls(translate, ['the token', undefined]);
    const leak = failing(new Error('the token may not write "the value"'));
    await expect(calls.run(never, leak, 'the value')).rejects.toThrow('the provider says: ***** may not write "*****"');
  });

  test('ends with its signal, though the work goes on', async () => {
    const calls = new SessionCalls(translate);
    const controller = new AbortController();
    const hanging = calls.run(controller.signal, () => new Promise(() => {}));
    const reason = new Error('too late');
    controller.abort(reason);
    await expect(hanging).rejects.toBe(reason);
    await expect(calls.run(controller.signal, async () => 'never')).rejects.toBe(reason);
  });

  test('refuses calls after close, also in the middle of a list', async () => {
    const calls = new SessionCalls(translate);
    let ended = false;
    async function* items() {
      try {
        for (let index = 0; ; index += 1) yield index;
      } finally {
        ended = true;
      }
    }
    const seen: number[] = [];
    const listing = (async () => {
      for await (const item of calls.each(never, items)) {
        seen.push(item);
        if (item === 2) expect([calls.close(), calls.close()]).toEqual([true, false]);
      }
    })();
    await expect(listing).rejects.toMatchObject({ code: 'session_closed' });
    expect([seen, ended]).toEqual([[0, 1, 2], true]);
    await expect(calls.run(never, async () => 'never')).rejects.toMatchObject({ code: 'session_closed' });
  });

  test('translates what fails in the middle of a list', async () => {
    async function* items() {
      yield 1;
      throw new Error('the page is gone');
    }
    const listing = (async () => {
      for await (const item of new SessionCalls(translate).each(never, items)) expect(item).toBe(1);
    })();
    await expect(listing).rejects.toThrow('the provider says: the page is gone');
  });
});

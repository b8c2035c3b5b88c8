import { describe, expect, test } from '@jest/globals';
import { asFailure, causeOf } from '../src/failure.ts';

describe('the cause of a failed commit', () => {
  const failed = (commitError: Promise<unknown>): Error =>
    Object.assign(new Error('Commit failed (see commitError for details)'), { commitError });

  test('is what LMDB says afterwards', async () => {
    const cause = await causeOf(failed(Promise.reject(new Error('No space left on device'))));
    expect(asFailure(cause)).toMatchObject({ reason: 'the disk is full', full: true });
  });

  test('is the error itself where it points to nothing', async () => {
    const error = new Error('MDB_NOTFOUND');
    expect(await causeOf(error)).toBe(error);
  });
});

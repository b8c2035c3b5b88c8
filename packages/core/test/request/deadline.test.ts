import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { path, type EnginePackage } from '@strongroom/engine-sdk';
import { manualClock, type ManualClock } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import { createCore, type Core, type CoreRequest } from '../../src/index.ts';

/** Answers when its signal is aborted, or when the test lets go. */
function slowEngine(reasons: unknown[], held: (() => void)[]): EnginePackage {
  const slow = path('slow', { synopsis: 'Takes its time.', description: 'As long as it may.', fields: {} })
    .read({
      summary: 'Listens to its signal.',
      handle: async ({ signal }) => {
        await new Promise<void>((resolve) => {
          held.push(resolve);
          signal.addEventListener('abort', () => {
            reasons.push((signal.reason as Error).message);
            resolve();
          });
        });
        return { data: { done: true } };
      },
    })
    .update({
      summary: 'Ends though it was told to stop.',
      handle: async ({ signal }) => {
        if (!signal.aborted) await new Promise<void>((resolve) => held.push(resolve));
        return { data: { done: true } };
      },
    });
  return { name: 'slow', kind: 'secret', apiVersion: 1, create: () => ({ paths: [slow] }) };
}

describe('the deadline of a request', () => {
  let core: Core;
  let clock: ManualClock;
  let reasons: unknown[];
  let held: (() => void)[];
  const call = async (operation: CoreRequest['operation'], signal?: AbortSignal) =>
    core.handle({ operation, path: 'slow/slow', token: 'root', ...(signal ? { signal } : {}) });
  const begun = async (): Promise<void> => {
    while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
  };

  beforeEach(async () => {
    clock = manualClock();
    reasons = [];
    held = [];
    core = await createCore({ storage: memoryStorage(), plugins: [slowEngine(reasons, held)], devRootToken: 'root', clock });
    await core.handle({ operation: 'update', path: 'sys/mounts/slow', token: 'root', data: { type: 'slow' } });
  });
  afterEach(async () => core.close());

  test('answers 504 after 90 seconds and tells the handler, which may still be at work', async () => {
    const answer = call('read');
    await begun();
    await clock.advance(89);
    expect(reasons).toEqual([]);
    await clock.advance(2);
    expect(await answer).toMatchObject({ status: 504, errors: ['1 error occurred:\n\t* no answer within 90 s\n\n'] });
    expect(reasons).toEqual(['no answer within 90 s']);
  });

  test('ends early when the caller goes away, also before the handler begins', async () => {
    const leaving = new AbortController();
    const answer = call('read', leaving.signal);
    await begun();
    leaving.abort();
    expect((await answer).status).toBe(504);
    expect(reasons).toEqual(['the caller went away']);
    expect((await call('update', leaving.signal)).status).toBe(504);
  });

  test('is forgotten with the answer', async () => {
    const answer = call('read');
    await begun();
    held[0]!();
    expect((await answer).data).toEqual({ done: true });
    await clock.advance(100);
    expect(reasons).toEqual([]);
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { path, type EnginePackage } from '@strongroom/engine-sdk';
import { checkedCore, manualClock, type ManualClock, sharedMemory } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core, CoreRequest } from '../../src/index.ts';

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
      summary: 'Ends although it was aborted.',
      handle: async ({ signal }) => {
        if (!signal.aborted) await new Promise<void>((resolve) => held.push(resolve));
        return { data: { done: true } };
      },
    });
  slow.delete({
    summary: 'Never ends, and asks for no signal.',
    handle: async () => new Promise<undefined>((resolve) => void held.push(() => resolve(undefined))),
  });
  return { name: 'slow', kind: 'secret', apiVersion: 2, create: () => ({ paths: [slow] }) };
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
    core = await checkedCore({ storage: memoryStorage(), plugins: [slowEngine(reasons, held)], devRootToken: 'root', clock });
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

  test('holds for a handler that asks for no signal', async () => {
    const first = call('delete');
    await begun();
    await clock.advance(60);
    held.length = 0;
    const second = call('delete');
    await begun();
    await clock.advance(31);
    expect((await first).status).toBe(504);
    let answered = false;
    void second.then(() => (answered = true));
    await clock.advance(58);
    expect(answered).toBe(false);
    await clock.advance(2);
    expect((await second).status).toBe(504);
  });

  test('answers whoever waits for a handler that never ends when the server is sealed', async () => {
    const answer = call('delete');
    await begun();
    void core.seal();
    expect(await answer).toMatchObject({ status: 503, errors: ['Vault is sealed'] });
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

  test('ends with 503 when the mount is removed, which does not wait for it', async () => {
    const answer = call('read');
    await begun();
    const removed = core.handle({ operation: 'delete', path: 'sys/mounts/slow', token: 'root' });
    expect(await answer).toMatchObject({ status: 503, errors: ['the mount slow/ is being removed'] });
    expect((await removed).status).toBe(204);
    expect(reasons).toEqual(['the mount slow/ is being removed']);
  });

  test('ends with 503 when the server is sealed', async () => {
    const answer = call('read');
    await begun();
    const sealed = core.handle({ operation: 'update', path: 'sys/seal', token: 'root' });
    expect(await answer).toMatchObject({ status: 503, errors: ['Vault is sealed'] });
    expect((await sealed).status).toBe(204);
    expect(reasons).toEqual(['Vault is sealed']);
  });

  test('ends where another process removed the mount', async () => {
    const storage = sharedMemory();
    const [here, there] = [storage.open(), storage.open()];
    const seal = { type: 'static', key: Buffer.alloc(32, 1) } as const;
    const plugins = [slowEngine(reasons, held)];
    const one = await checkedCore({ storage: here, plugins, devRootToken: 'root', clock, seal });
    await one.handle({ operation: 'update', path: 'sys/mounts/slow', token: 'root', data: { type: 'slow' } });
    const other = await checkedCore({ storage: there, plugins, clock, seal });
    const answer = one.handle({ operation: 'read', path: 'slow/slow', token: 'root' });
    await begun();
    expect((await other.handle({ operation: 'delete', path: 'sys/mounts/slow', token: 'root' })).status).toBe(204);
    expect(await answer).toMatchObject({ status: 503, errors: ['the mount slow/ is being removed'] });
    await Promise.all([one.close(), other.close()]);
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { manualClock, sharedMemory } from '@strongroom/engine-testkit';
import type { StorageDriver } from '@strongroom/storage-sdk';
import { MemoryProvider } from '@strongroom/sync-testkit';
import { syncMount, type SyncMount } from './sync-mount.ts';

const SET = 'sys/sync/destinations/memory/one/associations/set';

describe('a mount that is unmounted leaves nothing outside', () => {
  const clock = manualClock();
  let provider: MemoryProvider;
  let one: SyncMount;
  /** Another process, which hears of no change that the first one makes. */
  let two: SyncMount;
  /** Holds up the second process's look into the queue, on the way from a secret's value to the stored association. */
  let gate: { reached: () => void; opened: Promise<void> } | undefined;

  beforeEach(async () => {
    gate = undefined;
    const store = sharedMemory();
    provider = new MemoryProvider();
    one = await syncMount({ mount: { storage: store.open(), clock }, provider });
    await one.put('web', { a: '1' });
    const deaf: StorageDriver = { ...store.open(), changes: () => () => undefined };
    const slow: StorageDriver = {
      ...deaf,
      range: async (query) => {
        if (gate && JSON.stringify(query).includes('pending/')) {
          gate.reached();
          await gate.opened;
        }
        return deaf.range(query);
      },
    };
    two = await syncMount({ mount: { storage: slow, clock }, provider });
  });
  afterEach(async () => {
    await one.close();
    await two.close();
  });

  const settled = async (): Promise<void> => {
    for (const sync of [one, two, one]) await sync.advance('2m');
  };

  test('by a process that has not heard of its first association', async () => {
    await one.set('web');
    expect(provider.values()).toEqual({ 'app/web': '{"a":"1"}' });
    expect((await two.ask('delete', 'sys/mounts/kv')).status).toBe(204);
    await settled();
    expect(provider.values()).toEqual({});
    expect(await one.associations()).toEqual([]);
  });

  const REFUSED = [400, '"kv/" is being unmounted'] as const;
  const OVERDUE = [504, 'no answer within 90 s'] as const;

  test.each([
    ['of its first secret is a 400', { linked: false, after: '1m', answer: REFUSED }],
    ['of a secret that is linked already is a 400', { linked: true, after: '1m', answer: REFUSED }],
    ['of its first secret that comes too late is a 504 and links nothing', { linked: false, after: '2m', answer: OVERDUE }],
    ['of a linked secret that comes too late is a 504 and links nothing', { linked: true, after: '2m', answer: OVERDUE }],
  ] as const)('while another process is about to link one: associations/set %s', async (_of, { linked, after, answer }) => {
    if (linked) await one.set('web');
    let open = (): void => undefined;
    const reached = new Promise<void>((resolve) => {
      gate = { reached: resolve, opened: new Promise((opened) => (open = opened)) };
    });
    const late = two.ask('update', SET, { mount: 'kv', secret_name: 'web' });
    await reached;
    await one.ask('delete', 'sys/mounts/kv');
    await one.advance(after);
    gate = undefined;
    open();
    const { status, errors } = await late;
    expect([status, errors?.join()]).toEqual([answer[0], expect.stringContaining(answer[1])]);
    await settled();
    expect(provider.values()).toEqual({});
    expect(await one.associations()).toEqual([]);
  });

  test('and another one mounted in its place can be linked', async () => {
    await one.set('web');
    await one.ask('delete', 'sys/mounts/kv');
    await settled();
    await one.ask('update', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } });
    await one.put('web', { a: '2' });
    expect((await one.set('web'))[0]?.last_error?.code ?? 'none').toBe('none');
    await settled();
    expect(provider.values()).toEqual({ 'app/web': '{"a":"2"}' });
  });
});

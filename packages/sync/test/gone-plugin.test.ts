import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { manualClock, sharedMemory } from '@strongroom/engine-testkit';
import type { Plugin } from '@strongroom/engine-sdk';
import { memoryDestination, MemoryProvider } from '@strongroom/sync-testkit';
import { checked, CONNECTION, syncMount, type SyncMount } from './sync-mount.ts';

const AT = 'sys/sync/destinations';
const GONE = `${AT}/gone/one`;

describe('a destination whose plugin is not installed any more', () => {
  let sync: SyncMount;
  let provider: MemoryProvider;
  beforeEach(async () => {
    provider = new MemoryProvider();
    const store = sharedMemory();
    const clock = manualClock();
    const plugins = [memoryDestination(provider, 'gone') as unknown as Plugin];
    const before = await syncMount({ mount: { storage: store.open(), clock }, plugins });
    await checked(before.ask('update', GONE, CONNECTION));
    await before.put('web', { a: '1' });
    await checked(before.ask('update', `${GONE}/associations/set`, { mount: 'kv', secret_name: 'web' }));
    await before.close();
    sync = await syncMount({ mount: { storage: store.open(), clock } });
  });
  afterEach(async () => sync.close());

  test('GET destinations/:type/:name shows what is stored, and nothing of the connection', async () => {
    const { status, data } = await sync.ask('read', GONE);
    expect(status).toBe(200);
    expect(data).toMatchObject({
      name: 'one',
      type: 'gone',
      connection_details: { access_token: '*****', endpoint: '*****' },
      options: { secret_name_template: CONNECTION.secret_name_template },
    });
    expect((await sync.ask('list', `${AT}/gone/`)).data).toMatchObject({ keys: ['one'] });
  });

  test('GET …/associations still lists', async () => {
    expect(await sync.associations('gone/one')).toMatchObject([{ secret_name: 'web', sync_status: 'SYNCED' }]);
  });

  test.each([
    ['update', '', { access_token: 'new' }],
    ['patch', '', { access_token: 'new' }],
    ['delete', '', {}],
    ['delete', '', { purge: true }],
    ['read', '/plan', {}],
    ['update', '/reconcile', {}],
    ['update', '/associations/set', { mount: 'kv', secret_name: 'web' }],
  ] as const)('a %s of destinations/:type/:name%s with %j is a 503 that names the type', async (operation, below, data) => {
    const { status, errors } = await sync.ask(operation, `${GONE}${below}`, data);
    expect(status).toBe(503);
    expect(errors).toEqual(['the plugin of destinations of type gone is not installed']);
  });

  test('DELETE with force_delete=true lets go of it and of its associations, and answers the list of what is left outside', async () => {
    const { status, data } = await sync.ask('delete', GONE, { force_delete: true });
    expect(status).toBe(200);
    expect(data).toEqual({ outside: [{ kind: 'secret', name: 'app/web', system: 'gone/one', detail: 'a copy of web' }], total: 1 });
    expect((await sync.ask('read', GONE)).status).toBe(400);
    expect((await sync.ask('list', 'sys/sync/associations')).status).toBe(404);
    expect(provider.values()).toEqual({ 'app/web': '{"a":"1"}' });
  });

  test('one that was never there is a 400 with the types there are', async () => {
    for (const operation of ['read', 'update', 'patch', 'delete'] as const) {
      const { status, errors } = await sync.ask(operation, `${AT}/gone/other`, { force_delete: true });
      expect([status, errors]).toEqual([400, ['unknown destination type "gone"; there are: memory']]);
    }
    expect((await sync.ask('list', `${AT}/never/`)).status).toBe(400);
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Plugin } from '@strongroom/engine-sdk';
import { manualClock, mountForTest, sharedMemory, type ManualClock, type SharedMemory } from '@strongroom/engine-testkit';
import { memoryDestination, MemoryProvider } from '@strongroom/sync-testkit';
import { syncEngine } from '../src/index.ts';
import { CONNECTION, syncMount, withCalls, type SyncMount } from './sync-mount.ts';

const KEYS = 'memory/keys';
const STOOD = { 'app/web': '{"a":"1","b":"2"}', 'keys-web-a': '1', 'keys-web-b': '2' };
const UNAVAILABLE = { sync_status: 'INTERNAL_VAULT_ERROR', last_error: { code: 'source_unavailable' } };

describe('a server whose secrets engine does not run', () => {
  let store: SharedMemory;
  let clock: ManualClock;
  let provider: MemoryProvider;
  let bare: SyncMount;

  const whole = async (): Promise<SyncMount> => syncMount({ mount: { storage: store.open(), clock }, provider });

  beforeEach(async () => {
    store = sharedMemory();
    clock = manualClock();
    provider = new MemoryProvider();
    const before = await whole();
    await before.ask('update', `sys/sync/destinations/${KEYS}`, {
      ...CONNECTION,
      granularity: 'secret-key',
      secret_name_template: 'keys-{{ .SecretPath }}-{{ .SecretKey }}',
    });
    await before.put('web', { a: '1', b: '2' });
    await before.set('web');
    await before.ask('update', `sys/sync/destinations/${KEYS}/associations/set`, { mount: 'kv', secret_name: 'web' });
    await before.advance('1m');
    expect(provider.values()).toEqual(STOOD);
    // What is still to be done is left to the next one.
    await before.ask('patch', 'sys/sync/config', { disabled: true });
    await before.put('web', { a: '1', b: 'new' });
    await before.close();
    provider.log.length = 0;
    const plugins = [memoryDestination(provider) as unknown as Plugin];
    bare = withCalls(await mountForTest(syncEngine, { storage: store.open(), clock, plugins }), provider);
  });
  afterEach(async () => bare.close());

  const entries = async () => [...(await bare.associations()), ...(await bare.associations(KEYS))];

  test('leaves all copies as they are, and every one of them says source_unavailable', async () => {
    await bare.ask('patch', 'sys/sync/config', { disabled: false });
    await bare.advance('2h');
    expect(provider.values()).toEqual(STOOD);
    expect(provider.log.filter((call) => /^(put|remove)/.test(call))).toEqual([]);
    const found = await entries();
    expect(found).toHaveLength(3);
    for (const entry of found) expect(entry).toMatchObject(UNAVAILABLE);
    expect(found.map(({ sub_key }) => sub_key)).toEqual([undefined, 'a', 'b']);
    const { data } = await bare.ask('read', 'sys/sync/associations/destinations', { mount: 'kv', secret_name: 'web' });
    const statuses = Object.values((data as { associated_destinations: Record<string, { sync_status: string }> }).associated_destinations);
    expect(statuses.map(({ sync_status }) => sync_status)).toEqual(Array(3).fill('INTERNAL_VAULT_ERROR'));
  });

  test('lists the copies as refused under GET plan, and none of them as right or to be removed', async () => {
    const item = (remote_name: string, sub_key?: string) => ({
      mount: 'kv',
      secret_name: 'web',
      remote_name,
      ...(sub_key === undefined ? {} : { sub_key }),
    });
    const plan = async (destination: string) => (await bare.ask('read', `sys/sync/destinations/${destination}/plan`)).data;
    expect(await plan('memory/one')).toMatchObject({
      refused: [{ ...item('app/web'), remote_version: 'r1' }],
      removals: [],
      orphans: [],
      total: 1,
      in_sync: 0,
    });
    expect(await plan(KEYS)).toMatchObject({
      refused: [
        { ...item('keys-web-a', 'a'), remote_version: 'r2' },
        { ...item('keys-web-b', 'b'), remote_version: 'r3' },
      ],
      removals: [],
      orphans: [],
      total: 2,
      in_sync: 0,
    });
  });

  test('lists an association under GET plan that has no copy yet', async () => {
    await bare.close();
    const before = await whole();
    await before.put('second', { a: '1' });
    await before.set('second');
    await before.close();
    const plugins = [memoryDestination(provider) as unknown as Plugin];
    bare = withCalls(await mountForTest(syncEngine, { storage: store.open(), clock, plugins }), provider);
    const { data } = await bare.ask('read', 'sys/sync/destinations/memory/one/plan');
    expect(data).toMatchObject({ total: 2, in_sync: 0 });
    expect((data as { refused: object[] }).refused).toContainEqual({ mount: 'kv', secret_name: 'second', remote_name: '' });
  });

  test('goes on with what was to be done once the engine runs again', async () => {
    await bare.ask('patch', 'sys/sync/config', { disabled: false });
    await bare.ask('update', 'sys/sync/destinations/memory/one/reconcile', { remove_orphans: true });
    await bare.advance('1m');
    expect(provider.values()).toEqual(STOOD);
    await bare.close();
    bare = await whole();
    await bare.advance('2h');
    expect(provider.values()).toEqual({ 'app/web': '{"a":"1","b":"new"}', 'keys-web-a': '1', 'keys-web-b': 'new' });
    expect((await entries()).map(({ sync_status, last_error }) => [sync_status, last_error])).toEqual(Array(3).fill(['SYNCED', undefined]));
  });
});

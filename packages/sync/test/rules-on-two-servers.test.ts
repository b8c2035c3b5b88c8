import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { manualClock, sharedMemory } from '@strongroom/engine-testkit';
import { MemoryProvider } from '@strongroom/sync-testkit';
import { syncMount, type SyncMount } from './sync-mount.ts';

describe('a rule, with two servers on one store', () => {
  let provider: MemoryProvider;
  let one: SyncMount;
  let two: SyncMount;
  let running: SyncMount[];
  beforeEach(async () => {
    const clock = manualClock();
    const store = sharedMemory();
    provider = new MemoryProvider();
    one = await syncMount({ mount: { storage: store.open(), clock }, provider });
    two = await syncMount({ mount: { storage: store.open(), clock }, provider });
    running = [one, two];
    await one.put('team/a', { k: '1' });
    await one.set('team/*');
  });
  afterEach(async () => {
    for (const server of running) await server.close();
  });

  /** Gives both servers the time for all that is due. */
  const both = async (): Promise<void> => {
    for (let i = 0; i < 3; i += 1) {
      await one.advance('1m');
      await two.advance('1m');
    }
  };
  const statuses = async (sync: SyncMount): Promise<Record<string, string>> =>
    Object.fromEntries((await sync.associations()).map(({ secret_name, sync_status }) => [secret_name, sync_status]));

  test('follows what comes, changes and goes on either of them, and writes each version once', async () => {
    await two.put('team/b', { k: '2' });
    await both();
    expect(provider.values()).toEqual({ 'app/team/a': '{"k":"1"}', 'app/team/b': '{"k":"2"}' });
    await two.put('team/a', { k: '3' });
    await both();
    expect(provider.values()).toEqual({ 'app/team/a': '{"k":"3"}', 'app/team/b': '{"k":"2"}' });
    expect(provider.count('put')).toBe(3);
    await two.ask('delete', 'kv/metadata/team/b');
    await both();
    expect(provider.values()).toEqual({ 'app/team/a': '{"k":"3"}' });
    expect(await statuses(one)).toEqual({ 'team/a': 'SYNCED' });
    expect(await statuses(two)).toEqual(await statuses(one));
  });

  test('that the other one narrows takes back what it leaves out, and links nothing of it again', async () => {
    await two.set('team/*', { exclude: ['team/a'] });
    await one.put('team/a', { k: '2' });
    await one.put('team/c', { k: '4' });
    await both();
    expect(provider.values()).toEqual({ 'app/team/c': '{"k":"4"}' });
  });

  test('goes on with the other server, where the one that it was made on has stopped', async () => {
    await one.close();
    running = [two];
    await two.put('team/b', { k: '2' });
    await two.advance('3m');
    expect(provider.values()).toEqual({ 'app/team/a': '{"k":"1"}', 'app/team/b': '{"k":"2"}' });
  });
});

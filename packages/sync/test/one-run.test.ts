import { expect, test } from '@jest/globals';
import { manualClock, sharedMemory } from '@strongroom/engine-testkit';
import { MemoryProvider } from '@strongroom/sync-testkit';
import { syncMount } from './sync-mount.ts';

test('of an association one run goes on at a time, over all processes: no write begins before another has ended', async () => {
  const clock = manualClock();
  const store = sharedMemory();
  const provider = new MemoryProvider();
  const one = await syncMount({ mount: { storage: store.open(), clock }, provider });
  const two = await syncMount({ mount: { storage: store.open(), clock }, provider });
  await one.put('web', { a: '1' });

  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  let under = 0;
  let most = 0;
  provider.hook = async (call, moment) => {
    if (!call.startsWith('put ')) return;
    under += moment === 'before' ? 1 : -1;
    most = Math.max(most, under);
    if (moment === 'before') reach();
    if (moment === 'before') await opened;
  };
  const first = one.set('web');
  await reached;
  await two.put('web', { a: '2' });
  await two.set('web', { wait: 0 });
  await two.advance('30s');
  expect(provider.count('put')).toBe(1);
  expect((await two.only()).sync_status).not.toBe('SYNCED');

  open();
  await first;
  await two.advance('2m');
  await one.advance('2m');
  expect(most).toBe(1);
  expect(provider.values()).toEqual({ 'app/web': '{"a":"2"}' });
  expect((await two.only()).sync_status).toBe('SYNCED');
  await one.close();
  await two.close();
});

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

/** Two processes over one store; writes outside stop before they change anything, until they are let through. */
async function heldByAnother() {
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
  provider.hook = async (call, moment) => {
    if (!call.startsWith('put ') || moment !== 'before') return;
    reach();
    await opened;
  };
  const first = one.set('web');
  await reached;
  const close = async (): Promise<void> => {
    await one.close();
    await two.close();
  };
  return { clock, provider, one, two, first, open, close };
}

/** Lets work that waits for no clock go on. */
const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('set while a run of this process holds the association waits for it, and answers with the run that carries the change out', async () => {
  const { provider, one, first, open, close } = await heldByAnother();
  await one.put('web', { a: '2' });
  let answered = false;
  const second = one.set('web').finally(() => (answered = true));
  await turns();
  expect(answered).toBe(false);
  open();
  await first;
  expect(await second).toEqual([expect.objectContaining({ sync_status: 'SYNCED' })]);
  expect(provider.values()).toEqual({ 'app/web': '{"a":"2"}' });
  await close();
});

test('set while a run of another process holds the association waits for it, and answers with the run that carries the change out', async () => {
  const { clock, provider, two, first, open, close } = await heldByAnother();
  await two.put('web', { a: '2' });
  let answered = false;
  const second = two.set('web').finally(() => (answered = true));
  await turns();
  await clock.advance(2);
  expect(answered).toBe(false);
  open();
  await first;
  await clock.advance(1);
  expect(await second).toEqual([expect.objectContaining({ sync_status: 'SYNCED' })]);
  expect(provider.values()).toEqual({ 'app/web': '{"a":"2"}' });
  await close();
});

test('set answers with the failure of the run that it waited for, and makes no second try', async () => {
  const { provider, one, first, open, close } = await heldByAnother();
  provider.fail('failing', /^read/);
  await one.put('web', { a: '2' });
  const second = one.set('web');
  await turns();
  provider.log.length = 0;
  open();
  await first;
  expect(await second).toEqual([expect.objectContaining({ sync_status: 'EXTERNAL_SERVICE_ERROR', attempts: 1 })]);
  expect(provider.count('read')).toBe(1);
  await close();
});

test('set waits no longer than asked for, and then shows SYNCING and since when the other run has been at it', async () => {
  const { clock, two, first, open, close } = await heldByAnother();
  const began = clock.now().toISOString();
  await clock.advance(1);
  const second = two.set('web', { wait: '3s' });
  await turns();
  await clock.advance(4);
  expect(await second).toEqual([expect.objectContaining({ sync_status: 'SYNCING', syncing_since: began })]);
  expect(await two.only()).toMatchObject({ sync_status: 'SYNCING', syncing_since: began });
  open();
  await first;
  await two.advance('1m');
  expect(await two.only()).toMatchObject({ sync_status: 'SYNCED' });
  expect(await two.only()).not.toHaveProperty('syncing_since');
  await close();
});

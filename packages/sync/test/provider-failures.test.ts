import { afterEach, describe, expect, test } from '@jest/globals';
import { ClientSideError, ExternalServiceError } from '@strongroom/sync-sdk';
import { memoryDestination, MemoryProvider, type MemoryDestination } from '@strongroom/sync-testkit';
import { CONNECTION, syncMount, type SyncMount } from './sync-mount.ts';

const ONE = 'sys/sync/destinations/memory/one';

describe('when the provider fails', () => {
  let sync: SyncMount;
  afterEach(async () => sync.close());

  test.each([
    ['read', 'plan', ClientSideError],
    ['update', 'reconcile', ExternalServiceError],
  ] as const)('a %s of destinations/:type/:name/%s masks the credentials that its text repeats', async (operation, below, Failure) => {
    const provider = new MemoryProvider();
    const usual = memoryDestination(provider);
    const talkative: MemoryDestination = {
      ...usual,
      open: async (...args) => ({
        ...(await usual.open(...args)),
        // eslint-disable-next-line require-yield
        async *list() {
          throw new Failure(`Bearer ${CONNECTION.access_token} is refused`, { providerCode: '401' });
        },
      }),
    };
    sync = await syncMount({ provider, destination: talkative });
    const { status, errors } = await sync.ask(operation, `${ONE}/${below}`);
    expect(status).toBeGreaterThanOrEqual(500);
    expect(errors?.join()).toContain('the memory (memory/one): Bearer ***** is refused (401)');
  });

  test('a run ends at the first failure that all keys would meet, and goes on after the one that only one key meets', async () => {
    sync = await syncMount();
    await sync.ask('patch', ONE, { granularity: 'secret-key', secret_name_template: '{{ .SecretPath }}-{{ .SecretKey }}' });
    await sync.put('web', { a: '1', b: '2', c: '3' });
    sync.provider.fail('failing', /^put/);
    await sync.set('web');
    expect(sync.provider.count('put')).toBe(1);
    sync.provider.heal();
    await sync.advance('1h');
    sync.provider.log.length = 0;
    sync.provider.fail('denied', /^put/);
    await sync.put('web', { a: '4', b: '5', c: '6' });
    await sync.advance('1s');
    expect(sync.provider.count('put')).toBe(3);
  });
});

describe('names that the provider takes for one, because it knows no case', () => {
  test('are one: the second association of a destination is refused', async () => {
    const usual = memoryDestination(new MemoryProvider()).limits({} as never);
    const { name } = usual;
    const sync = await syncMount({ limits: { name: { ...name, caseSensitive: false } } });
    await sync.put('web', { a: '1' });
    await sync.put('WEB', { a: '2' });
    await sync.set('web');
    const { status, errors } = await sync.ask('update', `${ONE}/associations/set`, { mount: 'kv', secret_name: 'WEB' });
    expect(status).toBe(400);
    expect(errors?.join()).toContain('the name "app/WEB" is used by another association of this destination');
    expect(sync.provider.values()).toEqual({ 'app/web': '{"a":"1"}' });
    await sync.close();
  });
});

describe('the periodic reconciliation is held', () => {
  const lists = (sync: SyncMount): number => sync.provider.log.filter((call) => call.startsWith('list ')).length;
  const edited = async (): Promise<SyncMount> => {
    const sync = await syncMount();
    await sync.put('web', { a: '1' });
    await sync.set('web');
    await sync.ask('patch', ONE, { reconcile_interval: '1h' });
    await sync.advance('1m');
    await sync.provider.write('app/web', 'edited');
    sync.provider.log.length = 0;
    return sync;
  };

  test('while sys/sync/config is disabled, and goes on in its interval afterwards', async () => {
    const sync = await edited();
    await sync.ask('patch', 'sys/sync/config', { disabled: true });
    await sync.advance('3h');
    expect(lists(sync)).toBe(0);
    expect((await sync.only()).sync_status).toBe('SYNCED');
    await sync.ask('patch', 'sys/sync/config', { disabled: false });
    await sync.advance('61m');
    expect(lists(sync)).toBeGreaterThan(0);
    expect(sync.provider.values()).toEqual({ 'app/web': '{"a":"1"}' });
    await sync.close();
  });

  test('while the destination is purged', async () => {
    const sync = await edited();
    sync.provider.fail('denied', /^remove/);
    await sync.ask('delete', ONE, { purge: true });
    await sync.advance('3h');
    expect((await sync.ask('read', ONE)).status).toBe(200);
    expect(lists(sync)).toBe(0);
    await sync.close();
  });
});

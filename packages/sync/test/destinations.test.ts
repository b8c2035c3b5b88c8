import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Plugin } from '@strongroom/engine-sdk';
import { memoryDestination, MemoryProvider } from '@strongroom/sync-testkit';
import { CONNECTION, syncMount, type SyncMount } from './sync-mount.ts';

const ONE = 'sys/sync/destinations/memory/one';

describe('destinations', () => {
  let sync: SyncMount;
  beforeEach(async () => {
    sync = await syncMount({ plugins: [memoryDestination(new MemoryProvider(), 'other') as unknown as Plugin] });
  });
  afterEach(async () => sync.close());

  const read = async (path = ONE) =>
    (await sync.ask('read', path)).data as { connection_details: Record<string, unknown>; options: Record<string, unknown> };

  describe('POST destinations/:type/:name', () => {
    test('creates with the defaults of the type, and answers what a read answers, with secrets masked', async () => {
      const created = await sync.ask('update', 'sys/sync/destinations/memory/new', { access_token: 'memory-token' });
      expect(created.status).toBe(200);
      expect(created.data).toEqual({
        name: 'new',
        type: 'memory',
        connection_details: { access_token: '*****', endpoint: 'http://127.0.0.1:8200', place: 'main' },
        options: {
          custom_tags: {},
          granularity_level: 'secret-path',
          secret_name_template: 'vault/{{ .MountAccessor }}/{{ .SecretPath }}',
          on_conflict: 'fail',
          reconcile_interval: 86_400,
        },
      });
      expect((await sync.ask('read', 'sys/sync/destinations/memory/new')).data).toEqual(created.data);
    });

    test('the default template names the key where each key is a secret of its own', async () => {
      await sync.ask('update', 'sys/sync/destinations/memory/keys', { ...CONNECTION, secret_name_template: '', granularity: 'secret-key' });
      await sync.put('web', { a: '1', b: '2' });
      await sync.ask('update', 'sys/sync/destinations/memory/keys/associations/set', { mount: 'kv', secret_name: 'web' });
      const accessor = await sync.accessor();
      expect(sync.provider.values()).toEqual({ [`vault/${accessor}/web/a`]: '1', [`vault/${accessor}/web/b`]: '2' });
      await sync.ask('patch', 'sys/sync/destinations/memory/keys', { granularity: 'secret-path' });
      expect((await read('sys/sync/destinations/memory/keys')).options['secret_name_template']).toBe(
        'vault/{{ .MountAccessor }}/{{ .SecretPath }}',
      );
    });

    test('the other variant of the type means the same destination, and answers carry the name of the provider', async () => {
      const { data } = await sync.ask('update', 'sys/sync/destinations/memory-alias/new', { access_token: 'memory-token' });
      expect(data).toMatchObject({ type: 'memory', name: 'new' });
      expect((await sync.ask('read', 'sys/sync/destinations/memory/new')).status).toBe(200);
    });

    test('reconcile_interval is 0, or a minute and more', async () => {
      for (const reconcile_interval of ['1s', 59, '-1h']) {
        const { status, errors } = await sync.ask('patch', ONE, { reconcile_interval });
        expect(status).toBe(400);
        expect(errors?.join()).toContain('reconcile_interval');
      }
      for (const reconcile_interval of [0, 60, '1h']) expect((await sync.ask('patch', ONE, { reconcile_interval })).status).toBe(200);
    });

    test('a field of an existing destination that is left out keeps its value', async () => {
      await sync.ask('update', ONE, { place: 'elsewhere' });
      expect((await read()).connection_details).toMatchObject({ place: 'elsewhere', access_token: '*****' });
      await sync.put('web', { a: '1' });
      expect((await sync.set('web'))[0]?.sync_status).toBe('SYNCED');
    });

    test('"*****" keeps the secret that is stored, and is never stored itself', async () => {
      await sync.ask('update', ONE, { access_token: '*****', custom_tags: { a: 'b' } });
      await sync.put('web', { a: '1' });
      expect((await sync.set('web'))[0]?.sync_status).toBe('SYNCED');
      expect((await sync.ask('update', 'sys/sync/destinations/memory/stars', { access_token: '*****' })).errors).toEqual([
        'access_token: "*****" keeps what is stored, and nothing is stored: send the value itself, or leave it out',
      ]);
    });

    test('granularity, secret_name_template, custom_tags, on_conflict and the networking fields are kept and shown', async () => {
      await sync.ask('update', ONE, {
        granularity: 'secret-key',
        secret_name_template: 'x-{{ .SecretKey }}',
        custom_tags: { team: 'blue' },
        on_conflict: 'adopt',
        reconcile_interval: '1h',
        allowed_ipv4_addresses: '10.0.0.0/8',
        allowed_ipv6_addresses: ['fd00::/8'],
        allowed_ports: [8200],
      });
      const shown = await read();
      expect(shown.options).toEqual({
        custom_tags: { team: 'blue' },
        granularity_level: 'secret-key',
        secret_name_template: 'x-{{ .SecretKey }}',
        on_conflict: 'adopt',
        reconcile_interval: 3_600,
      });
      expect(shown.connection_details).toMatchObject({
        allowed_ipv4_addresses: ['10.0.0.0/8'],
        allowed_ipv6_addresses: ['fd00::/8'],
        allowed_ports: [8200],
        disable_strict_networking: true,
      });
    });

    test.each([
      [{ granularity: 'all' }, 'secret-path, secret-key'],
      [{ on_conflict: 'win' }, 'fail, adopt, overwrite'],
      [{ secret_name_template: '{{ .Nope }}' }, 'field Nope; there are DestinationType, DestinationName,'],
      [{ secret_name_template: '{{ random 4 }}' }, 'random cannot be used'],
      [{ secret_name_template: '{{ ' }, 'secret_name_template'],
      [{ allowed_ipv4_addresses: '10.0.0.0/99' }, 'allowed_ipv4_addresses: "10.0.0.0/99" is not an IPv4 address or CIDR block'],
      [{ allowed_ipv6_addresses: '10.0.0.1' }, 'allowed_ipv6_addresses: "10.0.0.1" is not an IPv6 address or CIDR block'],
      [{ allowed_ports: [0] }, 'allowed_ports: 0 is not a port'],
      [{ endpoint: 'nowhere' }, 'endpoint must be a URL'],
      [{ custom_tags: { ['k'.repeat(65)]: 'v' } }, 'custom_tags has a tag'],
      [{ account: 'nobody' }, 'account: there is no "nobody" in sys/sync/memory-accounts'],
    ])('%j is a 400 that names the field', async (body, text) => {
      const before = await read();
      const { status, errors } = await sync.ask('update', ONE, body);
      expect(status).toBe(400);
      expect(errors?.join()).toContain(text);
      expect(await read()).toEqual(before);
    });

    test('a field that says where secrets lie cannot be changed while associations exist', async () => {
      await sync.put('web', { a: '1' });
      await sync.set('web');
      const { status, errors } = await sync.ask('update', ONE, { place: 'elsewhere' });
      expect(status).toBe(400);
      expect(errors?.join()).toContain('place cannot be changed while the destination has associations');
      expect((await sync.ask('update', ONE, { place: 'main' })).status).toBe(200);
    });

    test('an unknown type is a 400 that names those there are', async () => {
      for (const operation of ['read', 'update', 'patch', 'delete'] as const) {
        const { status, errors } = await sync.ask(operation, 'sys/sync/destinations/nimbus/one', {});
        expect([status, errors]).toEqual([400, ['unknown destination type "nimbus"; there are: memory, other']]);
      }
    });

    test('new credentials are used at once, and what had failed is tried again', async () => {
      await sync.put('web', { a: '1' });
      await sync.ask('update', ONE, { access_token: 'wrong-token-wrong' });
      expect((await sync.set('web'))[0]).toMatchObject({ sync_status: 'CLIENT_SIDE_ERROR', last_error: { code: '401' } });
      await sync.ask('update', ONE, { access_token: 'memory-token' });
      await sync.advance('1s');
      expect((await sync.only()).sync_status).toBe('SYNCED');
    });
  });

  describe('corrected credentials retry at once what had failed', () => {
    const broken = async (): Promise<void> => {
      await sync.put('web', { a: '1' });
      await sync.ask('update', ONE, { access_token: 'wrong-token-wrong' });
      await sync.set('web');
      await sync.advance('2h');
      expect(await sync.only()).toMatchObject({ sync_status: 'CLIENT_SIDE_ERROR' });
    };
    const mend = async (): Promise<unknown> => sync.ask('update', ONE, { access_token: 'memory-token' });

    test('also where the credentials may not list, so that nothing can be compared', async () => {
      await broken();
      sync.provider.fail('denied', /^list/);
      await mend();
      await sync.core.settleSchedule();
      expect(await sync.only()).toMatchObject({ sync_status: 'SYNCED', attempts: 0 });
    });

    test('also while the comparison that failed with the old ones waits', async () => {
      await broken();
      for (let round = 0; round < 8; round += 1) {
        await sync.ask('patch', ONE, { custom_tags: { round: String(round) } });
        await sync.advance('1s');
      }
      await mend();
      await sync.core.settleSchedule();
      expect(await sync.only()).toMatchObject({ sync_status: 'SYNCED', attempts: 0 });
    });

    test('also while a pause is on that the provider asked the old ones for', async () => {
      await sync.put('web', { a: '1' });
      sync.provider.fail('throttled');
      expect((await sync.set('web'))[0]).toMatchObject({ sync_status: 'EXTERNAL_SERVICE_ERROR', last_error: { code: '429' } });
      sync.provider.heal();
      await mend();
      await sync.core.settleSchedule();
      expect(await sync.only()).toMatchObject({ sync_status: 'SYNCED' });
    });

    test('also where the call with the old ones hung until after the correction', async () => {
      await sync.put('web', { a: '1' });
      sync.provider.fail('hanging');
      const set = sync.set('web', { wait: '1s' });
      for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
      await sync.clock.advance('1s');
      expect(await set).toEqual([expect.objectContaining({ sync_status: 'SYNCING', syncing_since: expect.any(String) })]);
      await mend();
      sync.provider.heal();
      await sync.clock.advance('45s');
      await sync.core.settleSchedule();
      expect(await sync.only()).toMatchObject({ sync_status: 'SYNCED' });
    });
  });

  describe('PATCH destinations/:type/:name', () => {
    test('changes what it sends', async () => {
      expect((await sync.ask('patch', ONE, { custom_tags: { a: 'b' } })).data).toMatchObject({ options: { custom_tags: { a: 'b' } } });
      expect((await read()).connection_details['access_token']).toBe('*****');
    });
    test('of a destination that is not there is a 404', async () => {
      expect((await sync.ask('patch', 'sys/sync/destinations/memory/two', { access_token: 'x' })).status).toBe(404);
    });
  });

  describe('LIST destinations', () => {
    test('groups names by type', async () => {
      await sync.ask('update', 'sys/sync/destinations/other/b', CONNECTION);
      await sync.ask('update', 'sys/sync/destinations/other/a', CONNECTION);
      expect((await sync.ask('list', 'sys/sync/destinations')).data).toEqual({
        key_info: { 'memory/': ['one'], 'other/': ['a', 'b'] },
        keys: ['memory/', 'other/'],
        total_destinations: 3,
      });
      expect((await sync.ask('list', 'sys/sync/destinations/other')).data).toEqual({ keys: ['a', 'b'], total_destinations: 2 });
    });
  });

  describe('DELETE destinations/:type/:name', () => {
    test('takes away what has no associations, and is no error for what is not there', async () => {
      expect((await sync.ask('delete', ONE)).status).toBe(204);
      expect((await sync.ask('read', ONE)).status).toBe(404);
      expect((await sync.ask('delete', ONE)).status).toBe(204);
    });

    test.each([{}, { purge: true }, { force_delete: true }])('leaves nothing of it in sys/schedule (%j)', async (how) => {
      await sync.put('web', { a: '1' });
      await sync.set('web');
      await sync.advance('1m');
      const jobs = async () => ((await sync.ask('read', 'sys/schedule')).data as { jobs: { id: string }[] }).jobs.map(({ id }) => id);
      expect(await jobs()).toContain('memory/one');
      if (Object.keys(how).length === 0) await sync.remove('web');
      await sync.ask('delete', ONE, how);
      await sync.advance('1s');
      expect((await sync.ask('read', ONE)).status).toBe(404);
      expect(await jobs()).toEqual([]);
    });

    test('is refused while associations exist', async () => {
      await sync.put('web', { a: '1' });
      await sync.set('web');
      const { status, errors } = await sync.ask('delete', ONE);
      expect(status).toBe(400);
      expect(errors?.join()).toContain('still manages associations');
      expect(sync.provider.values()).not.toEqual({});
    });

    test('purge=true unsyncs first, shows purge_initiated_at meanwhile, and takes nothing new', async () => {
      for (const name of ['a', 'b', 'c']) {
        await sync.put(name, { a: name });
        await sync.set(name);
      }
      const purged = await sync.ask('delete', ONE, { purge: true });
      expect(purged.status).toBe(200);
      expect(purged.data).toMatchObject({ name: 'one', purge_initiated_at: expect.stringMatching(/^2030/) });
      const set = await sync.ask('update', `${ONE}/associations/set`, { mount: 'kv', secret_name: 'a' });
      expect(set.errors?.join()).toContain('is being deleted');
      await sync.advance('1s');
      expect((await sync.ask('read', ONE)).status).toBe(404);
      expect(sync.provider.values()).toEqual({});
      expect((await sync.ask('delete', ONE, { purge: true })).status).toBe(204);
    });

    test('purge_error says why a purge does not get on; it continues in the background', async () => {
      await sync.put('a', { a: '1' });
      await sync.set('a');
      sync.provider.fail('denied', /^remove/);
      await sync.ask('delete', ONE, { purge: true });
      await sync.advance('1s');
      expect((await sync.ask('read', ONE)).data).toMatchObject({ purge_error: 'it is not allowed' });
      sync.provider.heal();
      await sync.advance('1m');
      expect((await sync.ask('read', ONE)).status).toBe(404);
    });

    test('a purge with dead credentials goes on at once when the connection is mended; nothing else can be changed meanwhile', async () => {
      for (const name of ['a', 'b']) {
        await sync.put(name, { a: name });
        await sync.set(name);
      }
      await sync.ask('patch', ONE, { access_token: 'a token that died' });
      await sync.ask('delete', ONE, { purge: true });
      await sync.advance('1h');
      expect((await sync.ask('read', ONE)).data).toMatchObject({ purge_error: 'the token is refused' });
      const refused = await sync.ask('patch', ONE, {
        access_token: 'memory-token',
        secret_name_template: 'other',
        custom_tags: { a: 'b' },
      });
      expect(refused.status).toBe(400);
      expect(refused.errors?.join()).toContain('secret_name_template, custom_tags cannot be changed');
      const mended = await sync.ask('patch', ONE, { access_token: 'memory-token', allowed_ports: [8443] });
      expect(mended.data).toMatchObject({ purge_initiated_at: expect.stringMatching(/^2030/) });
      expect(mended.data).not.toHaveProperty('purge_error');
      await sync.advance('1s');
      expect((await sync.ask('read', ONE)).status).toBe(404);
      expect(sync.provider.values()).toEqual({});
    });

    test('force_delete=true lets go of everything, and answers the list of what is left outside', async () => {
      await sync.put('a', { a: '1' });
      await sync.set('a');
      sync.provider.fail('failing');
      const { status, data, warnings } = await sync.ask('delete', ONE, { force_delete: true });
      expect(status).toBe(200);
      expect(data).toEqual({ outside: [{ kind: 'secret', name: 'app/a', system: 'memory/one', detail: 'a copy of a' }], total: 1 });
      expect(warnings?.join()).toBe('copies that this destination left outside, and that this server no longer tracks: 1');
      expect((await sync.ask('read', ONE)).status).toBe(404);
      sync.provider.heal();
      await sync.put('a', { a: '2' });
      await sync.advance('10m');
      expect(sync.provider.values()).toEqual({ 'app/a': '{"a":"1"}' });
      expect((await sync.ask('list', 'sys/sync/associations')).status).toBe(404);
    });
  });

  describe('accounts that destinations share (github-apps and the like)', () => {
    const app = 'sys/sync/memory-accounts/my-app';

    test('are written, masked, listed, and refused to go while a destination uses them', async () => {
      expect((await sync.ask('list', 'sys/sync/memory-accounts')).status).toBe(404);
      expect((await sync.ask('update', app, { owner: 'me' })).errors).toEqual(['missing required field "private_key"']);
      const written = await sync.ask('update', app, { owner: 'me', private_key: 'PEM-PEM-PEM' });
      expect(written.data).toEqual({ name: 'my-app', owner: 'me', private_key: '*****', fingerprint: 'of me' });
      expect((await sync.ask('patch', app, { owner: 'you', private_key: '*****' })).data).toMatchObject({ owner: 'you' });
      expect((await sync.ask('read', app)).data).toMatchObject({ owner: 'you', private_key: '*****' });
      expect((await sync.ask('list', 'sys/sync/memory-accounts')).data).toEqual({ keys: ['my-app'] });
      expect((await sync.ask('patch', 'sys/sync/memory-accounts/none', { owner: 'x' })).status).toBe(404);

      await sync.ask('update', ONE, { account: 'my-app' });
      const refused = await sync.ask('delete', app);
      expect(refused.errors).toEqual(['memory-accounts/my-app is used by the destination memory/one']);
      await sync.ask('update', ONE, { account: '' });
      expect((await sync.ask('delete', app)).status).toBe(204);
      expect((await sync.ask('read', app)).status).toBe(404);
    });
  });

  test('"*****" sent for the private_key of an account keeps the real one, which is what sessions are opened with', async () => {
    const usual = memoryDestination(new MemoryProvider(), 'keyed');
    const keys: unknown[] = [];
    const keyed = {
      ...usual,
      open: async (...[connection, host]: Parameters<typeof usual.open>) => {
        keys.push((host.account as { private_key?: string } | undefined)?.private_key);
        return usual.open(connection, host);
      },
    };
    const other = await syncMount({ plugins: [keyed as unknown as Plugin] });
    const app = 'sys/sync/keyed-accounts/my-app';
    const plan = async () => other.ask('read', 'sys/sync/destinations/keyed/one/plan');
    await other.ask('update', app, { owner: 'me', private_key: 'PEM-REAL' });
    await other.ask('update', 'sys/sync/destinations/keyed/one', { ...CONNECTION, account: 'my-app' });
    expect((await plan()).status).toBe(200);
    await other.ask('patch', app, { owner: 'you', private_key: '*****' });
    expect((await plan()).status).toBe(200);
    await other.ask('update', app, { owner: 'you', private_key: 'PEM-NEW' });
    expect((await plan()).status).toBe(200);
    expect(keys).toEqual(['PEM-REAL', 'PEM-REAL', 'PEM-NEW']);
    await other.close();
  });

  describe('an account that is written', () => {
    const app = 'sys/sync/memory-accounts/my-app';
    const failing = async (): Promise<void> => {
      await sync.ask('update', app, { owner: 'me', private_key: 'PEM-OLD' });
      await sync.ask('update', ONE, { account: 'my-app' });
      await sync.put('web', { a: '1' });
      await sync.set('web');
      await sync.advance('1m');
      sync.provider.fail('denied');
    };

    test('lets what failed be tried again at once', async () => {
      await failing();
      await sync.put('web', { a: '2' });
      await sync.advance('2h');
      expect((await sync.only()).sync_status).toBe('CLIENT_SIDE_ERROR');
      sync.provider.heal();
      await sync.ask('patch', app, { private_key: 'PEM-NEW' });
      await sync.advance('2s');
      expect(await sync.only()).toMatchObject({ sync_status: 'SYNCED', attempts: 0 });
    });

    test('lets a purge go on at once', async () => {
      await failing();
      await sync.ask('delete', ONE, { purge: true });
      await sync.advance('2h');
      sync.provider.heal();
      await sync.ask('patch', app, { private_key: 'PEM-NEW' });
      await sync.advance('2s');
      expect((await sync.ask('read', ONE)).status).toBe(404);
      expect(sync.provider.values()).toEqual({});
    });
  });

  describe('config', () => {
    const config = 'sys/sync/config';

    test('GET, PATCH and DELETE read, change and reset it; disabled may be a text', async () => {
      expect((await sync.ask('read', config)).data).toEqual({ disabled: false, queue_capacity: 1_000_000 });
      expect((await sync.ask('patch', config, { disabled: 'true' })).data).toEqual({ disabled: true, queue_capacity: 1_000_000 });
      expect((await sync.ask('patch', config, { queue_capacity: 5 })).data).toEqual({ disabled: true, queue_capacity: 5 });
      expect((await sync.ask('delete', config)).status).toBe(204);
      expect((await sync.ask('read', config)).data).toEqual({ disabled: false, queue_capacity: 1_000_000 });
      expect((await sync.ask('patch', config, { queue_capacity: 0 })).status).toBe(400);
    });

    test('while disabled, changes queue as PENDING; then they are carried out', async () => {
      await sync.put('web', { a: '1' });
      await sync.set('web');
      await sync.ask('patch', config, { disabled: true });
      await sync.put('web', { a: '2' });
      await sync.advance('1h');
      expect((await sync.only()).sync_status).toBe('PENDING');
      expect(sync.provider.values()).toEqual({ 'app/web': '{"a":"1"}' });
      await sync.ask('patch', config, { disabled: false });
      await sync.advance('1s');
      expect((await sync.only()).sync_status).toBe('SYNCED');
      expect(sync.provider.values()).toEqual({ 'app/web': '{"a":"2"}' });
    });

    test('sys/activation-flags shows secrets-sync as activated', async () => {
      expect((await sync.ask('read', 'sys/activation-flags', {}, '')).data).toEqual({ activated: ['secrets-sync'], unactivated: [] });
      expect((await sync.ask('update', 'sys/activation-flags/secrets-sync/activate')).data).toMatchObject({ activated: ['secrets-sync'] });
    });
  });
});

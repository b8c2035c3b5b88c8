import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { OWNER_TAG, parseMark, SYNCED_TAG } from '@strongroom/sync-sdk';
import { CONNECTION, syncMount, type SyncMount } from './sync-mount.ts';

describe('POST destinations/:type/:name/associations/set', () => {
  let sync: SyncMount;
  beforeEach(async () => {
    sync = await syncMount();
    await sync.put('web', { user: 'u', password: 'hunter2-hunter2' });
  });
  afterEach(async () => sync.close());

  const at = 'sys/sync/destinations/memory/one/associations';
  const set = async (data: Record<string, unknown>, token?: string) => sync.ask('update', `${at}/set`, data, token);

  test('mount and secret_name link a secret: its data exists outside as one JSON document, with the mark and the tag', async () => {
    const accessor = await sync.accessor();
    const { status, data } = await set({ mount: 'kv', secret_name: 'web' });
    expect(status).toBe(200);
    expect(data).toEqual({
      associated_secrets: {
        [`${accessor}/web`]: {
          accessor,
          mount: 'kv',
          secret_name: 'web',
          sync_status: 'SYNCED',
          updated_at: expect.stringMatching(/^2030-01-01T00:00:00/),
          remote_name: 'app/web',
          remote_version: 'r1',
          attempts: 0,
        },
      },
      store_name: 'one',
      store_type: 'memory',
    });
    const held = sync.provider.secrets.get('app/web')!;
    expect(JSON.parse(held.value)).toEqual({ user: 'u', password: 'hunter2-hunter2' });
    expect(held.tags[SYNCED_TAG]).toBe('');
    expect(parseMark(held.tags[OWNER_TAG])).toBeDefined();
  });

  test('mount is taken with or without its closing slash', async () => {
    expect((await set({ mount: 'kv/', secret_name: 'web' })).status).toBe(200);
    expect(await sync.associations()).toHaveLength(1);
  });

  test('a secret that is linked is refreshed, not linked twice; nothing is written when nothing changed', async () => {
    await sync.set('web');
    await sync.set('web');
    expect(await sync.associations()).toHaveLength(1);
    expect(sync.provider.count('put')).toBe(1);
  });

  test('setting again retries what failed', async () => {
    sync.provider.fail('failing');
    const [failed] = await sync.set('web');
    expect(failed).toMatchObject({
      sync_status: 'EXTERNAL_SERVICE_ERROR',
      attempts: 1,
      last_error: { message: 'it is down', code: '503', request_id: 'req-1' },
    });
    expect(Date.parse(failed!.next_attempt_at!)).toBeGreaterThan(sync.clock.millis());
    sync.provider.heal();
    expect((await sync.set('web'))[0]).toMatchObject({ sync_status: 'SYNCED', attempts: 0 });
    expect((await sync.only()).last_error).toBeUndefined();
  });

  test.each([
    [{ mount: 'kv' }, 'Secret not found. Please provide full path to existing secret'],
    [{ mount: 'kv', secret_name: 'folder/' }, 'Secret not found. Please provide full path to existing secret'],
    [{ mount: 'kv', secret_name: 'nothing' }, 'Secret not found. Please provide full path to existing secret'],
    [{ secret_name: 'web' }, 'missing required field "mount"'],
    [{ mount: 'nowhere', secret_name: 'web' }, 'mount: no secrets engine is mounted at "nowhere"'],
    [{ mount: 'cubbyhole', secret_name: 'web' }, '"cubbyhole/" offers no secrets to sync: only version-2 key-value mounts do'],
  ])('%j is a 400 that says what is wrong', async (body, text) => {
    const { status, errors } = await set(body);
    expect([status, errors]).toEqual([400, [text]]);
    expect(await sync.associations()).toEqual([]);
  });

  test('a version-1 mount is refused', async () => {
    await sync.ask('update', 'sys/mounts/old', { type: 'kv', options: { version: '1' } });
    await sync.ask('update', 'old/web', { a: 'b' });
    expect((await set({ mount: 'old', secret_name: 'web' })).errors).toEqual([
      '"old/" offers no secrets to sync: only version-2 key-value mounts do',
    ]);
  });

  test('a destination that is not there is a 404', async () => {
    const body = { mount: 'kv', secret_name: 'web' };
    expect((await sync.ask('update', 'sys/sync/destinations/memory/two/associations/set', body)).status).toBe(404);
    const unknown = await sync.ask('update', 'sys/sync/destinations/nimbus/two/associations/set', body);
    expect(unknown.errors).toEqual(['unknown destination type "nimbus"; there are: memory']);
  });

  test('the caller must be able to read the secret, and the destination alone is not enough', async () => {
    const policy = 'path "sys/sync/*" { capabilities = ["create", "update"] }';
    await sync.ask('update', 'sys/policies/acl/syncer', { policy });
    const made = await sync.ask('update', 'auth/token/create', { policies: ['syncer'] });
    const token = made.auth!.client_token;
    const refused = await set({ mount: 'kv', secret_name: 'web' }, token);
    expect(refused.status).toBe(403);
    expect(refused.errors?.join()).toContain('permission denied to read the content of the secret web in mount kv');
    const more = `${policy} path "kv/data/web" { capabilities = ["read"] }`;
    await sync.ask('update', 'sys/policies/acl/syncer', { policy: more });
    expect((await set({ mount: 'kv', secret_name: 'web' }, token)).status).toBe(200);
  });

  test('two associations that render one remote name are refused', async () => {
    await sync.ask('patch', 'sys/sync/destinations/memory/one', { secret_name_template: 'always-{{ .MountPath }}' });
    await sync.put('other', { a: '1' });
    await sync.set('web');
    const { status, errors } = await set({ mount: 'kv', secret_name: 'other' });
    expect(status).toBe(400);
    expect(errors?.join()).toContain('the name "always-kv" is used by another association of this destination');
    await sync.remove('web');
    expect((await set({ mount: 'kv', secret_name: 'other' })).status).toBe(200);
  });

  test('the queue takes no more than queue_capacity', async () => {
    await sync.put('other', { a: '1' });
    await sync.ask('patch', 'sys/sync/config', { queue_capacity: 1, disabled: true });
    expect((await set({ mount: 'kv', secret_name: 'web' })).status).toBe(200);
    const full = await set({ mount: 'kv', secret_name: 'other' });
    expect(full.status).toBe(429);
    expect(full.errors?.join()).toContain('queue_capacity is 1');
  });

  test('wait bounds how long a hanging provider holds the answer up; the schedule goes on', async () => {
    sync.provider.fail('hanging');
    const answer = set({ mount: 'kv', secret_name: 'web', wait: '3s' });
    for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
    await sync.clock.advance('3s');
    expect((await answer).data).toMatchObject({ associated_secrets: { [`${await sync.accessor()}/web`]: { sync_status: 'SYNCING' } } });
    await sync.clock.advance('45s');
    sync.provider.heal();
    expect(await sync.only()).toMatchObject({ sync_status: 'EXTERNAL_SERVICE_ERROR', last_error: { message: 'no answer within 45 s' } });
    await sync.advance('5m');
    expect((await sync.only()).sync_status).toBe('SYNCED');
  });
});

describe('POST destinations/:type/:name/associations/remove', () => {
  let sync: SyncMount;
  beforeEach(async () => {
    sync = await syncMount();
    await sync.put('web', { a: '1' });
    await sync.set('web');
  });
  afterEach(async () => sync.close());

  test.each(['secret_name', 'name'])('unlinks the secret named in %s and removes it outside', async (field) => {
    const answer = await sync.ask('update', 'sys/sync/destinations/memory/one/associations/remove', { mount: 'kv', [field]: 'web' });
    expect(answer.status).toBe(200);
    expect(answer.warnings ?? []).toEqual([]);
    expect(Object.values((answer.data as { associated_secrets: object }).associated_secrets)).toEqual([
      expect.objectContaining({ secret_name: 'web', mount: 'kv', sync_status: 'UNSYNCED' }),
    ]);
    expect(sync.provider.values()).toEqual({});
    expect(await sync.associations()).toEqual([]);
  });

  test('succeeds where there is no such association, and where the secret is gone outside', async () => {
    expect((await sync.remove('nothing'))[0]?.sync_status).toBe('UNSYNCED');
    await sync.provider.remove('app/web');
    expect((await sync.remove('web'))[0]?.sync_status).toBe('UNSYNCED');
    expect((await sync.remove('web'))[0]?.sync_status).toBe('UNSYNCED');
    expect(await sync.remove('web', { mount: 'nowhere' })).toEqual([]);
  });

  test('keeps trying while the provider fails, and shows why', async () => {
    sync.provider.fail('failing');
    expect((await sync.remove('web'))[0]).toMatchObject({ sync_status: 'EXTERNAL_SERVICE_ERROR', attempts: 1 });
    sync.provider.heal();
    await sync.advance('1m');
    expect(await sync.associations()).toEqual([]);
    expect(sync.provider.values()).toEqual({});
  });

  test('does not touch what is not ours any more', async () => {
    await sync.provider.remove('app/web');
    await sync.provider.write('app/web', 'theirs');
    await sync.remove('web');
    expect(sync.provider.values()).toEqual({ 'app/web': 'theirs' });
    expect(await sync.associations()).toEqual([]);
  });

  test('what was removed can be set again', async () => {
    await sync.remove('web');
    expect((await sync.set('web'))[0]?.sync_status).toBe('SYNCED');
  });
});

describe('lists of associations', () => {
  let sync: SyncMount;
  beforeEach(async () => {
    sync = await syncMount();
    await sync.ask('update', 'sys/sync/destinations/memory/two', { ...CONNECTION, secret_name_template: 'two/{{ .SecretPath }}' });
    await sync.ask('update', 'sys/mounts/team/kv', { type: 'kv', options: { version: '2' } });
    await sync.put('web', { a: '1' });
    await sync.ask('update', 'team/kv/data/deep/er', { data: { b: '2' } });
  });
  afterEach(async () => sync.close());

  const link = async (): Promise<void> => {
    await sync.set('web');
    const set = 'sys/sync/destinations/memory/two/associations/set';
    await sync.ask('update', set, { mount: 'kv', secret_name: 'web' });
    await sync.ask('update', set, { mount: 'team/kv', secret_name: 'deep/er' });
  };

  test('GET destinations/:type/:name/associations answers 200 with nothing when there are none', async () => {
    expect((await sync.ask('read', 'sys/sync/destinations/memory/one/associations')).data).toEqual({
      associated_secrets: {},
      store_name: 'one',
      store_type: 'memory',
    });
  });

  test('GET destinations/:type/:name/associations lists each with its latest status, by either variant of the type', async () => {
    await link();
    const { data } = await sync.ask('read', 'sys/sync/destinations/memory-alias/two/associations');
    const entries = (data as { associated_secrets: Record<string, { sync_status: string }>; store_type: string }).associated_secrets;
    expect(Object.keys(entries)).toEqual([`${await sync.accessor()}/web`, `${await sync.accessor('team/kv')}/deep/er`].sort());
    expect(Object.values(entries).map(({ sync_status }) => sync_status)).toEqual(['SYNCED', 'SYNCED']);
    expect((data as { store_type: string }).store_type).toBe('memory');
  });

  test('LIST associations counts secrets and associations, and is a 404 without any', async () => {
    expect((await sync.ask('list', 'sys/sync/associations')).status).toBe(404);
    await link();
    expect((await sync.ask('list', 'sys/sync/associations')).data).toEqual({
      key_info: {
        'kv/web': [{ mount: 'kv/', secret_path: 'web' }],
        'team/kv/deep/er': [{ mount: 'team/kv/', secret_path: 'deep/er' }],
      },
      keys: ['kv/web', 'team/kv/deep/er'],
      total_associations: 3,
      total_secrets: 2,
    });
  });

  test('GET associations/:mount/:name and associations/destinations?mount=&secret_name= show where a secret goes', async () => {
    await link();
    const web = {
      associated_destinations: {
        'memory/one': { type: 'memory', name: 'one', sync_status: 'SYNCED', updated_at: expect.any(String) },
        'memory/two': { type: 'memory', name: 'two', sync_status: 'SYNCED', updated_at: expect.any(String) },
      },
    };
    expect((await sync.ask('read', 'sys/sync/associations/kv/web')).data).toEqual(web);
    const query = async (mount: string, secret_name: string) =>
      sync.ask('read', 'sys/sync/associations/destinations', { mount, secret_name });
    expect((await query('kv/', 'web')).data).toEqual(web);
    expect(Object.keys(((await query('team/kv', 'deep/er')).data as typeof web).associated_destinations)).toEqual(['memory/two']);
    expect((await query('kv', 'other')).status).toBe(404);
    expect((await sync.ask('read', 'sys/sync/associations/kv/other')).status).toBe(404);
    expect((await sync.ask('read', 'sys/sync/associations/destinations', { mount: 'kv' })).status).toBe(400);
  });
});

describe('POST destinations/:type/:name/names', () => {
  let sync: SyncMount;
  beforeEach(async () => {
    sync = await syncMount();
    await sync.put('web', { user: 'u', password: 'p' });
    await sync.put('api', { key: 'k' });
  });
  afterEach(async () => sync.close());

  const names = async (data: Record<string, unknown>, token?: string) =>
    sync.ask('update', 'sys/sync/destinations/memory/one/names', data, token);

  test('shows how secrets would be named outside, links nothing and asks nothing outside', async () => {
    await sync.set('web');
    const asked = sync.provider.count('put');
    const { status, data } = await names({ mount: 'kv', secret_names: ['web', 'api', 'none'] });
    expect(status).toBe(200);
    expect(data).toEqual({
      secrets: [
        { secret_name: 'web', linked: true, remote_names: ['app/web'] },
        { secret_name: 'api', linked: false, remote_names: ['app/api'] },
        { secret_name: 'none', remote_names: [], error: expect.stringContaining('Secret not found') },
      ],
    });
    expect(sync.provider.count('put')).toBe(asked);
    expect(await sync.associations()).toHaveLength(1);
  });

  test('says nothing about secrets that the caller may not read', async () => {
    await sync.ask('update', 'sys/policies/acl/some', {
      policy: 'path "sys/sync/*" { capabilities = ["update"] }\npath "kv/data/web" { capabilities = ["read"] }',
    });
    const { auth } = await sync.call('update', 'auth/token/create', { data: { policies: ['some'] } });
    const { data } = await names({ mount: 'kv', secret_names: ['web', 'api', 'none'] }, auth!.client_token);
    expect(data).toMatchObject({
      secrets: [
        { remote_names: ['app/web'] },
        { remote_names: [], error: expect.stringContaining('permission denied') },
        { remote_names: [], error: expect.stringContaining('permission denied') },
      ],
    });
  });

  test('wrong input is refused', async () => {
    expect((await names({ mount: 'kv' })).status).toBe(400);
    expect((await names({ mount: 'kv', secret_names: Array.from({ length: 501 }, () => 'x') })).status).toBe(400);
    expect((await sync.ask('update', 'sys/sync/destinations/memory/two/names', { mount: 'kv', secret_names: ['web'] })).status).toBe(404);
  });
});

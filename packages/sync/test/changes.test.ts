import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { memoryStorage } from '@strongroom/storage-sdk';
import { manualClock, mountForTest, sharedMemory } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import { MemoryProvider } from '@strongroom/sync-testkit';
import { CONNECTION, syncMount, type SyncMount } from './sync-mount.ts';

const ONE = 'sys/sync/destinations/memory/one';

describe('a change of the source syncs by itself', () => {
  let sync: SyncMount;
  beforeEach(async () => {
    sync = await syncMount();
    await sync.put('web', { a: '1' });
    await sync.set('web');
  });
  afterEach(async () => sync.close());

  const values = async () => {
    await sync.advance('1s');
    return sync.provider.values();
  };

  test('a new version', async () => {
    await sync.put('web', { a: '2' });
    expect(await values()).toEqual({ 'app/web': '{"a":"2"}' });
    expect(await sync.only()).toMatchObject({ sync_status: 'SYNCED', remote_version: 'r2' });
  });

  test('a patch', async () => {
    await sync.ask('patch', 'kv/data/web', { data: { b: '2' } });
    expect(await values()).toEqual({ 'app/web': '{"a":"1","b":"2"}' });
  });

  test('a delete, and an undelete', async () => {
    await sync.ask('delete', 'kv/data/web');
    expect(await values()).toEqual({});
    expect((await sync.only()).sync_status).toBe('UNSYNCED');
    await sync.ask('update', 'kv/undelete/web', { versions: [1] });
    expect(await values()).toEqual({ 'app/web': '{"a":"1"}' });
    expect((await sync.only()).sync_status).toBe('SYNCED');
  });

  test('a destroy', async () => {
    await sync.ask('update', 'kv/destroy/web', { versions: [1] });
    expect(await values()).toEqual({});
  });

  test('the end of the metadata, and a secret made again under the name', async () => {
    await sync.ask('delete', 'kv/metadata/web');
    expect(await values()).toEqual({});
    await sync.put('web', { a: 'new' });
    expect(await values()).toEqual({ 'app/web': '{"a":"new"}' });
  });

  test('a version that ends by itself goes outside when it ends', async () => {
    await sync.ask('update', 'kv/metadata/web', { delete_version_after: '1h' });
    await sync.put('web', { a: '2' });
    expect(await values()).toEqual({ 'app/web': '{"a":"2"}' });
    await sync.advance('1h');
    expect(await values()).toEqual({});
  });

  test('a secret that nobody linked is nobody’s business', async () => {
    await sync.put('other', { a: '1' });
    await sync.advance('1h');
    expect(sync.provider.values()).toEqual({ 'app/web': '{"a":"1"}' });
  });

  test('many versions at once arrive in order, and the last one stands', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, index) => sync.put('web', { a: String(index) })));
    await sync.advance('1m');
    const current = (await sync.ask('read', 'kv/data/web')).data as { data: object };
    expect(sync.provider.values()).toEqual({ 'app/web': JSON.stringify(current.data) });
    expect(sync.provider.count('put')).toBeLessThan(31);
  });

  test('a version written while another is on its way is not lost', async () => {
    let written = false;
    sync.provider.hook = async (call, moment) => {
      if (written || !call.startsWith('put') || moment !== 'after') return;
      written = true;
      await sync.put('web', { a: '3' });
    };
    await sync.put('web', { a: '2' });
    await sync.advance('1m');
    expect(written).toBe(true);
    expect(sync.provider.values()).toEqual({ 'app/web': '{"a":"3"}' });
  });

  test('a failing provider is tried again with growing delay, and other changes go in with it', async () => {
    sync.provider.fail('failing');
    await sync.put('web', { a: '2' });
    const delays: number[] = [];
    for (let round = 1; round <= 4; round += 1) {
      await sync.advance('1s');
      const { attempts, next_attempt_at } = await sync.only();
      expect(attempts).toBe(round);
      delays.push(Date.parse(next_attempt_at!) - sync.clock.millis());
      if (round === 4) sync.provider.heal();
      await sync.clock.set(next_attempt_at!);
      await sync.core.settleSchedule();
    }
    expect(delays[3]).toBeGreaterThan(4 * delays[0]!);
    expect(await values()).toEqual({ 'app/web': '{"a":"2"}' });
  });

  test('the secrets of a mount that moves follow', async () => {
    await sync.ask('update', 'sys/remount', { from: 'kv', to: 'team/kv' });
    await sync.ask('update', 'team/kv/data/web', { data: { a: 'moved' } });
    expect(await values()).toEqual({ 'app/web': '{"a":"moved"}' });
    expect(await sync.only()).toMatchObject({ mount: 'team/kv', sync_status: 'SYNCED', remote_name: 'app/web' });
    expect((await sync.ask('read', 'sys/sync/associations/destinations', { mount: 'team/kv', secret_name: 'web' })).status).toBe(200);
  });

  test('the secrets of a mount that is unmounted are unsynced', async () => {
    await sync.put('two', { b: '1' });
    await sync.set('two');
    await sync.ask('delete', 'sys/mounts/kv');
    expect(await values()).toEqual({});
    expect(await sync.associations()).toEqual([]);
  });

  test('one secret goes to several destinations', async () => {
    await sync.ask('update', 'sys/sync/destinations/memory/two', { ...CONNECTION, secret_name_template: 'two/{{ .SecretPath }}' });
    await sync.ask('update', 'sys/sync/destinations/memory/two/associations/set', { mount: 'kv', secret_name: 'web' });
    await sync.put('web', { a: '2' });
    expect(await values()).toEqual({ 'app/web': '{"a":"2"}', 'two/web': '{"a":"2"}' });
  });

  test('a change rolled back with its transaction schedules nothing', async () => {
    expect((await sync.ask('update', 'kv/data/web', { data: { a: '9' }, options: { cas: 7 } })).status).toBe(400);
    await sync.advance('1m');
    expect(sync.provider.count('put')).toBe(1);
  });
});

describe('what changed while nobody listened', () => {
  test('a server without the package, then with it again: the difference is found at the start', async () => {
    const disk = memoryStorage();
    const keep = {
      ...disk,
      get: disk.get.bind(disk),
      range: disk.range.bind(disk),
      commit: disk.commit.bind(disk),
      changes: disk.changes.bind(disk),
      name: disk.name,
      shared: disk.shared,
      close: async () => undefined,
    };
    const clock = manualClock();
    const first = await syncMount({ mount: { storage: keep, clock } });
    await first.put('web', { a: '1' });
    await first.set('web');
    const { provider } = first;
    await first.close();

    const without = await mountForTest(kvEngine, { storage: keep, clock, options: { version: '2' } });
    await without.call('update', 'kv/data/web', { data: { data: { a: '2' } } });
    await without.close();

    const again = await syncMount({ mount: { storage: keep, clock }, provider });
    await again.advance('1s');
    expect(provider.values()).toEqual({ 'app/web': '{"a":"2"}' });
    await again.close();
  });

  test('an association that another process makes is heard of, whoever writes the secret', async () => {
    const store = sharedMemory();
    const provider = new MemoryProvider();
    const clock = manualClock();
    const one = await syncMount({ mount: { storage: store.open(), clock }, provider });
    await one.put('web', { a: '1' });
    const two = await syncMount({ mount: { storage: store.open(), clock }, provider });
    await one.set('web');
    await two.put('web', { a: '2' });
    await one.advance('1m');
    await two.advance('1m');
    expect(provider.values()).toEqual({ 'app/web': '{"a":"2"}' });
    await one.close();
    await two.close();
  });
});

describe('granularity and names', () => {
  let sync: SyncMount;
  beforeEach(async () => {
    sync = await syncMount();
    await sync.ask('patch', ONE, { granularity: 'secret-key', secret_name_template: '{{ .SecretPath }}-{{ .SecretKey | uppercase }}' });
  });
  afterEach(async () => sync.close());

  test('secret-key gives one secret per key: texts raw, the rest as JSON, each with its own entry and sub_key', async () => {
    await sync.put('web', { user: 'u', port: 5432, tls: { on: true } });
    const entries = await sync.set('web');
    expect(sync.provider.values()).toEqual({ 'web-USER': 'u', 'web-PORT': '5432', 'web-TLS': '{"on":true}' });
    expect(entries.map(({ sub_key, sync_status }) => [sub_key, sync_status]).sort()).toEqual([
      ['port', 'SYNCED'],
      ['tls', 'SYNCED'],
      ['user', 'SYNCED'],
    ]);
    const { data } = await sync.ask('read', `${ONE}/associations`);
    expect(Object.keys((data as { associated_secrets: object }).associated_secrets)).toEqual(
      ['port', 'tls', 'user'].map((key) => `${entries[0]!.accessor}/web/${key}`),
    );
  });

  test('keys that come and go are followed, and the others are not written', async () => {
    await sync.put('web', { a: '1', b: '2' });
    await sync.set('web');
    await sync.put('web', { b: '2', c: '3' });
    await sync.advance('1s');
    expect(sync.provider.values()).toEqual({ 'web-B': '2', 'web-C': '3' });
    expect(sync.provider.count('put')).toBe(3);
  });

  test('a changed template or granularity counts for what is set from then on; set makes the new name before the old one goes', async () => {
    await sync.put('web', { a: '1' });
    await sync.set('web');
    await sync.ask('patch', ONE, { granularity: 'secret-path', secret_name_template: 'whole-{{ .SecretPath }}' });
    await sync.advance('1s');
    await sync.put('web', { a: '2' });
    await sync.advance('1s');
    expect(sync.provider.values()).toEqual({ 'web-A': '2' });
    sync.provider.log.length = 0;
    await sync.set('web');
    expect(sync.provider.values()).toEqual({ 'whole-web': '{"a":"2"}' });
    expect(sync.provider.log.filter((call) => !call.startsWith('read'))).toEqual(['put whole-web', 'remove web-A']);
  });

  test('the old name stays while the new one cannot be made', async () => {
    await sync.put('web', { a: '1' });
    await sync.set('web');
    await sync.ask('patch', ONE, { granularity: 'secret-path', secret_name_template: 'whole-{{ .SecretPath }}' });
    sync.provider.fail('denied', /^put/);
    await sync.set('web');
    expect(sync.provider.values()).toEqual({ 'web-A': '1' });
    sync.provider.heal();
    await sync.advance('1m');
    expect(sync.provider.values()).toEqual({ 'whole-web': '{"a":"1"}' });
  });

  test('two keys that get one name are refused when set, and shown on the association when they come later', async () => {
    await sync.put('web', { a: '1', A: '2' });
    const refused = await sync.ask('update', `${ONE}/associations/set`, { mount: 'kv', secret_name: 'web' });
    expect(refused.errors?.join()).toContain('two keys of the secret get the same name "web-A"');
    await sync.put('web', { a: '1' });
    await sync.set('web');
    await sync.put('web', { a: '1', A: '2' });
    await sync.advance('1s');
    expect((await sync.associations()).map(({ last_error }) => last_error?.code ?? 'none')).toContain('name_in_use');
    expect(sync.provider.values()).toEqual({ 'web-A': '1' });
  });

  test.each([
    ['{{ .DestinationType }}.{{ .DestinationName }}', 'memory.one'],
    ['{{ .NamespacePath }}{{ .NamespaceBaseName }}-{{ .NamespaceID }}', '-root'],
    ['{{ .MountPath }}+{{ .MountBaseName }}', 'team/kv-kv'],
    ['{{ .SecretPath | replace "/" "_" }}', 'deep_er'],
    ['{{ .SecretBaseName | uppercase }}', 'ER'],
    ['{{ .SecretKey | truncate 2 | lowercase }}', 'lo'],
    ['a b$c:{{ .SecretBaseName }}', 'a-b-c-er'],
  ])('the template %s gives %s', async (secret_name_template, name) => {
    await sync.ask('update', 'sys/mounts/team/kv', { type: 'kv', options: { version: '2' } });
    await sync.ask('update', 'team/kv/data/deep/er', { data: { LONGKEY: '1' } });
    await sync.ask('patch', ONE, { secret_name_template });
    await sync.ask('update', `${ONE}/associations/set`, { mount: 'team/kv', secret_name: 'deep/er' });
    expect(Object.keys(sync.provider.values())).toEqual([name]);
  });

  test('a name that does not fit is a 400 with the rule', async () => {
    await sync.ask('patch', ONE, { secret_name_template: `${'x'.repeat(200)}` });
    await sync.put('web', { a: '1' });
    const { errors } = await sync.ask('update', `${ONE}/associations/set`, { mount: 'kv', secret_name: 'web' });
    expect(errors?.join()).toContain('must be letters, digits and any of "_/.@-", at most 128 characters');
  });

  test('custom_tags go out with the next sync', async () => {
    await sync.put('web', { a: '1' });
    await sync.set('web');
    await sync.ask('patch', ONE, { custom_tags: { team: 'blue' } });
    await sync.advance('1s');
    expect(sync.provider.secrets.get('web-A')?.tags['team']).toBe('blue');
  });
});

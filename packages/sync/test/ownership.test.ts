import { afterEach, describe, expect, test } from '@jest/globals';
import { ClientSideError } from '@strongroom/sync-sdk';
import type { MemoryProviderOptions } from '@strongroom/sync-testkit';
import { manualClock } from '@strongroom/engine-testkit';
import { CONNECTION, syncMount, type Data, type SyncMount } from './sync-mount.ts';

const ONE = 'sys/sync/destinations/memory/one';

describe.each(['marked', 'recorded'] as const)('what is not ours is not harmed, where ownership is %s', (ownership) => {
  let sync: SyncMount;
  const start = async (options: MemoryProviderOptions = {}, destination: Data = {}): Promise<void> => {
    const clock = manualClock();
    sync = await syncMount({ ownership, now: () => clock.now(), ...options, mount: { clock } });
    await sync.ask('patch', ONE, destination);
    await sync.put('web', { a: '1' });
  };
  afterEach(async () => sync.close());

  test('on_conflict fail: a secret that is there is unchanged, and the association says what to do', async () => {
    await start();
    await sync.provider.write('app/web', 'theirs');
    const [entry] = await sync.set('web');
    expect(entry).toMatchObject({ sync_status: 'CLIENT_SIDE_ERROR', last_error: { code: 'conflict' } });
    expect(entry?.last_error?.message).toContain('set on_conflict to "adopt" or "overwrite"');
    expect(sync.provider.values()).toEqual({ 'app/web': 'theirs' });
    await sync.remove('web');
    expect(sync.provider.values()).toEqual({ 'app/web': 'theirs' });
  });

  test.each(['adopt', 'overwrite'])('on_conflict %s: it becomes ours, and goes with the association', async (on_conflict) => {
    await start({}, { on_conflict });
    await sync.provider.write('app/web', 'theirs');
    expect((await sync.set('web'))[0]?.sync_status).toBe('SYNCED');
    expect(sync.provider.values()).toEqual({ 'app/web': '{"a":"1"}' });
    await sync.put('web', { a: '2' });
    await sync.advance('1s');
    expect(sync.provider.values()).toEqual({ 'app/web': '{"a":"2"}' });
    await sync.remove('web');
    expect(sync.provider.values()).toEqual({});
  });

  test('somebody who takes the name between our look and our write is not overwritten', async () => {
    await start();
    sync.provider.hook = async (call, moment) => {
      if (moment === 'after' && call === 'read app/web') await sync.provider.write('app/web', 'theirs');
    };
    await sync.set('web');
    expect(sync.provider.values()).toEqual({ 'app/web': 'theirs' });
  });

  test('a secret that somebody deletes and makes again is theirs', async () => {
    await start();
    await sync.set('web');
    await sync.provider.remove('app/web');
    await sync.clock.advance('1h');
    await sync.provider.write('app/web', 'theirs');
    await sync.put('web', { a: '2' });
    await sync.advance('1s');
    expect(sync.provider.values()).toEqual({ 'app/web': 'theirs' });
    expect((await sync.only()).last_error?.code).toBe('conflict');
  });

  test('a soft-deleted name of ours is recovered and set', async () => {
    await start({ softDelete: true });
    await sync.set('web');
    await sync.provider.softDelete('app/web');
    await sync.put('web', { a: '2' });
    await sync.advance('1s');
    expect(sync.provider.values()).toEqual({ 'app/web': '{"a":"2"}' });
  });
});

describe('destinations with marks', () => {
  let sync: SyncMount;
  afterEach(async () => sync.close());

  test('on_conflict adopt does not take what another destination has marked; overwrite does', async () => {
    sync = await syncMount();
    await sync.put('web', { a: '1' });
    await sync.set('web');
    const rival = 'sys/sync/destinations/memory/rival';
    const association = { mount: 'kv', secret_name: 'web' };
    await sync.ask('update', rival, { ...CONNECTION, on_conflict: 'adopt', custom_tags: { by: 'rival' } });
    await sync.ask('update', `${rival}/associations/set`, association);
    expect((await sync.associations('memory/rival'))[0]?.last_error?.message).toContain('belongs to another destination');
    expect(sync.provider.secrets.get('app/web')?.tags['by']).toBeUndefined();
    await sync.ask('patch', rival, { on_conflict: 'overwrite' });
    await sync.ask('update', `${rival}/associations/set`, association);
    expect(sync.provider.secrets.get('app/web')?.tags['by']).toBe('rival');
  });

  test('a destination deleted and made again by the same name takes up the copies that it soft-deleted itself', async () => {
    sync = await syncMount({ softDelete: true });
    await sync.put('web', { a: '1' });
    await sync.set('web');
    for (let round = 0; round < 2; round += 1) {
      await sync.ask('delete', ONE, { purge: true });
      await sync.advance('1s');
      expect((await sync.ask('read', ONE)).status).toBe(404);
      expect(sync.provider.values()).toEqual({});
      await sync.ask('update', ONE, CONNECTION);
      expect((await sync.set('web'))[0]).toMatchObject({ sync_status: 'SYNCED' });
      expect(sync.provider.values()).toEqual({ 'app/web': '{"a":"1"}' });
    }
  });

  test('but not copies that exist outside, which it let go of, nor those that another name soft-deleted', async () => {
    sync = await syncMount({ softDelete: true });
    for (const name of ['web', 'db']) {
      await sync.put(name, { a: '1' });
      await sync.set(name);
    }
    await sync.remove('db');
    await sync.ask('delete', ONE, { force_delete: true });
    await sync.ask('update', ONE, CONNECTION);
    expect((await sync.set('web'))[0]?.last_error?.code).toBe('conflict');
    const other = 'sys/sync/destinations/memory/other';
    await sync.ask('update', other, CONNECTION);
    await sync.ask('update', `${other}/associations/set`, { mount: 'kv', secret_name: 'db' });
    expect((await sync.associations('memory/other'))[0]?.last_error?.message).toContain('was deleted but can be recovered');
  });

  test('what was soft-deleted with its association is recovered when it is set again', async () => {
    sync = await syncMount({ softDelete: true });
    await sync.put('web', { a: '1' });
    await sync.set('web');
    await sync.remove('web');
    expect(sync.provider.values()).toEqual({});
    expect((await sync.set('web'))[0]?.sync_status).toBe('SYNCED');
  });
});

describe('limits are checked before anything is sent', () => {
  let sync: SyncMount;
  afterEach(async () => sync.close());

  const refusal = async (options: MemoryProviderOptions['limits'], data: Data, granularity = 'secret-path') => {
    sync = await syncMount({ limits: options ?? {} });
    await sync.ask('patch', ONE, { granularity, secret_name_template: '{{ .SecretPath }}{{ .SecretKey }}' });
    await sync.put('web', data);
    const [entry] = await sync.set('web');
    expect(sync.provider.count('put')).toBe(0);
    expect(entry?.sync_status).toBe('CLIENT_SIDE_ERROR');
    return entry?.last_error;
  };

  test('the size of a value, in bytes', async () => {
    const error = await refusal({ valueMaxBytes: 10 }, { key: 'é'.repeat(6) }, 'secret-key');
    expect(error).toEqual({ message: 'the value has 12 bytes, and the memory takes at most 10', code: 'value_too_large' });
  });

  test('an empty value', async () => {
    const error = await refusal({ emptyValue: false }, { key: '' }, 'secret-key');
    expect(error).toEqual({ message: 'the value is empty, which the memory does not take', code: 'value_empty' });
  });

  test('the number of secrets, whoever wrote them', async () => {
    sync = await syncMount({ limits: { maxCount: 2 } });
    await sync.provider.write('theirs', 'x');
    for (const name of ['one', 'two']) await sync.put(name, { a: '1' });
    expect((await sync.set('one'))[0]?.sync_status).toBe('SYNCED');
    expect((await sync.set('two'))[0]?.last_error).toEqual({
      message: 'the memory holds 2 secrets there, and takes at most 2',
      code: 'too_many_secrets',
    });
    expect(sync.provider.count('put')).toBe(1);
    await sync.put('one', { a: '2' });
    await sync.advance('1s');
    expect((await sync.provider.read('app/one'))?.value).toBe('{"a":"2"}');
  });
});

describe('outgoing requests', () => {
  let sync: SyncMount;
  afterEach(async () => sync.close());

  test.each([
    [{ disable_strict_networking: false }, 'port 8200 of 127.0.0.1 is not allowed'],
    [{ disable_strict_networking: false, allowed_ports: 8200 }, '127.0.0.1 is a special-purpose address'],
  ])('%j is refused unless the destination allows it', async (rules, text) => {
    sync = await syncMount();
    await sync.ask('patch', ONE, rules);
    await sync.put('web', { a: '1' });
    const [entry] = await sync.set('web');
    expect(entry?.sync_status).toBe('CLIENT_SIDE_ERROR');
    expect(entry?.last_error).toMatchObject({ code: 'address_refused', message: expect.stringContaining(text) });
    expect(sync.provider.requests()).toBe(0);
    await sync.ask('patch', ONE, { allowed_ipv4_addresses: '127.0.0.1', allowed_ports: '8200' });
    await sync.advance('1s');
    expect((await sync.only()).sync_status).toBe('SYNCED');
  });
});

describe('secrets are shown nowhere', () => {
  test('an error of the provider that holds the value or the credentials is masked', async () => {
    const sync = await syncMount();
    await sync.put('web', { a: 'value-value-value' });
    sync.provider.hook = (call) => {
      if (call.startsWith('put')) throw new ClientSideError('refused {"a":"value-value-value"} of memory-token', { providerCode: '400' });
    };
    const [entry] = await sync.set('web');
    expect(entry?.last_error?.message).toBe('refused ***** of *****');
    await sync.close();
  });

  test('so is one that holds a part of a secret that goes out as one document', async () => {
    const sync = await syncMount();
    await sync.put('web', { user: 'somebody', deep: { list: ['value-value-value', 7] } });
    sync.provider.hook = (call) => {
      if (call.startsWith('put')) throw new ClientSideError('the part "value-value-value" is refused', { providerCode: '400' });
    };
    const [entry] = await sync.set('web');
    expect(entry?.last_error?.message).toBe('the part "*****" is refused');
    await sync.close();
  });
});

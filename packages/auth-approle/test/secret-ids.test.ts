import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CoreResponse } from '@strongroom/core';
import { mounted, type MountedAppRole } from './mounted.ts';

describe('the secret ids of a role', () => {
  let mount: MountedAppRole;
  beforeEach(async () => {
    mount = await mounted();
    await mount.role('web', { secret_id_ttl: '10m', secret_id_num_uses: 3 });
    await mount.role('free');
  });
  afterEach(async () => mount.close());

  const ask = async (path: string, data: Record<string, unknown>): Promise<CoreResponse> =>
    mount.call('update', `auth/approle/role/${path}`, { data });
  const refusal = async (path: string, data: Record<string, unknown>): Promise<readonly unknown[]> => {
    const { status, errors } = await ask(path, data);
    return [status, ...(errors ?? [])];
  };

  test('take uses and ttl from the role, or less', async () => {
    expect(await mount.secretId('web')).toMatchObject({ secret_id_num_uses: 3, secret_id_ttl: 600 });
    expect(await mount.secretId('web', { num_uses: 2, ttl: '5m' })).toMatchObject({ secret_id_num_uses: 2, secret_id_ttl: 300 });
    expect(await mount.secretId('free')).toMatchObject({ secret_id_num_uses: 0, secret_id_ttl: 0 });
  });

  test.each([
    [{ num_uses: 4 }, "num_uses cannot be higher than the role's secret_id_num_uses"],
    [{ num_uses: 0 }, "num_uses cannot be higher than the role's secret_id_num_uses"],
    [{ num_uses: -1 }, 'num_uses cannot be negative'],
    [{ ttl: '11m' }, "ttl cannot be longer than the role's secret_id_ttl"],
    [{ ttl: 0 }, "ttl cannot be longer than the role's secret_id_ttl"],
    [{ metadata: 'nonsense' }, 'failed to parse metadata: failed to parse the input: invalid <key,value> format'],
    [{ metadata: '{"a":1}' }, 'failed to parse metadata: the value of "a" is not a string'],
    [{ metadata: '{"a":' }, 'failed to parse metadata: failed to parse the input: it begins as a JSON object and is none'],
    [{ metadata: `{"a":"${'x'.repeat(513)}"}` }, 'failed to parse metadata: the value of "a" is longer than 512 bytes'],
    [{ cidr_list: 'nowhere' }, 'failed to validate CIDR blocks: invalid CIDR address: nowhere'],
    [{ token_bound_cidrs: '10.0.0.0/33' }, 'failed to validate CIDR blocks: invalid CIDR address: 10.0.0.0/33'],
  ])('%p is refused with a text that says why', async (data, text) => {
    expect(await refusal('web/secret-id', data)).toEqual([400, text]);
    expect(await mount.accessors('web')).toEqual([]);
  });

  test('are usable within the addresses of the role only', async () => {
    await mount.role('near', { secret_id_bound_cidrs: '10.0.0.0/8', token_bound_cidrs: '10.0.0.0/8' });
    const [, text] = await refusal('near/secret-id', { cidr_list: '10.1.0.0/16,192.0.2.0/24' });
    expect(text).toMatch(/^failed to verify subset relationship .* \["10.0.0.0\/8"\] .* \["10.1.0.0\/16" "192.0.2.0\/24"\]$/);
    expect((await refusal('near/secret-id', { token_bound_cidrs: '0.0.0.0/0' }))[0]).toBe(400);
    expect((await ask('near/secret-id', { cidr_list: '10.1.0.0/16' })).status).toBe(200);
  });

  test("live no longer than the mount's maximum", async () => {
    expect(await mount.secretId('free', { ttl: '2000h' })).toMatchObject({ secret_id_ttl: 2_764_800 });
  });

  test('of your own choice work as written, without the spaces around them, and once for each role', async () => {
    const roleId = await mount.role('free');
    expect((await ask('free/custom-secret-id', { secret_id: ' mine ' })).data).toMatchObject({ secret_id: 'mine' });
    expect((await mount.login(roleId, 'mine')).status).toBe(200);
    expect(await refusal('free/custom-secret-id', { secret_id: 'mine' })).toEqual([
      400,
      'failed to store secret_id: SecretID is already registered',
    ]);
    expect((await ask('web/custom-secret-id', { secret_id: 'mine' })).status).toBe(200);
    expect(await refusal('free/custom-secret-id', { secret_id: '  ' })).toEqual([400, 'missing secret_id']);
    expect(await refusal('free/custom-secret-id', { secret_id: 'x'.repeat(4_097) })).toEqual([400, 'secret_id is longer than 4096 bytes']);
  });

  test('that have expired can be chosen again', async () => {
    await ask('web/custom-secret-id', { secret_id: 'mine', ttl: '30s' });
    await mount.clock.advance('30s');
    expect((await ask('web/custom-secret-id', { secret_id: 'mine' })).status).toBe(200);
    await mount.advance('1m');
    expect(await mount.lookup('web', 'mine')).not.toBeNull();
    expect(await mount.accessors('web')).toHaveLength(1);
  });

  test('are looked up and destroyed by themselves and by their accessors', async () => {
    const one = await mount.secretId('web', { metadata: 'env=test,__proto__=x' });
    const seen = await mount.lookup('web', one.secret_id);
    expect(seen).toMatchObject({ cidr_list: [], secret_id_accessor: one.secret_id_accessor, secret_id_num_uses: 3, secret_id_ttl: 600 });
    expect(JSON.stringify(seen!['metadata'])).toBe('{"env":"test","__proto__":"x"}');
    const accessor = { secret_id_accessor: one.secret_id_accessor };
    expect((await ask('web/secret-id-accessor/lookup', accessor)).data).toEqual(seen);
    expect((await ask('web/secret-id-accessor/destroy', accessor)).status).toBe(204);
    expect(await mount.lookup('web', one.secret_id)).toBeNull();
    expect((await ask('web/secret-id-accessor/destroy', accessor)).status).toBe(404);
    expect((await ask('web/secret-id/destroy', { secret_id: one.secret_id })).status).toBe(204);
  });

  test('an accessor of another role is unknown: it neither shows nor destroys anything', async () => {
    const { secret_id, secret_id_accessor } = await mount.secretId('web');
    for (const what of ['lookup', 'destroy']) {
      const { status } = await ask(`free/secret-id-accessor/${what}`, { secret_id_accessor });
      expect(status).toBe(404);
    }
    expect(await mount.lookup('web', secret_id)).not.toBeNull();
  });

  test('an expired one is neither looked up nor found by its accessor', async () => {
    const { secret_id, secret_id_accessor } = await mount.secretId('web', { ttl: '30s' });
    await mount.clock.advance('30s');
    expect(await mount.accessors('web')).toEqual([secret_id_accessor]);
    expect(await mount.lookup('web', secret_id)).toBeNull();
    expect((await ask('web/secret-id-accessor/lookup', { secret_id_accessor })).status).toBe(404);
  });

  test('are listed page by page', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, async () => mount.secretId('free')));
    const all = made.map(({ secret_id_accessor }) => secret_id_accessor).sort();
    expect(await mount.accessors('free')).toEqual(all);
    const page = await mount.call('list', 'auth/approle/role/free/secret-id', { data: { after: all[1], limit: 2 } });
    expect(page.data).toEqual({ keys: all.slice(2, 4) });
  });

  test('are handed out wrapped, and the wrapping names the accessor', async () => {
    const wrapped = await mount.call('update', 'auth/approle/role/web/secret-id', { data: {}, wrapTtl: 60 });
    expect(wrapped.data).toBeNull();
    const { token, wrapped_accessor } = wrapped.wrapInfo!;
    const opened = await mount.call('update', 'sys/wrapping/unwrap', { token, data: {} });
    const { secret_id, secret_id_accessor } = opened.data as { secret_id: string; secret_id_accessor: string };
    expect(secret_id_accessor).toBe(wrapped_accessor);
    expect((await mount.login(await mount.role('web'), secret_id)).status).toBe(200);
    expect((await mount.call('update', 'sys/wrapping/unwrap', { token, data: {} })).status).toBe(400);
  });

  test('neither a secret id nor a role id is in a key or in an error', async () => {
    const roleId = await mount.role('free', { role_id: 'the-role-id' });
    await ask('free/custom-secret-id', { secret_id: 'the-secret-id' });
    const answers = [await mount.login(roleId, 'the-other-id'), await ask('free/secret-id/lookup', { secret_id: 'the-other-id' })];
    expect(JSON.stringify(answers)).not.toContain('the-other-id');
  });
});

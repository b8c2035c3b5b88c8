import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CoreResponse } from '@strongroom/core';
import { mounted, type MountedAppRole } from './mounted.ts';

const REFUSED = { status: 400, errors: ['invalid role or secret ID'] };

describe('a login by a role id and a secret id', () => {
  let mount: MountedAppRole;
  let roleId: string;

  beforeEach(async () => {
    mount = await mounted();
    roleId = await mount.role('web', { token_policies: 'Dev, app', token_ttl: '20m', token_max_ttl: '1h' });
  });
  afterEach(async () => mount.close());

  const lookedUp = async ({ auth }: CoreResponse): Promise<Record<string, unknown>> =>
    (await mount.call('read', 'auth/token/lookup-self', { token: auth!.client_token })).data as Record<string, unknown>;

  test('gives a token with the policies and terms of the role', async () => {
    const { secret_id } = await mount.secretId('web');
    const answer = await mount.login(roleId, secret_id);
    expect(answer).toMatchObject({
      status: 200,
      data: null,
      auth: { policies: ['app', 'default', 'dev'], lease_duration: 1_200, renewable: true, metadata: { role_name: 'web' } },
    });
    expect(await lookedUp(answer)).toMatchObject({ display_name: 'approle', path: 'auth/approle/login', ttl: 1_200 });
  });

  test('spaces around both ids do not matter', async () => {
    const { secret_id } = await mount.secretId('web');
    expect((await mount.login(` ${roleId} `, ` ${secret_id}\n`)).status).toBe(200);
  });

  test('the metadata of the secret id goes to the token, and role_name alone to the alias', async () => {
    const { secret_id } = await mount.secretId('web', { metadata: '{"env":"test","role_name":"forged"}' });
    const { auth } = await mount.login(roleId, secret_id);
    expect(auth!.metadata).toEqual({ env: 'test', role_name: 'web' });
    const entity = await mount.call('read', `identity/entity/id/${auth!.entity_id}`);
    expect((entity.data as { aliases: unknown[] }).aliases).toMatchObject([{ name: roleId, metadata: { role_name: 'web' } }]);
  });

  test('logins by different secret ids of a role are one entity', async () => {
    const [a, b] = [await mount.secretId('web', { metadata: 'n=1' }), await mount.secretId('web', { metadata: 'n=2' })];
    const first = await mount.login(roleId, a.secret_id);
    const second = await mount.login(roleId, b.secret_id);
    expect(second.auth!.entity_id).toBe(first.auth!.entity_id);
  });

  test('role ids that differ in case alone are different roles, and different entities', async () => {
    const ids = [await mount.role('a', { role_id: 'Jobs' }), await mount.role('b', { role_id: 'jobs' })];
    const entities = await Promise.all(
      ['a', 'b'].map(async (role, i) => (await mount.login(ids[i]!, (await mount.secretId(role)).secret_id)).auth!.entity_id),
    );
    expect(entities[0]).not.toBe(entities[1]);
    expect(await mount.login('JOBS', (await mount.secretId('a')).secret_id)).toMatchObject(REFUSED);
  });

  test.each([
    ['an unknown role id', async () => mount.login('nobody', (await mount.secretId('web')).secret_id)],
    ['a wrong secret id', async () => mount.login(roleId, 'wrong')],
    ['no secret id', async () => mount.login(roleId, '')],
    [
      'the secret id of another role',
      async () => {
        await mount.role('other');
        return mount.login(roleId, (await mount.secretId('other')).secret_id);
      },
    ],
    ['an accessor in place of the secret id', async () => mount.login(roleId, (await mount.secretId('web')).secret_id_accessor)],
    [
      'a destroyed secret id',
      async () => {
        const { secret_id } = await mount.secretId('web');
        await mount.write('role/web/secret-id/destroy', { secret_id });
        return mount.login(roleId, secret_id);
      },
    ],
    [
      'a secret id that was destroyed by its accessor',
      async () => {
        const { secret_id, secret_id_accessor } = await mount.secretId('web');
        await mount.call('delete', 'auth/approle/role/web/secret-id-accessor/destroy', { data: { secret_id_accessor } });
        return mount.login(roleId, secret_id);
      },
    ],
    [
      'an expired secret id, before it was removed',
      async () => {
        const { secret_id } = await mount.secretId('web', { ttl: '1s' });
        await mount.clock.advance('1s');
        return mount.login(roleId, secret_id);
      },
    ],
    [
      'a role id that was replaced',
      async () => {
        const { secret_id } = await mount.secretId('web');
        await mount.write('role/web/role-id', { role_id: 'web-2' });
        return mount.login(roleId, secret_id);
      },
    ],
    [
      'a deleted role',
      async () => {
        const { secret_id } = await mount.secretId('web');
        await mount.delete('role/web');
        return mount.login(roleId, secret_id);
      },
    ],
    [
      'a secret id of a role that was deleted and made again',
      async () => {
        const { secret_id } = await mount.secretId('web');
        await mount.delete('role/web');
        await mount.role('web', { role_id: roleId });
        return mount.login(roleId, secret_id);
      },
    ],
  ])('%s is refused with one and the same text', async (_what, attempt) => {
    expect(await attempt()).toMatchObject(REFUSED);
  });

  test('a role that binds no secret id asks for the address alone', async () => {
    const id = await mount.role('open', { bind_secret_id: false, secret_id_bound_cidrs: '10.0.0.0/8' });
    expect((await mount.login(id, '', '10.1.2.3')).status).toBe(200);
    expect(await mount.login(id, '', '192.0.2.1')).toMatchObject({
      status: 400,
      errors: ['source address "192.0.2.1" unauthorized by CIDR restrictions on the role'],
    });
  });

  test('the addresses of the token decide too, and those of the secret id replace those of the role', async () => {
    const id = await mount.role('bound', { token_bound_cidrs: '10.0.0.0/8' });
    const { secret_id } = await mount.secretId('bound', { token_bound_cidrs: '10.1.0.0/16' });
    expect((await mount.login(id, secret_id, '10.2.0.1')).status).toBe(403);
    const { auth } = await mount.login(id, secret_id, '10.1.0.1');
    const from = async (remoteAddress: string): Promise<number> =>
      (await mount.call('read', 'auth/token/lookup-self', { token: auth!.client_token, remoteAddress })).status;
    expect([await from('10.1.0.2'), await from('10.2.0.1')]).toEqual([200, 403]);
  });

  test.each([
    ['as before', async () => undefined, 200],
    ['given another role id', async () => mount.write('role/web/role-id', { role_id: 'other' }), 200],
    ['deleted', async () => mount.delete('role/web'), 400],
    ['deleted and made again', async () => mount.delete('role/web').then(async () => mount.role('web', { role_id: roleId })), 400],
  ])('a login that waits for a second factor while the role is %s: the status of its end', async (_what, change, status) => {
    const { data } = await mount.call('update', 'identity/mfa/method/totp', { data: { issuer: 'Test' } });
    const enforcement = 'identity/mfa/login-enforcement/all';
    const { method_id } = data as { method_id: string };
    await mount.call('update', enforcement, { data: { mfa_method_ids: [method_id], auth_method_types: ['approle'] } });
    const { pendingAuth } = await mount.login(roleId, (await mount.secretId('web')).secret_id);
    const { mfa_request_id } = pendingAuth!.mfa_requirement;
    // So no code is needed.
    await mount.call('delete', enforcement);
    await change();
    expect((await mount.call('update', 'sys/mfa/validate', { token: '', data: { mfa_request_id } })).status).toBe(status);
  });

  test('the role narrows the addresses of secret ids that were made before', async () => {
    const id = await mount.role('narrow');
    const { secret_id } = await mount.secretId('narrow', { token_bound_cidrs: '10.1.0.0/16' });
    const statusFrom = async (address: string): Promise<number> => (await mount.login(id, secret_id, address)).status;
    await mount.role('narrow', { token_bound_cidrs: '10.1.2.0/24' });
    expect([await statusFrom('10.1.0.1'), await statusFrom('10.1.2.1')]).toEqual([403, 200]);
    await mount.role('narrow', { token_bound_cidrs: '10.2.0.0/16' });
    expect([await statusFrom('10.1.2.1'), await statusFrom('10.2.0.1')]).toEqual([403, 403]);
  });

  test('token_strictly_bind_ip does not widen the addresses of the secret id', async () => {
    const id = await mount.role('strict', { token_strictly_bind_ip: true });
    const { secret_id } = await mount.secretId('strict', { token_bound_cidrs: '10.1.0.0/16' });
    expect([(await mount.login(id, secret_id, '192.0.2.1')).status, (await mount.login(id, secret_id, '10.1.0.1')).status]).toEqual([
      403, 200,
    ]);
  });

  test('token_strictly_bind_ip binds the token to the address of the login', async () => {
    const id = await mount.role('strict', { token_strictly_bind_ip: true });
    const { auth } = await mount.login(id, (await mount.secretId('strict')).secret_id, '10.1.0.1');
    const elsewhere = await mount.call('read', 'auth/token/lookup-self', { token: auth!.client_token, remoteAddress: '10.1.0.2' });
    expect(elsewhere.status).toBe(403);
  });

  test('batch tokens have no accessor and do not renew', async () => {
    const id = await mount.role('jobs', { token_type: 'batch', token_policies: 'jobs' });
    const { auth } = await mount.login(id, (await mount.secretId('jobs')).secret_id);
    expect(auth).toMatchObject({ accessor: '', renewable: false, token_type: 'batch' });
  });

  test('a renewal follows the role as it is now, and ends with the role', async () => {
    const { auth } = await mount.login(roleId, (await mount.secretId('web')).secret_id);
    const renew = async (): Promise<CoreResponse> => mount.call('update', 'auth/token/renew-self', { token: auth!.client_token, data: {} });
    await mount.write('role/web', { token_ttl: '30m' });
    expect((await renew()).auth).toMatchObject({ lease_duration: 1_800, policies: ['app', 'default', 'dev'] });
    await mount.delete('role/web');
    expect(await renew()).toMatchObject({ status: 400, errors: [expect.stringContaining('role "web" does not exist during renewal')] });
  });

  test('five failures lock the role id for their address, and for no other', async () => {
    const { secret_id } = await mount.secretId('web');
    for (let i = 0; i < 5; i += 1) await mount.login(roleId, 'wrong', '10.0.0.1');
    expect((await mount.login(roleId, secret_id, '10.0.0.1')).status).toBe(403);
    expect((await mount.login(roleId, secret_id, '10.0.0.2')).status).toBe(200);
    await mount.advance('15m');
    expect((await mount.login(roleId, secret_id, '10.0.0.1')).status).toBe(200);
  });

  test('a role id that is no text is refused, also where quotas ask for the role', async () => {
    await mount.call('update', 'sys/quotas/rate-limit/web', { data: { rate: 100, path: 'auth/approle', role: 'web' } });
    for (const role_id of [{ toString: 1, valueOf: 1 }, [], null, 7, true]) {
      const { status } = await mount.call('update', 'auth/approle/login', { data: { role_id, secret_id: 'x' }, token: '' });
      expect(status).toBe(400);
    }
    expect((await mount.login(roleId, (await mount.secretId('web')).secret_id)).status).toBe(200);
  });

  test('an unknown role id locks like a known one', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 6; i += 1) statuses.push((await mount.login('nobody', 'x', '10.0.0.1')).status);
    expect(statuses).toEqual([400, 400, 400, 400, 400, 403]);
  });
});

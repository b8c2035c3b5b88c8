import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mounted, type MountedAppRole } from './mounted.ts';

interface Report {
  readonly ok: boolean;
  readonly steps: readonly { readonly step: string; readonly ok: boolean; readonly error?: string; readonly uses?: number }[];
  readonly policies?: readonly string[];
}

describe('a login that is only tried', () => {
  let mount: MountedAppRole;
  let roleId: string;
  beforeEach(async () => {
    mount = await mounted();
    roleId = await mount.role('web', { token_policies: 'app', secret_id_num_uses: 2, secret_id_bound_cidrs: '127.0.0.0/8,10.0.0.0/8' });
  });
  afterEach(async () => mount.close());

  const attempt = async (data: Record<string, unknown>): Promise<Report> =>
    (await mount.write('config/test', { role_id: roleId, ...data })).data as Report;
  const failed = ({ ok, steps }: Report): unknown => {
    expect(ok).toBe(false);
    expect(steps.slice(0, -1).every((step) => step.ok)).toBe(true);
    const { step, error } = steps.at(-1)!;
    return [step, error];
  };

  test('passes every step, takes no use and issues no token', async () => {
    const { secret_id } = await mount.secretId('web', { metadata: 'a=b' });
    const report = await attempt({ secret_id });
    expect(report).toMatchObject({ ok: true, role_name: 'web', policies: ['app'], metadata: { a: 'b', role_name: 'web' } });
    expect(report.steps.map(({ step }) => step)).toEqual([
      'role id',
      'secret id',
      'expiry',
      'uses',
      'addresses of the secret id',
      'addresses of the role',
      'addresses of the token',
    ]);
    expect(report.steps.find(({ step }) => step === 'uses')!.uses).toBe(2);
    expect(await mount.lookup('web', secret_id)).toMatchObject({ secret_id_num_uses: 2 });
    expect((await mount.call('list', 'auth/token/accessors')).data).toEqual({ keys: [expect.any(String)] });
    expect(JSON.stringify(report)).not.toContain(secret_id);
  });

  test('says at which step it would be refused', async () => {
    const { secret_id } = await mount.secretId('web', { ttl: '30s', cidr_list: '10.0.0.0/9' });
    expect(failed(await attempt({ role_id: 'nobody', secret_id }))).toEqual(['role id', 'no role has this role id']);
    expect(failed(await attempt({ secret_id: 'wrong' }))).toEqual([
      'secret id',
      'the role has no such secret id: it is wrong, destroyed or used up',
    ]);
    expect(failed(await attempt({ secret_id }))).toEqual([
      'addresses of the secret id',
      'source address "127.0.0.1" unauthorized by CIDR restrictions on the secret ID',
    ]);
    expect((await attempt({ secret_id, remote_address: '10.0.0.1' })).ok).toBe(true);
    await mount.clock.advance('30s');
    expect(failed(await attempt({ secret_id, remote_address: '10.0.0.1' }))).toEqual(['expiry', 'the secret id has expired']);
  });

  test('takes sudo', async () => {
    await mount.call('update', 'sys/policies/acl/tester', {
      data: { policy: 'path "auth/approle/config/test" { capabilities = ["update"] }' },
    });
    const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['tester'] } });
    const { status } = await mount.call('update', 'auth/approle/config/test', { token: auth!.client_token, data: { role_id: roleId } });
    expect(status).toBe(403);
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { manualClock, mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { cloudEngine } from '../src/index.ts';
import { AcmeCloud } from './acme-provider.ts';
import { DEPLOY, READ_ONLY } from './cloud-mount.ts';

describe('another provider than AWS', () => {
  let cloud: AcmeCloud;
  let mount: TestMount;
  beforeEach(async () => {
    cloud = new AcmeCloud();
    mount = await mountForTest(cloudEngine(cloud.provider), { clock: manualClock(new Date()) });
    await mount.write('config/root', { access_key: 'k0', secret_key: 's' });
    await mount.write('roles/user', { credential_type: 'iam_user', policy_arns: READ_ONLY });
    await mount.write('roles/deploy', { credential_type: 'assumed_role', role_arns: DEPLOY });
  });
  afterEach(async () => mount.close());

  test('has users, temporary credentials and static roles by the same engine, under its own mount type', async () => {
    const { data, leaseId } = await mount.read('creds/user');
    expect(data).toMatchObject({ access_key: 'k2', security_token: null });
    expect([...cloud.users.keys()]).toEqual([expect.stringMatching(/^IAM-user-\w{8}$/)]);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
    expect([...cloud.users.keys()]).toEqual([]);
    expect((await mount.read('creds/deploy')).data).toMatchObject({ session_token: 'token', arn: DEPLOY });
    cloud.users.set('robot', { id: 'u', tags: {}, keys: new Map() });
    await mount.write('static-roles/robot', { username: 'robot', rotation_period: '1h' });
    await mount.advance('1h');
    const { access_key } = (await mount.read('static-creds/robot')).data as { access_key: string };
    expect([...cloud.users.get('robot')!.keys.keys()]).toEqual([access_key]);
    expect(await mount.call('update', 'acme/static-roles/x', { data: { username: 'nobody', rotation_period: '1h' } })).toMatchObject({
      status: 400,
      errors: ['unable to manage the access keys of "nobody": Acme: NoSuchUser: no user nobody (request 7)'],
    });
  });

  test('rotate-role while the previous key is being deleted waits for that, and makes a new key', async () => {
    cloud.users.set('robot', { id: 'u', tags: {}, keys: new Map() });
    await mount.write('static-roles/robot', { username: 'robot', rotation_period: '24h', grace_period: '1h' });
    await mount.write('rotate-role/robot');
    const before = (await mount.read('static-creds/robot')).data as { access_key: string };
    let begun!: () => void;
    let end!: () => void;
    const deleting = new Promise<void>((resolve) => (begun = resolve));
    cloud.deletion = async () => {
      begun();
      await new Promise<void>((resolve) => (end = resolve));
    };
    const passing = mount.advance('1h');
    await deleting;
    const answer = mount.call('update', 'acme/rotate-role/robot');
    await new Promise((resolve) => setImmediate(resolve));
    end();
    expect((await answer).status).toBe(204);
    await passing;
    const after = (await mount.read('static-creds/robot')).data as { access_key: string };
    expect(after.access_key).not.toBe(before.access_key);
    expect([...cloud.users.get('robot')!.keys.keys()].sort()).toEqual([before.access_key, after.access_key].sort());
  });
});

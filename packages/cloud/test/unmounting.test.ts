import { ListAccessKeysCommand, PutUserPolicyCommand } from '@aws-sdk/client-iam';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Engine, EngineHost } from '@strongroom/engine-sdk';
import { manualClock, mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { awsEngine } from '../src/index.ts';
import { awsError } from './aws-front.ts';
import { pass, rootConfig, S3, type Key } from './cloud-mount.ts';
import { describeWithAws } from './describe-with-aws.ts';

jest.setTimeout(60_000);

const never = new AbortController().signal;

describeWithAws('what stands at AWS without a lease', (aws) => {
  let mount: TestMount;
  let engine: Engine;

  beforeEach(async () => {
    const plugin = { ...awsEngine, create: (host: EngineHost) => (engine = awsEngine.create(host)) };
    mount = await mountForTest(plugin, { clock: manualClock(new Date()) });
    await mount.write('config/root', rootConfig(aws.front.endpoint, aws.root, { max_retries: 0 }));
  });
  afterEach(async () => mount.close());

  const create = async (name = 'st', username = 'static1') =>
    mount.write(`static-roles/${name}`, { username, rotation_period: '1h', grace_period: '10m' });
  const key = async (name = 'st') => (await mount.read(`static-creds/${name}`)).data as Key;

  test('retire deletes the keys that static roles made, replaced ones too, and no others; it may be repeated', async () => {
    const others = await aws.beside.createKey('static2');
    await create();
    await create('two', 'static2');
    await mount.write('rotate-role/st');
    expect(await aws.beside.keysOf('static1')).toHaveLength(2);
    await engine.retire!(never);
    expect(await aws.beside.keysOf('static1')).toEqual([]);
    expect(await aws.beside.keysOf('static2')).toEqual([others.access_key]);
    expect(await aws.beside.keysOf('svc')).toEqual([aws.root.access_key]);
    await engine.retire!(never);
    expect(await engine.outside!()).toEqual([]);
  });

  test('retire says what is in the way, and takes up where it was held up', async () => {
    await create();
    await create('two', 'static2');
    aws.front.on('DeleteAccessKey', (call) =>
      call.parameters['UserName'] === 'static2' ? awsError(403, 'AccessDenied', 'not that one') : undefined,
    );
    await expect(engine.retire!(never)).rejects.toThrow('deleting the keys of the static role "two": AWS: AccessDenied: not that one');
    expect(await aws.beside.keysOf('static1')).toEqual([]);
    expect((await engine.outside!()).map(({ name }) => name)).toEqual([(await key('two')).access_key]);
    aws.front.reset();
    await engine.retire!(never);
    expect(await aws.beside.keysOf('static2')).toEqual([]);
  });

  test('outside names the keys of static roles, the root key if it was rotated, and users whose lease was dropped; it asks nobody', async () => {
    expect(await engine.outside!()).toEqual([]);
    await create();
    const { data } = await mount.write('config/rotate-root');
    const rotated = (data as { access_key: string }).access_key;
    await mount.write('roles/r', { credential_type: 'iam_user', policy_document: S3 });
    const { leaseId } = await mount.read('creds/r');
    const UserName = (await aws.beside.madeUsers())[0]!;
    aws.front.on('DeleteUser', () => awsError(403, 'AccessDenied', 'not now'));
    await mount.call('update', 'sys/leases/revoke-force/aws/creds/r');
    aws.front.calls.length = 0;
    const system = 'aws:123456789012';
    expect(await engine.outside!()).toEqual([
      {
        kind: 'access key',
        name: rotated,
        system,
        detail: 'of user "svc", the rotated root credential: its secret is known to this mount alone',
      },
      { kind: 'access key', name: (await key()).access_key, system, detail: 'of user "static1", made by static role "st"' },
      { kind: 'user', name: UserName, system, detail: 'made for role "r"; its lease was dropped without removing it' },
    ]);
    expect(aws.front.calls).toEqual([]);
    expect(leaseId).not.toBe('');
  });

  test('unmounting deletes the keys of static roles, and names the root key that stays', async () => {
    await create();
    const { data } = await mount.write('config/rotate-root');
    const rotated = (data as { access_key: string }).access_key;
    const answer = await mount.call('delete', 'sys/mounts/aws');
    await pass(mount, 60, 10);
    expect(await aws.beside.keysOf('static1')).toEqual([]);
    expect(await aws.beside.keysOf('svc')).toEqual([rotated]);
    expect((await mount.call('read', 'aws/config/root')).status).toBe(404);
    expect(JSON.stringify(answer)).toContain(rotated);
  });

  test('unmounting by force while AWS refuses names every key and user that is left', async () => {
    await create();
    await mount.write('roles/r', { credential_type: 'iam_user', policy_document: S3 });
    await mount.read('creds/r');
    const left = [(await key()).access_key, (await aws.beside.madeUsers())[0]!];
    for (const action of ['DeleteAccessKey', 'UpdateAccessKey', 'GetUser'])
      aws.front.on(action, () => awsError(403, 'AccessDenied', 'not now'));
    const answer = await mount.call('delete', 'sys/mounts/aws', { data: { force: true } });
    expect(answer.status).toBeLessThan(300);
    for (const name of left) expect(JSON.stringify(answer)).toContain(name);
    expect((await mount.call('read', 'aws/config/root')).status).toBe(404);
  });

  test('neither shows a secret', async () => {
    await create();
    await mount.write('config/rotate-root');
    const { secret_key } = await key();
    expect(JSON.stringify(await engine.outside!())).not.toContain(secret_key);
  });

  test('a corrected config/root lets revocations that failed go on at once', async () => {
    await mount.write('roles/r', { credential_type: 'iam_user', policy_document: S3 });
    const { leaseId } = await mount.read('creds/r');
    const denied = () => awsError(403, 'AccessDenied', 'not now');
    aws.front.on('GetUser', denied);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId } });
    await pass(mount, 600, 60);
    expect(await aws.beside.madeUsers()).toHaveLength(1);
    aws.front.reset();
    await mount.write('config/root', rootConfig(aws.front.endpoint, aws.root, { max_retries: 0 }));
    await mount.core.settleSchedule();
    expect(await aws.beside.madeUsers()).toEqual([]);
  });

  test('a user that cannot be removed has lost its keys first', async () => {
    await mount.write('roles/r', { credential_type: 'iam_user', policy_document: S3 });
    const { leaseId } = await mount.read('creds/r');
    const UserName = (await aws.beside.madeUsers())[0]!;
    for (const action of ['ListAttachedUserPolicies', 'ListUserPolicies', 'ListGroupsForUser'])
      aws.front.on(action, () => awsError(403, 'AccessDenied', `no ${action}`));
    await aws.beside.iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'own', PolicyDocument: S3 }));
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId } });
    await mount.core.settleSchedule();
    expect(await aws.beside.madeUsers()).toEqual([UserName]);
    expect((await aws.beside.iam.send(new ListAccessKeysCommand({ UserName }))).AccessKeyMetadata).toEqual([]);
  });
});

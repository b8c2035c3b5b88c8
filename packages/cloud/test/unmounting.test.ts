import { ListAccessKeysCommand, PutUserPolicyCommand } from '@aws-sdk/client-iam';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Engine, EngineHost } from '@strongroom/engine-sdk';
import { manualClock, mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { describeWithMoto, startMoto, type MotoServer } from '@strongroom/lab';
import { awsEngine } from '../src/index.ts';
import { AwsFront, awsError } from './aws-front.ts';
import { Beside, pass, rootConfig, S3, type Key } from './cloud-mount.ts';

jest.setTimeout(60_000);

const never = new AbortController().signal;

describeWithMoto('what stands at AWS without a lease', () => {
  let moto: MotoServer;
  let front: AwsFront;
  let beside: Beside;
  let mount: TestMount;
  let engine: Engine;
  let root: Key;

  beforeAll(async () => {
    moto = await startMoto({ env: { MOTO_IAM_LOAD_MANAGED_POLICIES: 'false' } });
    front = await AwsFront.start(moto.endpoint);
    beside = new Beside(moto.endpoint);
  }, 60_000);
  afterAll(async () => {
    await front?.stop();
    await moto?.stop();
  });
  beforeEach(async () => {
    front.reset();
    await moto.reset();
    root = await beside.seed();
    const plugin = { ...awsEngine, create: (host: EngineHost) => (engine = awsEngine.create(host)) };
    mount = await mountForTest(plugin, { clock: manualClock(new Date()) });
    await mount.write('config/root', rootConfig(front.endpoint, root, { max_retries: 0 }));
  });
  afterEach(async () => mount.close());

  const create = async (name = 'st', username = 'static1') =>
    mount.write(`static-roles/${name}`, { username, rotation_period: '1h', grace_period: '10m' });
  const key = async (name = 'st') => (await mount.read(`static-creds/${name}`)).data as Key;

  test('retire deletes the keys that static roles made, replaced ones too, and no others; it may be repeated', async () => {
    const others = await beside.createKey('static2');
    await create();
    await create('two', 'static2');
    await mount.write('rotate-role/st');
    expect(await beside.keysOf('static1')).toHaveLength(2);
    await engine.retire!(never);
    expect(await beside.keysOf('static1')).toEqual([]);
    expect(await beside.keysOf('static2')).toEqual([others.access_key]);
    expect(await beside.keysOf('svc')).toEqual([root.access_key]);
    await engine.retire!(never);
    expect(await engine.outside!()).toEqual([]);
  });

  test('retire says what is in the way, and takes up where it was held up', async () => {
    await create();
    await create('two', 'static2');
    front.on('DeleteAccessKey', (call) =>
      call.parameters['UserName'] === 'static2' ? awsError(403, 'AccessDenied', 'not that one') : undefined,
    );
    await expect(engine.retire!(never)).rejects.toThrow('deleting the keys of the static role "two": AWS: AccessDenied: not that one');
    expect(await beside.keysOf('static1')).toEqual([]);
    expect((await engine.outside!()).map(({ name }) => name)).toEqual([(await key('two')).access_key]);
    front.reset();
    await engine.retire!(never);
    expect(await beside.keysOf('static2')).toEqual([]);
  });

  test('outside names the keys of static roles, the root key if it was rotated, and users whose lease was dropped; it asks nobody', async () => {
    expect(await engine.outside!()).toEqual([]);
    await create();
    const { data } = await mount.write('config/rotate-root');
    const rotated = (data as { access_key: string }).access_key;
    await mount.write('roles/r', { credential_type: 'iam_user', policy_document: S3 });
    const { leaseId } = await mount.read('creds/r');
    const UserName = (await beside.madeUsers())[0]!;
    front.on('DeleteUser', () => awsError(403, 'AccessDenied', 'not now'));
    await mount.call('update', 'sys/leases/revoke-force/aws/creds/r');
    front.calls.length = 0;
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
    expect(front.calls).toEqual([]);
    expect(leaseId).not.toBe('');
  });

  test('unmounting deletes the keys of static roles, and names the root key that stays', async () => {
    await create();
    const { data } = await mount.write('config/rotate-root');
    const rotated = (data as { access_key: string }).access_key;
    const answer = await mount.call('delete', 'sys/mounts/aws');
    await pass(mount, 60, 10);
    expect(await beside.keysOf('static1')).toEqual([]);
    expect(await beside.keysOf('svc')).toEqual([rotated]);
    expect((await mount.call('read', 'aws/config/root')).status).toBe(404);
    expect(JSON.stringify(answer)).toContain(rotated);
  });

  test('unmounting by force while AWS refuses names every key and user that is left', async () => {
    await create();
    await mount.write('roles/r', { credential_type: 'iam_user', policy_document: S3 });
    await mount.read('creds/r');
    const left = [(await key()).access_key, (await beside.madeUsers())[0]!];
    for (const action of ['DeleteAccessKey', 'UpdateAccessKey', 'GetUser'])
      front.on(action, () => awsError(403, 'AccessDenied', 'not now'));
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
    front.on('GetUser', denied);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId } });
    await pass(mount, 600, 60);
    expect(await beside.madeUsers()).toHaveLength(1);
    front.reset();
    await mount.write('config/root', rootConfig(front.endpoint, root, { max_retries: 0 }));
    await mount.core.settleSchedule();
    expect(await beside.madeUsers()).toEqual([]);
  });

  test('a user that cannot be removed has lost its keys first', async () => {
    await mount.write('roles/r', { credential_type: 'iam_user', policy_document: S3 });
    const { leaseId } = await mount.read('creds/r');
    const UserName = (await beside.madeUsers())[0]!;
    for (const action of ['ListAttachedUserPolicies', 'ListUserPolicies', 'ListGroupsForUser'])
      front.on(action, () => awsError(403, 'AccessDenied', `no ${action}`));
    await beside.iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'own', PolicyDocument: S3 }));
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId } });
    await mount.core.settleSchedule();
    expect(await beside.madeUsers()).toEqual([UserName]);
    expect((await beside.iam.send(new ListAccessKeysCommand({ UserName }))).AccessKeyMetadata).toEqual([]);
  });
});

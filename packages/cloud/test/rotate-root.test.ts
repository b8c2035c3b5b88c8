import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { awsError, awsResult } from './aws-front.ts';
import { type Beside, DEPLOY, mountCloud, pass, rootConfig, S3 } from './cloud-mount.ts';
import { describeWithAws } from './describe-with-aws.ts';

jest.setTimeout(60_000);

describeWithAws('config/rotate-root', (aws) => {
  let beside: Beside;
  let mount: TestMount;

  beforeEach(async () => {
    beside = await aws.enforce('svc');
    mount = await mountCloud();
    await mount.write('roles/user', { credential_type: 'iam_user', policy_document: S3 });
    await configure();
  });
  afterEach(async () => mount.close());

  const configure = async (more: Record<string, unknown> = {}) =>
    mount.write('config/root', rootConfig(aws.front.endpoint, aws.root, { max_retries: 0, ...more }));
  const rotate = async () => mount.call('update', 'aws/config/rotate-root');
  const read = async () => (await mount.read('config/root')).data as Record<string, unknown> & { access_key: string };

  test('the new access key is answered and used, and the old one is deleted with it', async () => {
    const { data, status } = await rotate();
    expect(status).toBe(200);
    const { access_key } = data as { access_key: string };
    expect(access_key).not.toBe(aws.root.access_key);
    expect(data).toEqual({ access_key });
    expect((await read()).access_key).toBe(access_key);
    expect(await beside.keysOf('svc')).toEqual([access_key]);
    const last = aws.front.calls.slice(-3).map((call) => [call.action, call.key]);
    expect(last).toEqual([
      ['GetCallerIdentity', access_key],
      ['UpdateAccessKey', access_key],
      ['DeleteAccessKey', access_key],
    ]);
    // Policies and keys are enforced: the old key would be refused.
    expect((await mount.read('creds/user')).status).toBe(200);
  });

  test('it has no parameters, and needs a configuration with both halves of a key', async () => {
    await mount.write('config/root', {});
    expect(await rotate()).toMatchObject({
      status: 400,
      errors: ['Cannot call config/rotate-root when either access_key or secret_key is empty'],
    });
    const other = await mountCloud();
    expect(await other.call('update', 'aws/config/rotate-root')).toMatchObject({
      status: 400,
      errors: ['1 error occurred:\n\t* no configuration found for config/root\n\n'],
    });
    await other.close();
  });

  test('the access key must be the only one of its user: otherwise nothing is begun, and the text names the other', async () => {
    const second = await beside.createKey('svc');
    expect(await rotate()).toMatchObject({
      status: 400,
      errors: [`the configured access key must be the only one of user "svc" to be rotated, which also has ${second.access_key}`],
    });
    expect(await read()).toMatchObject({
      access_key: aws.root.access_key,
      root_rotation: { state: 'failed', last_error: { message: expect.stringContaining(second.access_key) } },
    });
  });

  test('the key of the account itself, which is no user’s, is refused', async () => {
    aws.front.on('GetUser', () =>
      awsResult('GetUser', '<User><UserId>123456789012</UserId><Arn>arn:aws:iam::123456789012:root</Arn></User>'),
    );
    expect(await rotate()).toMatchObject({
      status: 400,
      errors: ['the key of config/root is not that of a user, and cannot be rotated: give the server a user of its own'],
    });
    expect(aws.front.sent('CreateAccessKey')).toEqual([]);
  });

  test('a key that AWS does not know is its failure: 500, with AWS’s code', async () => {
    await configure({ access_key: 'AKIANOBODYNOBODYNOBO' });
    const { status, errors } = await rotate();
    expect(status).toBe(500);
    expect(errors![0]).toContain('error calling GetUser: AWS: InvalidClientTokenId: ');
  });

  test('a new key that is not accepted yet is not switched to, and is tried again until it is', async () => {
    let refusals = 0;
    const refused = awsError(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.');
    aws.front.on('GetCallerIdentity', () => ((refusals += 1) <= 3 ? refused : undefined));
    const rotating = rotate();
    while (refusals < 4) {
      await mount.clock.advance(1);
      // eslint-disable-next-line no-restricted-syntax -- the call goes over a socket
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect((await rotating).status).toBe(200);
    expect(await beside.keysOf('svc')).toEqual([(await read()).access_key]);
  });

  test('calls with the new key that fail for some seconds after the switch do not lose the old one', async () => {
    aws.front.on('UpdateAccessKey', () => awsError(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.'));
    const { status, data } = await rotate();
    expect(status).toBe(200);
    const { access_key } = data as { access_key: string };
    expect(await beside.keysOf('svc')).toEqual([access_key, aws.root.access_key].sort());
    expect(await read()).toMatchObject({
      access_key,
      root_rotation: { last_error: { message: expect.stringContaining('the replaced key could not be deleted yet: ') } },
    });
    aws.front.reset();
    await pass(mount, 60);
    expect(await beside.keysOf('svc')).toEqual([access_key]);
    expect(await read()).toMatchObject({ root_rotation: { state: 'idle', last_error: null, last_success: expect.any(String) } });
  });

  test.each([
    ['CreateUser', 'user'],
    ['PutUserPolicy', 'user'],
    ['CreateAccessKey', 'user'],
    ['AssumeRole', 'deploy'],
  ])('%s with the old key while it is replaced is refused by AWS, and asked once more with the new one', async (action, role) => {
    await mount.write('roles/deploy', { credential_type: 'assumed_role', role_arns: DEPLOY });
    let rotated = false;
    aws.front.on(action, async () => {
      if (rotated) return undefined;
      rotated = true;
      expect((await rotate()).status).toBe(200);
      return undefined;
    });
    expect(await mount.read(`creds/${role}`)).toMatchObject({ status: 200 });
    const keys = aws.front.calls.filter((call) => call.action === action).map((call) => call.key);
    expect([keys.at(0), keys.at(-1)]).toEqual([aws.root.access_key, (await read()).access_key]);
    expect(await beside.madeUsers()).toHaveLength(role === 'user' ? 1 : 0);
  });

  test('rotation_period rotates it by itself; the status block shows the next time and failures', async () => {
    await configure({ rotation_period: '1h' });
    expect(await read()).toMatchObject({ rotation_period: 3_600, root_rotation: { state: 'waiting', next_attempt: expect.any(String) } });
    await mount.advance('1h');
    const first = (await read()).access_key;
    expect(first).not.toBe(aws.root.access_key);
    expect(await beside.keysOf('svc')).toEqual([first]);
    aws.front.on('CreateAccessKey', () => awsError(409, 'LimitExceeded', 'Cannot exceed quota for AccessKeysPerUser: 2'));
    await mount.advance('1h');
    expect(await read()).toMatchObject({
      access_key: first,
      root_rotation: { state: 'failing', last_error: { message: expect.stringContaining('AWS: LimitExceeded: Cannot exceed quota') } },
    });
    expect((await mount.read('failing')).data).toMatchObject({ root_rotations: { root: { state: 'failing' } } });
    aws.front.reset();
    await pass(mount, 30);
    expect((await read()).access_key).not.toBe(first);
    expect((await mount.call('read', 'aws/creds/user')).status).toBe(200);
  });

  test('rotation_schedule is another way to say when', async () => {
    await configure({ rotation_schedule: '0 3 * * *' });
    expect(await read()).toMatchObject({ rotation_schedule: '0 3 * * *', root_rotation: { state: 'waiting' } });
    await configure();
    expect(await read()).not.toHaveProperty('rotation_schedule');
    expect(await read()).toMatchObject({ root_rotation: { state: 'idle' } });
  });

  test('disable_automated_rotation pauses a plan and keeps it; rotate-root still works, and without the flag the plan goes on', async () => {
    await configure({ rotation_period: '1h', disable_automated_rotation: true });
    expect(await read()).toMatchObject({ rotation_period: 3_600, disable_automated_rotation: true, root_rotation: { state: 'idle' } });
    await pass(mount, 7_200);
    expect((await read()).access_key).toBe(aws.root.access_key);
    const { access_key } = (await rotate()).data as { access_key: string };
    await pass(mount, 7_200);
    expect(await read()).toMatchObject({ access_key, disable_automated_rotation: true });
    aws.root = await beside.createKey('svc');
    await configure({ rotation_period: '1h' });
    expect(await read()).not.toHaveProperty('disable_automated_rotation');
    await pass(mount, 3_630);
    expect((await read()).access_key).not.toBe(aws.root.access_key);
  });

  test('a replaced key that could not be deleted yet and is configured again is not deleted any more', async () => {
    aws.front.on('UpdateAccessKey', () => awsError(503, 'ServiceUnavailable', 'Service is unavailable'));
    const { access_key: made } = (await rotate()).data as { access_key: string };
    expect(await beside.keysOf('svc')).toEqual([made, aws.root.access_key].sort());
    await configure();
    aws.front.reset();
    await pass(mount, 300);
    expect(await beside.keysOf('svc')).toEqual([aws.root.access_key]);
    expect((await mount.read('creds/user')).status).toBe(200);
  });

  test('keys of a former root credential that may not delete them are not looked for in another account', async () => {
    await configure();
    const made = ((await rotate()).data as { access_key: string }).access_key;
    const other = await beside.createKey('svc');
    aws.front.on('UpdateAccessKey', ({ key }) =>
      key === made ? awsError(403, 'AccessDenied', 'not authorized') : awsError(404, 'NoSuchEntity', 'no such key'),
    );
    aws.front.on('GetCallerIdentity', ({ key }) =>
      key === made ? undefined : awsResult('GetCallerIdentity', '<Account>999999999999</Account>'),
    );
    aws.root = other;
    await configure();
    await pass(mount, 300);
    expect(await beside.keysOf('svc')).toContain(made);
    aws.front.reset();
    await pass(mount, 900);
    expect(await beside.keysOf('svc')).toEqual([other.access_key]);
  });

  test('the journal deletes a key that was made here when another one is configured; the operator’s own it leaves', async () => {
    await configure();
    const made = ((await rotate()).data as { access_key: string }).access_key;
    const own = await beside.createKey('svc');
    aws.root = own;
    await configure();
    await pass(mount, 300);
    expect(await beside.keysOf('svc')).toEqual([own.access_key]);
    expect(made).not.toBe(own.access_key);
    aws.root = await beside.createKey('svc');
    await configure();
    await pass(mount, 300);
    expect(await beside.keysOf('svc')).toEqual([own.access_key, aws.root.access_key].sort());
  });
});

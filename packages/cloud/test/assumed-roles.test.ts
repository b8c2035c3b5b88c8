import { CreateUserCommand } from '@aws-sdk/client-iam';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { manualClock, mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { startMoto } from '@strongroom/lab';
import { cloudEngine } from '../src/index.ts';
import { AcmeCloud } from './acme-provider.ts';
import { awsError, awsResult } from './aws-front.ts';
import { besideIn, mountCloud, pass, rootConfig, type Beside, type Key } from './cloud-mount.ts';
import { describeWithAws } from './describe-with-aws.ts';

jest.setTimeout(60_000);

const OTHER = '111111111111';
const ROTATOR = `arn:aws:iam::${OTHER}:role/rotator`;

describeWithAws('static roles of another account', (aws) => {
  let mount: TestMount;
  let there: Beside;

  beforeEach(async () => {
    there = await besideIn(aws.moto.endpoint, OTHER);
    for (const UserName of ['app', 'static1']) await there.iam.send(new CreateUserCommand({ UserName }));
    mount = await mountCloud();
    await mount.write('config/root', rootConfig(aws.front.endpoint, aws.root, { max_retries: 0 }));
  });
  afterEach(async () => mount.close());

  const fields = { username: 'app', rotation_period: '1h', assume_role_arn: ROTATOR, external_id: 'key-desk' };
  const write = async (data: Record<string, unknown>, name = 'st') => mount.call('update', `aws/static-roles/${name}`, { data });
  const refusal = async (data: Record<string, unknown>, name = 'st') => {
    const { status, errors } = await write(data, name);
    return `${status} ${errors?.join()}`;
  };
  const key = async (name = 'st') => (await mount.read(`static-creds/${name}`)).data as Key;
  /** The names of the actions, each with whether the caller was the root credential. */
  const callers = () => aws.front.calls.map((call) => [call.action, call.key === aws.root.access_key]);

  test('the key is made, replaced and deleted with credentials of the assumed role, which is asked for once', async () => {
    const { data } = await write({ ...fields, assume_role_session_name: 'key-desk' });
    expect(data).toMatchObject({ assume_role_arn: ROTATOR, assume_role_session_name: 'key-desk', external_id: 'key-desk' });
    expect((await mount.read('static-roles/st')).data).toMatchObject({ assume_role_arn: ROTATOR, external_id: 'key-desk' });
    const before = await key();
    expect(await there.keysOf('app')).toEqual([before.access_key]);
    expect(await aws.beside.identity(before)).toBe(`arn:aws:iam::${OTHER}:user/app`);
    await mount.advance('1h');
    const after = await key();
    expect(after.access_key).not.toBe(before.access_key);
    expect(await there.keysOf('app')).toEqual([after.access_key]);
    await mount.delete('static-roles/st');
    expect(await there.keysOf('app')).toEqual([]);
    expect(aws.front.sent('AssumeRole')).toEqual([{ RoleArn: ROTATOR, RoleSessionName: 'key-desk', ExternalId: 'key-desk' }]);
    expect(callers().filter(([, isRoot]) => isRoot)).toEqual([['AssumeRole', true]]);
  });

  test('without a session name, the session is named after the mount', async () => {
    await write(fields);
    expect(aws.front.sent('AssumeRole')[0]).toMatchObject({ RoleSessionName: expect.stringMatching(/^strongroom-aws_\w+$/) });
  });

  test('users of two accounts that have one name each have a static role', async () => {
    await write({ username: 'static1', rotation_period: '1h' }, 'here');
    expect((await write({ ...fields, username: 'static1' }, 'there')).status).toBe(200);
    expect(await aws.beside.keysOf('static1')).toEqual([(await key('here')).access_key]);
    expect(await there.keysOf('static1')).toEqual([(await key('there')).access_key]);
    expect(await refusal({ ...fields, username: 'static1' }, 'twin')).toContain('managed by static role "there" of this mount');
    await mount.delete('static-roles/there');
    expect((await write({ ...fields, username: 'static1' }, 'twin')).status).toBe(200);
  });

  test('where the first place of STS has stopped, the role is assumed at the next', async () => {
    const stopped = await startMoto();
    await stopped.stop();
    const places = { sts_endpoint: stopped.endpoint, sts_fallback_endpoints: aws.front.endpoint, sts_fallback_regions: 'eu-west-1' };
    await mount.write('config/root', rootConfig(aws.front.endpoint, aws.root, { max_retries: 0, ...places }));
    expect((await write(fields)).status).toBe(200);
    expect(await there.keysOf('app')).toEqual([(await key()).access_key]);
    expect(aws.front.calls[0]!.headers.authorization).toContain('/eu-west-1/sts/');
  });

  test('a role that may not be assumed is a 400 that names assume_role_arn and AWS’s reason; nothing is stored', async () => {
    aws.front.on('AssumeRole', () => awsError(403, 'AccessDenied', 'not authorized to perform: sts:AssumeRole'));
    expect(await refusal(fields)).toMatch(
      /^400 unable to manage the access keys of "app": AWS: AccessDenied: assume_role_arn: arn:\S+ cannot be assumed: not authorized/,
    );
    expect((await mount.call('read', 'aws/static-roles/st')).status).toBe(404);
    expect(await there.keysOf('app')).toEqual([]);
  });

  test('while STS does not let the mount in, the key stays good, and it is replaced once STS does', async () => {
    await write(fields);
    const before = await key();
    // A new configuration begins without credentials of the role.
    await mount.write('config/root', rootConfig(aws.front.endpoint, aws.root, { max_retries: 0 }));
    aws.front.on('AssumeRole', () => awsError(503, 'ServiceUnavailable', 'Service is unavailable'));
    await mount.advance('1h');
    expect(await key()).toMatchObject({ access_key: before.access_key });
    expect(await aws.beside.identity(before)).toBe(`arn:aws:iam::${OTHER}:user/app`);
    expect((await mount.read('static-roles/st')).data).toMatchObject({
      status: { state: 'failing', last_error: { message: expect.stringContaining('assume_role_arn') } },
    });
    aws.front.reset();
    await pass(mount, 60);
    expect((await key()).access_key).not.toBe(before.access_key);
  });

  test('keys of a deleted role stay in the journal until the role can be assumed again', async () => {
    await write(fields);
    await mount.write('config/root', rootConfig(aws.front.endpoint, aws.root, { max_retries: 0 }));
    aws.front.on('AssumeRole', () => awsError(403, 'AccessDenied', 'no'));
    const { warnings } = await mount.call('delete', 'aws/static-roles/st');
    expect(warnings?.join()).toContain('could not be deleted yet');
    expect(await there.keysOf('app')).toHaveLength(1);
    aws.front.reset();
    await pass(mount, 900);
    expect(await there.keysOf('app')).toEqual([]);
  });

  test('a credential of a third account does not touch a user of the same name there', async () => {
    await write(fields);
    const before = await key();
    await mount.write('config/root', rootConfig(aws.front.endpoint, aws.root, { max_retries: 0 }));
    aws.front.on('GetCallerIdentity', () => awsResult('GetCallerIdentity', '<Account>999999999999</Account>'));
    const { status, errors } = await mount.call('update', 'aws/rotate-role/st');
    expect([status, errors?.join()]).toEqual([
      500,
      expect.stringContaining(`the user app belongs to account ${OTHER}, and assume_role_arn is of account 999999999999 now`),
    ]);
    expect(await there.keysOf('app')).toEqual([before.access_key]);
  });

  test('another role of the same account is tried before it is stored; one of another account is refused', async () => {
    await write(fields);
    aws.front.on('AssumeRole', ({ parameters }) =>
      parameters['RoleArn']!.endsWith('/closed') ? awsError(403, 'AccessDenied', 'no') : undefined,
    );
    expect(await refusal({ assume_role_arn: `arn:aws:iam::${OTHER}:role/closed` })).toContain('400 ');
    expect((await mount.read('static-roles/st')).data).toMatchObject({ assume_role_arn: ROTATOR });
    const next = `arn:aws:iam::${OTHER}:role/next`;
    expect((await write({ assume_role_arn: next })).status).toBe(200);
    await mount.write('rotate-role/st', {});
    expect(await there.keysOf('app')).toEqual([(await key()).access_key]);
    const away = '400 assume_role_arn must stay in the account of the user';
    for (const arn of ['', 'arn:aws:iam::222222222222:role/next'])
      expect(await refusal({ assume_role_arn: arn, external_id: '' })).toContain(away);
    await write({ username: 'static1', rotation_period: '1h' }, 'here');
    expect(await refusal({ assume_role_arn: ROTATOR }, 'here')).toContain(away);
  });

  test.each([
    [{ assume_role_arn: 'rotator' }, 'assume_role_arn must be the ARN of a role, such as'],
    [{ assume_role_arn: `arn:aws:iam::${OTHER}:user/app` }, 'assume_role_arn must be the ARN of a role, such as'],
    [{ assume_role_arn: ROTATOR, assume_role_session_name: 'x' }, 'assume_role_session_name must have 2 to 64 characters'],
    [{ assume_role_arn: ROTATOR, assume_role_session_name: 'a b' }, 'assume_role_session_name must have 2 to 64 characters'],
    [{ assume_role_arn: ROTATOR, external_id: 'x' }, 'external_id must have 2 to 1224 characters'],
    [{ assume_role_session_name: 'name' }, 'assume_role_session_name is for assume_role_arn, which is missing'],
    [{ external_id: 'desk' }, 'external_id is for assume_role_arn, which is missing'],
  ])('%j is a 400 before AWS is asked', async (data, text) => {
    expect(await refusal({ username: 'app', rotation_period: '1h', ...data })).toContain(`400 ${text}`);
    expect(aws.front.calls).toEqual([]);
  });
});

test('a provider without roles to assume refuses assume_role_arn', async () => {
  const mount = await mountForTest(cloudEngine(new AcmeCloud().provider), { clock: manualClock(new Date()) });
  await mount.write('config/root', { access_key: 'k0', secret_key: 's' });
  const data = { username: 'robot', rotation_period: '1h', assume_role_arn: ROTATOR };
  expect(await mount.call('update', 'acme/static-roles/robot', { data })).toMatchObject({
    status: 400,
    errors: [expect.stringContaining('assume_role_arn: Acme has no roles that can be assumed for static roles')],
  });
  await mount.close();
});

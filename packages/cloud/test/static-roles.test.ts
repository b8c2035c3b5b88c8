import { DeleteAccessKeyCommand, ListAccessKeysCommand, PutUserPolicyCommand } from '@aws-sdk/client-iam';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { awsError, awsResult } from './aws-front.ts';
import { mountCloud, pass, rootConfig, type Key } from './cloud-mount.ts';
import { describeWithAws } from './describe-with-aws.ts';

jest.setTimeout(60_000);

describeWithAws('static-roles and static-creds', (aws) => {
  let mount: TestMount;

  beforeEach(async () => {
    mount = await mountCloud();
    await mount.write('config/root', rootConfig(aws.front.endpoint, aws.root, { max_retries: 0 }));
  });
  afterEach(async () => {
    await aws.moto.enforce(Infinity);
    await mount.close();
  });

  const create = async (more: Record<string, unknown> = {}) =>
    mount.write('static-roles/st', { username: 'static1', rotation_period: '1h', ...more });
  const key = async () => (await mount.read('static-creds/st')).data as Key & { ttl: number };
  const read = async () => (await mount.read('static-roles/st')).data as Record<string, unknown> & { status: Record<string, unknown> };
  const refusal = async (data: Record<string, unknown>, name = 'st') => {
    const { status, errors } = await mount.call('update', `aws/static-roles/${name}`, { data });
    return `${status} ${errors?.join()}`;
  };

  test('POST makes a key of the existing user, and answers name, id, username and rotation_period', async () => {
    expect((await create()).data).toEqual({
      name: 'st',
      id: expect.stringMatching(/^[a-z0-9]{20}$/),
      username: 'static1',
      rotation_period: 3_600,
    });
    const { access_key, secret_key, ttl } = await key();
    expect(await aws.beside.keysOf('static1')).toEqual([access_key]);
    expect(ttl).toBe(3_600);
    await aws.moto.enforce(0);
    expect(await aws.beside.identity({ access_key, secret_key })).toBe('arn:aws:iam::123456789012:user/static1');
  });

  test('GET and static-creds of a role that does not exist are 404; DELETE succeeds', async () => {
    expect(await mount.call('read', 'aws/static-roles/none')).toMatchObject({ status: 404, errors: [] });
    expect(await mount.call('read', 'aws/static-creds/none')).toMatchObject({ status: 404, errors: [] });
    expect(await mount.call('delete', 'aws/static-roles/none')).toMatchObject({ status: 204 });
  });

  test('LIST shows the names', async () => {
    await create();
    expect((await mount.list('static-roles')).data).toEqual({ keys: ['st'] });
  });

  test('username is required, must exist, and cannot be changed', async () => {
    expect(await refusal({ rotation_period: '1h' })).toBe('400 missing "username" parameter');
    expect(await refusal({ username: 'u'.repeat(65), rotation_period: '1h' })).toBe(
      '400 username has 65 characters, where AWS takes at most 64',
    );
    expect(await refusal({ username: 'nobody', rotation_period: '1h' })).toMatch(
      /^400 unable to manage the access keys of "nobody": AWS: NoSuchEntity: .* \(request \w+\)$/,
    );
    expect((await mount.call('read', 'aws/static-roles/st')).status).toBe(404);
    await create();
    expect(await refusal({ username: 'static2' })).toBe('400 username of a static role cannot be changed: make another role');
  });

  test('username of another static role, or of config/root, is refused', async () => {
    await create();
    expect(await refusal({ username: 'static1', rotation_period: '1h' }, 'other')).toBe(
      '400 username: the account "static1" is already managed by static role "st" of this mount; remove it there first, or send adopt=true to take the account over',
    );
    expect(await refusal({ username: 'svc', rotation_period: '1h' }, 'other')).toBe(
      '400 username: "svc" is the user of config/root; its key is replaced by config/rotate-root',
    );
    expect(await aws.beside.keysOf('svc')).toEqual([aws.root.access_key]);
  });

  test('rotation_period is required, at least a minute, in seconds or with a unit', async () => {
    expect(await refusal({ username: 'static1' })).toBe('400 missing "rotation_period" parameter');
    const short = '400 1 error occurred:\n\t* role rotation period out of range: must be greater than 60.00 seconds\n\n';
    expect(await refusal({ username: 'static1', rotation_period: '59s' })).toBe(short);
    expect(await refusal({ username: 'static1', rotation_period: 0 })).toBe(short);
    expect((await create({ rotation_period: 60 })).data).toMatchObject({ rotation_period: 60 });
    expect((await create({ rotation_period: '86400' })).data).toMatchObject({ rotation_period: 86_400 });
    expect((await create({ rotation_period: '24h' })).data).toMatchObject({ rotation_period: 86_400 });
  });

  test('updating the rotation_period resets the next rotation to now plus the period', async () => {
    await create();
    await mount.advance('50m');
    const before = await key();
    expect(before.ttl).toBe(600);
    await mount.write('static-roles/st', { username: 'static1', rotation_period: '2h' });
    expect(await key()).toMatchObject({ access_key: before.access_key, ttl: 7_200 });
    await pass(mount, 7_230);
    expect((await key()).access_key).not.toBe(before.access_key);
  });

  test('when the period is over there is a new key, which works, and the previous key is deactivated, then deleted', async () => {
    await create();
    const before = await key();
    aws.front.calls.length = 0;
    await mount.advance('1h');
    const after = await key();
    expect(after.access_key).not.toBe(before.access_key);
    expect(await aws.beside.keysOf('static1')).toEqual([after.access_key]);
    expect(aws.front.calls.map((call) => [call.action, call.parameters['AccessKeyId'] ?? call.key])).toEqual([
      ['ListAccessKeys', aws.root.access_key],
      ['ListAccessKeys', aws.root.access_key],
      ['CreateAccessKey', aws.root.access_key],
      ['GetCallerIdentity', after.access_key],
      ['UpdateAccessKey', before.access_key],
      ['DeleteAccessKey', before.access_key],
    ]);
    expect(aws.front.sent('UpdateAccessKey')[0]).toMatchObject({ Status: 'Inactive' });
  });

  test('where the user has two keys already, the oldest is replaced', async () => {
    const first = await aws.beside.createKey('static1');
    const second = await aws.beside.createKey('static1');
    const { AccessKeyMetadata } = await aws.beside.iam.send(new ListAccessKeysCommand({ UserName: 'static1' }));
    const oldest = [...AccessKeyMetadata!].sort((a, b) => a.CreateDate!.getTime() - b.CreateDate!.getTime())[0]!.AccessKeyId!;
    const kept = [first, second].map((one) => one.access_key).filter((id) => id !== oldest);
    await create();
    expect(await aws.beside.keysOf('static1')).toEqual([...kept, (await key()).access_key].sort());
  });

  test('at each rotation the oldest of two keys is replaced', async () => {
    await aws.beside.createKey('static1');
    await create();
    const ours = (await key()).access_key;
    await mount.write('rotate-role/st');
    // The foreign key was the oldest and made room; ours was replaced.
    expect(await aws.beside.keysOf('static1')).toEqual([(await key()).access_key]);
    expect((await key()).access_key).not.toBe(ours);
  });

  test('grace_period leaves the previous key good for a while', async () => {
    await create({ grace_period: '10m' });
    expect(await refusal({ grace_period: '1h' })).toBe('400 grace_period (3600 s) must be shorter than rotation_period (3600 s)');
    const before = await key();
    await mount.write('rotate-role/st');
    const after = await key();
    expect(await aws.beside.keysOf('static1')).toEqual([before.access_key, after.access_key].sort());
    await pass(mount, 570);
    expect(await aws.beside.keysOf('static1')).toHaveLength(2);
    await pass(mount, 60);
    expect(await aws.beside.keysOf('static1')).toEqual([after.access_key]);
  });

  test('DELETE deletes the key that the role made; the user and its other keys stay', async () => {
    await create();
    const other = await aws.beside.createKey('static1');
    await mount.delete('static-roles/st');
    expect(await aws.beside.keysOf('static1')).toEqual([other.access_key]);
    expect((await mount.call('read', 'aws/static-creds/st')).status).toBe(404);
    await create();
  });

  test('DELETE while a rotation asks for a key, whose answer is lost: that key goes too', async () => {
    await create();
    let asked!: () => void;
    let make!: () => void;
    let lost!: () => void;
    const asking = new Promise<void>((resolve) => (asked = resolve));
    const deleted = new Promise<void>((resolve) => (make = resolve));
    const made = new Promise<void>((resolve) => (lost = resolve));
    aws.front.on('CreateAccessKey', async () => {
      asked();
      await deleted;
      return undefined;
    });
    aws.front.watch((call, when) => (call.action === 'CreateAccessKey' && when === 'after' ? (lost(), 'silence') : undefined));
    const rotating = mount.call('update', 'aws/rotate-role/st');
    await asking;
    expect((await mount.call('delete', 'aws/static-roles/st')).status).toBe(204);
    expect(await aws.beside.keysOf('static1')).toEqual([]);
    make();
    await made;
    expect(await aws.beside.keysOf('static1')).toHaveLength(1);
    // The caller's deadline ends the call.
    await mount.clock.advance('91s');
    expect((await rotating).status).toBe(504);
    aws.front.reset();
    await pass(mount, 180);
    expect(await aws.beside.keysOf('static1')).toEqual([]);
  });

  test('DELETE while AWS does not answer: a warning says so, and the journal deletes the key later', async () => {
    await create();
    aws.front.on('UpdateAccessKey', () => awsError(503, 'ServiceUnavailable', 'Service is unavailable'));
    expect((await mount.delete('static-roles/st')).warnings).toEqual([
      expect.stringContaining('the keys of the role could not be deleted yet; it is tried again until they are: AWS: ServiceUnavailable'),
    ]);
    await mount.core.settleSchedule();
    expect(await aws.beside.keysOf('static1')).toHaveLength(1);
    aws.front.reset();
    await pass(mount, 60);
    expect(await aws.beside.keysOf('static1')).toEqual([]);
  });

  describe('once config/root is of another account', () => {
    const OTHER = 'account 123456789012, and config/root is of account 999999999999 now';
    const configure = async () => mount.write('config/root', rootConfig(aws.front.endpoint, aws.root, { max_retries: 0 }));
    beforeEach(async () => {
      await create();
      // A user of the same name is there, with another key.
      aws.front.on('GetCallerIdentity', () => awsResult('GetCallerIdentity', '<Account>999999999999</Account>'));
      for (const action of ['UpdateAccessKey', 'DeleteAccessKey']) aws.front.on(action, () => awsError(404, 'NoSuchEntity', 'no such key'));
      const member = '<member><AccessKeyId>AKIAFOREIGN</AccessKeyId><CreateDate>2026-01-01T00:00:00Z</CreateDate></member>';
      aws.front.on('ListAccessKeys', () => awsResult('ListAccessKeys', `<AccessKeyMetadata>${member}</AccessKeyMetadata>`));
      await configure();
      aws.front.calls.length = 0;
    });

    test('DELETE does not take a key that is not seen there for deleted: it goes when config/root is of its account again', async () => {
      expect((await mount.delete('static-roles/st')).warnings).toEqual([expect.stringContaining(OTHER)]);
      await pass(mount, 300);
      expect(await aws.beside.keysOf('static1')).toHaveLength(1);
      expect(aws.front.calls.map((call) => call.action)).not.toContain('DeleteAccessKey');
      aws.front.reset();
      await configure();
      await pass(mount, 600);
      expect(await aws.beside.keysOf('static1')).toEqual([]);
    });

    test('rotate-role does not touch a user of the same name there, and the key goes on being answered', async () => {
      const before = await key();
      expect(await mount.call('update', 'aws/rotate-role/st')).toMatchObject({ status: 500, errors: [expect.stringContaining(OTHER)] });
      await mount.advance('1h');
      expect(await read()).toMatchObject({ status: { state: 'failing', last_error: { message: expect.stringContaining(OTHER) } } });
      expect(aws.front.calls.filter((call) => call.action !== 'GetCallerIdentity')).toEqual([]);
      expect((await key()).access_key).toBe(before.access_key);
    });
  });

  test('rotation_schedule, rotation_window and disable_automated_rotation are taken as by other engines', async () => {
    await create({ rotation_period: undefined, rotation_schedule: '0 3 * * *', rotation_window: '2h' });
    expect(await read()).toMatchObject({ rotation_schedule: '0 3 * * *', rotation_window: 7_200 });
    await mount.delete('static-roles/st');
    await create({ rotation_period: undefined, disable_automated_rotation: true });
    expect(await read()).toMatchObject({ status: { state: 'idle' } });
    expect(await key()).toMatchObject({ ttl: 0 });
  });

  test('a rotation that AWS refuses shows in the status and in failing, with code and request id, and is tried again; the key stays good', async () => {
    await create();
    const before = await key();
    expect(await read()).toMatchObject({ status: { state: 'waiting', attempts: 0, last_error: null } });
    await mount.write('config/lease', { lease: '1h', lease_max: '2h' });
    expect((await mount.read('failing')).data).toEqual({ static_roles: {}, root_rotations: {} });
    aws.front.on('CreateAccessKey', () => awsError(403, 'AccessDenied', 'User: svc is not authorized to perform: iam:CreateAccessKey'));
    await mount.advance('1h');
    const { status } = await read();
    expect(status).toMatchObject({
      state: 'failing',
      attempts: 1,
      last_error: {
        message: expect.stringMatching(/^Error creating access keys: AWS: AccessDenied: User: svc is not .* \(request [0-9a-f-]{36}\)$/),
      },
    });
    expect((await mount.read('failing')).data).toMatchObject({ static_roles: { st: { state: 'failing' } } });
    expect(JSON.stringify(status)).not.toContain(before.secret_key);
    expect((await key()).access_key).toBe(before.access_key);
    aws.front.reset();
    await pass(mount, 30);
    expect((await key()).access_key).not.toBe(before.access_key);
    expect((await mount.read('failing')).data).toEqual({ static_roles: {}, root_rotations: {} });
  });

  test.each(['ListAccessKeys', 'CreateAccessKey'])(
    'a rotation on demand that fails at %s leaves its error in the status and in failing',
    async (action) => {
      await create();
      const before = await key();
      aws.front.on(action, () => awsError(403, 'AccessDenied', 'not for you'));
      expect((await mount.call('update', 'aws/rotate-role/st')).status).toBe(400);
      const { status } = await read();
      expect(status).toMatchObject({ state: 'failed', last_error: { message: expect.stringContaining('AccessDenied: not for you') } });
      expect((await mount.read('failing')).data).toMatchObject({ static_roles: { st: { state: 'failed' } } });
      expect((await key()).access_key).toBe(before.access_key);
      aws.front.reset();
      expect((await mount.call('update', 'aws/rotate-role/st')).status).toBe(204);
      expect(await read()).toMatchObject({ status: { state: 'waiting', last_error: null } });
    },
  );

  test('a new key whose answer was lost is found, deleted and made again: no unknown key is left', async () => {
    await create();
    const before = await key();
    let lost = '';
    aws.front.watch((call, when) =>
      call.action === 'CreateAccessKey' && when === 'after' && lost === '' ? ((lost = 'yes'), 'silence') : undefined,
    );
    const rotating = mount.call('update', 'aws/rotate-role/st');
    while (lost === '') await new Promise((resolve) => setImmediate(resolve));
    // The caller's deadline ends the call.
    await mount.clock.advance('91s');
    expect((await rotating).status).toBe(504);
    aws.front.watch(() => undefined);
    expect(await aws.beside.keysOf('static1')).toHaveLength(2);
    expect((await key()).access_key).toBe(before.access_key);
    await pass(mount, 180);
    const after = await key();
    expect(after.access_key).not.toBe(before.access_key);
    expect(await aws.beside.keysOf('static1')).toEqual([after.access_key]);
  });

  /** No time passes over a call, whose deadline it would use up. */
  const timePassesUntil = async (reached: () => Promise<boolean>): Promise<void> => {
    while (!(await reached())) {
      if (aws.front.underWay === 0) await mount.clock.advance(1);
      // eslint-disable-next-line no-restricted-syntax -- the call goes over a socket
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  test('a new key that is taken away from outside before it is in use is made again', async () => {
    await create();
    const refused = awsError(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.');
    aws.front.on('GetCallerIdentity', () => refused);
    const rotating = mount.call('update', 'aws/rotate-role/st');
    let answered = false;
    void rotating.then(() => (answered = true));
    await timePassesUntil(async () => answered);
    const { status, errors } = await rotating;
    expect(`${status} ${errors?.join()}`).toMatch(/^500 .*the new access key \w+ is not accepted yet; it will be tried again/s);
    expect(await read()).toMatchObject({ status: { state: 'unsettled' } });
    const made = aws.front.calls.findLast((call) => call.action === 'GetCallerIdentity')!.key;
    await aws.beside.iam.send(new DeleteAccessKeyCommand({ UserName: 'static1', AccessKeyId: made }));
    // moto takes keys that are gone; AWS does not.
    aws.front.on('GetCallerIdentity', (call) => (call.key === made ? refused : undefined));
    // The next attempt may have begun while the call was answered, and waits for the clock.
    await timePassesUntil(async () => (await read()).status['state'] === 'waiting');
    const after = await key();
    expect(after.access_key).not.toBe(made);
    expect(await aws.beside.keysOf('static1')).toEqual([after.access_key]);
    expect(await read()).toMatchObject({ status: { state: 'waiting' } });
  });

  test('a key in use that had to make room for one that was refused is not answered any more, and replaced as soon as may be', async () => {
    await create();
    await aws.beside.createKey('static1');
    aws.front.on('CreateAccessKey', () => awsError(403, 'AccessDenied', 'not now'));
    expect((await mount.call('update', 'aws/rotate-role/st')).status).toBe(400);
    expect(await mount.call('read', 'aws/static-creds/st')).toMatchObject({
      status: 503,
      errors: [
        expect.stringContaining('the key of the static role "st" is being made: Error creating access keys: AWS: AccessDenied: not now'),
      ],
    });
    aws.front.reset();
    await pass(mount, 60);
    const good = await key();
    await aws.beside.iam
      .send(new PutUserPolicyCommand({ UserName: 'static1', PolicyName: 'p', PolicyDocument: '{"Version":"2012-10-17","Statement":[]}' }))
      .catch(() => undefined);
    await aws.moto.enforce(0);
    expect(await aws.beside.identity(good)).toBe('arn:aws:iam::123456789012:user/static1');
  });

  test('rotate-role rotates now, several calls at a time are one rotation', async () => {
    await create();
    const before = await key();
    aws.front.calls.length = 0;
    const answers = await Promise.all([1, 2, 3].map(async () => mount.call('update', 'aws/rotate-role/st')));
    expect(answers.map((answer) => answer.status)).toEqual([204, 204, 204]);
    expect(aws.front.sent('CreateAccessKey')).toHaveLength(1);
    expect((await key()).access_key).not.toBe(before.access_key);
    expect(await mount.call('update', 'aws/rotate-role/none')).toMatchObject({ status: 400 });
  });
});

import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { EngineHost } from '@strongroom/engine-sdk';
import type { TestMount } from '@strongroom/engine-testkit';
import { awsEngine } from '../src/index.ts';
import { recordsIn } from '../src/records.ts';
import { awsError, awsResult } from './aws-front.ts';
import { mountCloud, pass, rootConfig, type Key } from './cloud-mount.ts';
import { describeWithAws } from './describe-with-aws.ts';

jest.setTimeout(60_000);

const ADOPT = 'remove it there first, or send adopt=true to take the account over';

describeWithAws('one IAM user has one manager', (aws) => {
  let mount: TestMount;
  let second: Key;

  beforeEach(async () => {
    second = await aws.beside.createKey('static2');
    mount = await mountCloud();
    await ask('update', 'sys/mounts/other', { type: 'aws' });
    await configure('aws', aws.root);
    await configure('other', second);
  });
  afterEach(async () => mount.close());

  type Operation = Parameters<TestMount['call']>[0];
  const ask = async (operation: Operation, path: string, data?: Record<string, unknown>) =>
    mount.call(operation, path, data ? { data } : {});
  const configure = async (at: string, key: Key, more: Record<string, unknown> = {}) =>
    ask('update', `${at}/config/root`, rootConfig(aws.front.endpoint, key, { max_retries: 0, ...more }));
  const create = async (at: string, name: string, more: Record<string, unknown> = {}) =>
    ask('update', `${at}/static-roles/${name}`, { username: 'static1', rotation_period: '1h', ...more });
  const read = async (path: string) => (await ask('read', path)).data as Record<string, unknown> & { status: Record<string, unknown> };
  const keyOf = async (at: string, name: string) => (await ask('read', `${at}/static-creds/${name}`)).data as Key;

  describe('a static role on a user that another has', () => {
    test('of this mount is refused with a sentence that names the other, also where the name differs in case alone', async () => {
      await create('aws', 'st');
      // moto tells names apart by case; IAM does not.
      const none = awsResult('ListAccessKeys', '<AccessKeyMetadata></AccessKeyMetadata>');
      aws.front.on('ListAccessKeys', (call) => (call.parameters['UserName'] === 'static1' ? undefined : none));
      for (const username of ['static1', 'STATIC1', 'Static1']) {
        const { status, errors } = await create('aws', 'twin', { username });
        expect(`${status} ${errors?.join()}`).toBe(
          `400 username: the account "static1" is already managed by static role "st" of this mount; ${ADOPT}`,
        );
      }
      expect((await ask('read', 'aws/static-roles/twin')).status).toBe(404);
      expect(await aws.beside.keysOf('static1')).toHaveLength(1);
    });

    test('of another mount is refused with a sentence that names the role and the mount', async () => {
      await create('aws', 'st');
      const { status, errors } = await create('other', 'st');
      expect(`${status} ${errors?.join()}`).toBe(
        `400 username: the account "static1" is already managed by static role "st" of aws/; ${ADOPT}`,
      );
      expect((await ask('read', 'other/static-roles/st')).status).toBe(404);
    });

    test('takes it over with adopt=true; who lost it stops rotating, says so, and leaves the new key as it is', async () => {
      await create('aws', 'st');
      expect((await create('other', 'taker', { adopt: true })).status).toBe(200);
      const taken = await keyOf('other', 'taker');
      const lost = 'the keys of "static1" are managed by static role "taker" of other/ now, and are not rotated here any more';
      expect(await read('aws/static-roles/st')).toMatchObject({
        status: { state: 'failed', last_error: { message: expect.stringContaining(lost) } },
      });
      expect(await ask('update', 'aws/rotate-role/st')).toMatchObject({ status: 400, errors: [expect.stringContaining(lost)] });
      expect((await ask('read', 'aws/static-creds/st')).warnings).toEqual([expect.stringContaining(lost)]);
      expect((await read('aws/failing'))['static_roles']).toMatchObject({ st: { state: 'failed' } });
      aws.front.calls.length = 0;
      await ask('update', 'other/static-roles/taker', { rotation_period: '10h' });
      await pass(mount, 7_200, 60);
      expect(aws.front.sent('CreateAccessKey')).toEqual([]);
      expect((await read('aws/static-roles/st')).status['next_attempt']).toBeNull();
      await ask('delete', 'aws/static-roles/st');
      expect(await aws.beside.keysOf('static1')).toEqual([taken.access_key]);
      expect((await ask('update', 'other/rotate-role/taker')).status).toBe(204);
    });

    test('gives it back where the one that lost it is written with adopt=true, and rotates at once', async () => {
      await create('aws', 'st');
      await create('other', 'taker', { adopt: true });
      const warned = await ask('update', 'aws/static-roles/st', { grace_period: '5m' });
      expect([warned.status, warned.warnings]).toEqual([200, [expect.stringContaining('write it with adopt=true')]]);
      expect((await create('aws', 'st', { adopt: true })).warnings).toBeNull();
      await pass(mount, 30, 10);
      const key = await keyOf('aws', 'st');
      expect(await aws.beside.keysOf('static1')).toContain(key.access_key);
      expect(await read('aws/static-roles/st')).toMatchObject({ status: { last_error: null } });
      expect(await read('other/static-roles/taker')).toMatchObject({ status: { state: 'failed' } });
    });

    test('is taken once the other is deleted, or its mount is gone', async () => {
      await create('aws', 'st');
      await ask('delete', 'aws/static-roles/st');
      expect((await create('other', 'st')).status).toBe(200);
      await ask('delete', 'sys/mounts/other');
      await pass(mount, 30, 10);
      expect((await create('aws', 'st')).status).toBe(200);
    });

    test('that was refused by AWS is claimed by nobody', async () => {
      aws.front.on('CreateAccessKey', () => awsError(403, 'AccessDenied', 'no'));
      expect((await create('aws', 'st')).status).toBe(400);
      aws.front.reset();
      expect((await create('other', 'st')).status).toBe(200);
    });
  });

  describe('a root credential', () => {
    const rotateRoot = async (at: string, more?: Record<string, unknown>) => ask('update', `${at}/config/rotate-root`, more);

    test('that two mounts use as it is may be used by both, and is rotated by neither without adopt=true', async () => {
      const { status, warnings } = await configure('other', aws.root);
      expect([status, warnings]).toEqual([
        200,
        ['access_key: aws/ is configured with the same key, and neither mount can rotate it: give each a user of its own'],
      ]);
      for (const [at, loser] of [
        ['aws', 'other/'],
        ['other', 'aws/'],
      ] as const) {
        const { status, errors } = await rotateRoot(at);
        expect(`${status} ${errors?.join()}`).toContain(`400 access_key: ${aws.root.access_key} is also the root credential of ${loser}`);
      }
      expect(await aws.beside.keysOf('svc')).toEqual([aws.root.access_key]);
      expect((await rotateRoot('aws', { adopt: true })).status).toBe(200);
      expect(await aws.beside.keysOf('svc')).not.toContain(aws.root.access_key);
    });

    test('that another mount rotates is refused when it is written, and when its user’s other key is rotated', async () => {
      await configure('aws', aws.root, { rotation_period: '24h' });
      const { status, errors } = await configure('other', aws.root);
      expect(`${status} ${errors?.join()}`).toBe(
        `400 access_key: the account "access key ${aws.root.access_key}" is already managed by the rotated root credential of aws/; ${ADOPT}`,
      );
      const { data } = await rotateRoot('aws');
      expect((data as { access_key: string }).access_key).not.toBe(aws.root.access_key);
    });

    test('is not the user of a static role of another mount, which could delete its key to make room', async () => {
      const { status, errors } = await create('other', 'st', { username: 'svc' });
      expect(`${status} ${errors?.join()}`).toContain(
        `400 username: "svc" has the key ${aws.root.access_key}, which is the root credential of aws/ and could be deleted to make room`,
      );
      expect(await aws.beside.keysOf('svc')).toEqual([aws.root.access_key]);
    });

    test('is not the current key of a static role of another mount', async () => {
      await create('aws', 'st');
      const key = await keyOf('aws', 'st');
      const { status, errors } = await configure('other', { access_key: key.access_key, secret_key: key.secret_key });
      expect(`${status} ${errors?.join()}`).toContain('is already managed by static role "st" of aws/');
    });

    test('may be written again, with another plan, and given up', async () => {
      for (const more of [{}, { rotation_period: '24h' }, { rotation_period: '48h' }, {}]) {
        expect((await configure('aws', aws.root, more)).status).toBe(204);
      }
      await configure('aws', second);
      expect((await configure('other', aws.root, { rotation_period: '24h' })).status).toBe(204);
    });
  });

  test('a role that an older version stored claims its user at the start or at its first rotation, without failing', async () => {
    const hosts = new Map<string, EngineHost>();
    const engine = { ...awsEngine, create: (host: EngineHost) => (hosts.set(host.mount.path, host), awsEngine.create(host)) };
    await mount.close();
    const { mountForTest, manualClock } = await import('@strongroom/engine-testkit');
    mount = await mountForTest(engine, { clock: manualClock(new Date()) });
    await ask('update', 'sys/mounts/other', { type: 'aws' });
    await configure('aws', aws.root);
    await configure('other', second);
    await create('aws', 'st');
    const { staticRoles } = recordsIn(hosts.get('aws/')!.storage);
    const { managed, account, ...old } = (await staticRoles.get('st'))!;
    expect({ managed, account }).toEqual({ managed: { account: '123456789012', user: 'static1' }, account: '123456789012' });
    await hosts.get('aws/')!.storage.transaction(async (tx) => {
      await tx.release({ system: 'aws:123456789012', name: 'static1' }, 'static role "st"');
      await recordsIn(tx).staticRoles.put('st', old);
    });
    expect((await ask('update', 'aws/rotate-role/st')).status).toBe(204);
    expect((await create('other', 'st')).errors?.join()).toContain('is already managed by static role "st" of aws/');
  });

  test('a role is not made while AWS does not say whose account it is: nothing is stored', async () => {
    aws.front.on('GetCallerIdentity', () => awsError(503, 'ServiceUnavailable', 'later'));
    expect((await create('aws', 'st')).status).toBe(500);
    expect((await ask('read', 'aws/static-roles/st')).status).toBe(404);
    expect(await aws.beside.keysOf('static1')).toEqual([]);
  });
});

import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { manualClock, mountForTest, sharedMemory, type ManualClock, type TestMount } from '@strongroom/engine-testkit';
import { awsEngine } from '../src/index.ts';
import { DEPLOY, rootConfig, type Key } from './cloud-mount.ts';
import { describeWithAws } from './describe-with-aws.ts';

jest.setTimeout(60_000);

describeWithAws('two processes over one store', (aws) => {
  let clock: ManualClock;
  let one: TestMount;
  let two: TestMount;

  beforeEach(async () => {
    const store = sharedMemory();
    clock = manualClock(new Date());
    one = await mountForTest(awsEngine, { storage: store.open(), clock });
    two = await mountForTest(awsEngine, { storage: store.open(), clock });
    await one.write('config/root', rootConfig(aws.front.endpoint, aws.root));
    await one.write('roles/deploy', { credential_type: 'assumed_role', role_arns: DEPLOY });
    await one.write('static-roles/st', { username: 'static1', rotation_period: '1h' });
  });
  afterEach(async () => {
    await one.close();
    await two.close();
  });
  const usedKey = async (mount: TestMount) => {
    await mount.read('creds/deploy');
    return aws.front.calls.findLast((call) => call.action === 'AssumeRole')!.key;
  };
  const staticKey = async (mount: TestMount) => ((await mount.read('static-creds/st')).data as Key).access_key;

  test('a root key that one replaces is the one that the other uses next', async () => {
    const before = await usedKey(two);
    const { access_key } = (await one.write('config/rotate-root')).data as Key;
    expect(access_key).not.toBe(before);
    expect(await usedKey(two)).toBe(access_key);
  });

  test('a rotation that falls due is made by one of them', async () => {
    aws.front.calls.length = 0;
    await clock.advance('1h');
    await Promise.all([one.core.settleSchedule(), two.core.settleSchedule()]);
    expect(aws.front.sent('CreateAccessKey')).toHaveLength(1);
    expect(await aws.beside.keysOf('static1')).toEqual([await staticKey(one)]);
    expect(await staticKey(two)).toBe(await staticKey(one));
  });

  test('while one rotates on request, the other answers 429, and one key is made', async () => {
    aws.front.calls.length = 0;
    let reached!: () => void;
    let release!: () => void;
    const creating = new Promise<void>((resolve) => (reached = resolve));
    const released = new Promise<void>((resolve) => (release = resolve));
    aws.front.on('CreateAccessKey', async () => {
      reached();
      await released;
      return undefined;
    });
    const first = one.call('update', 'aws/rotate-role/st');
    await creating;
    const second = await two.call('update', 'aws/rotate-role/st');
    release();
    expect(second.status).toBe(429);
    expect(second.errors![0]).toMatch(
      /^the key of static role "st" is being rotated(; if it was cut off, it resumes at \d{4}-\d\d-\d\dT[\d:.]+Z)?$/,
    );
    expect((await first).status).toBe(204);
    expect(aws.front.sent('CreateAccessKey')).toHaveLength(1);
    expect(await aws.beside.keysOf('static1')).toEqual([await staticKey(one)]);
  });
});

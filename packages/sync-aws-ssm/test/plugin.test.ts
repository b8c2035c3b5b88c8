import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { silentLog } from '@strongroom/engine-sdk';
import { describeWithMoto, startMoto } from '@strongroom/lab';
import { createNetworkGuard, nameComplaint, type DestinationSession, type NetworkGuard } from '@strongroom/sync-sdk';
import type { AwsSsmConnection } from '../src/connection.ts';
import { awsSsmDestination } from '../src/index.ts';
import { connectionTo, SsmOutside } from './ssm-outside.ts';

const MARK = { destination: 'a'.repeat(24), association: 'b'.repeat(24) };
const OPEN = { allowedIpv4: [], allowedIpv6: [], allowedPorts: [], disabled: true };

describe('limits that an emulator does not check', () => {
  const { name, valueMaxBytes } = awsSsmDestination.limits(connectionTo('http://127.0.0.1:1'));
  const levels = (count: number): string => '/a'.repeat(count);

  test.each([
    ['plain', 'app.db_1-x', true],
    ['15 levels', levels(15), true],
    ['16 levels', levels(16), false],
    ['a level without a slash before it', 'a/b', false],
    ['a name that AWS keeps for itself', '/aws/x', false],
    ['the same in another case', 'SSM-x', false],
    ['such a beginning further down', '/app/aws', true],
    ['1,011 characters', `/${'x'.repeat(1_010)}`, true],
    ['1,012 characters', `/${'x'.repeat(1_011)}`, false],
    ['a character that AWS does not take', '/app/a b', false],
  ])('%s', (_what, text, fits) => {
    expect(nameComplaint(name, text) === undefined).toBe(fits);
  });

  test('values have at most 4 KiB, and 8 KiB in other tiers', () => {
    expect(valueMaxBytes).toBe(4_096);
    for (const tier of ['Advanced', 'Intelligent-Tiering'])
      expect(awsSsmDestination.limits(connectionTo('http://127.0.0.1:1', { tier })).valueMaxBytes).toBe(8_192);
  });

  test('a name gets a slash before its first level', () => {
    expect(name.normalize('vault/kv//a b/')).toBe('/vault/kv/a-b');
  });
});

test.each<[Partial<AwsSsmConnection>, string]>([
  [{ access_key_id: undefined }, 'access_key_id and secret_access_key belong together'],
  [{ region: 'Frankfurt' }, 'region must look like'],
  [{ endpoint: 'nowhere' }, 'endpoint must be an address such as https://vpce-1234.ssm.'],
])('%j is reported without a call to AWS', (change, complaint) => {
  expect(awsSsmDestination.check!(connectionTo('http://127.0.0.1:1', change)).join()).toContain(complaint);
});

describeWithMoto('AWS Parameter Store, emulated by moto', () => {
  const outside = new SsmOutside();
  const open: [DestinationSession, NetworkGuard][] = [];
  beforeAll(async () => outside.start(await startMoto()), 60_000);
  afterAll(async () => {
    for (const [session, network] of open) {
      await session.close();
      await network.close();
    }
    await outside.stop();
  });
  const session = async (more: Partial<AwsSsmConnection> = {}): Promise<DestinationSession> => {
    const network = createNetworkGuard(OPEN);
    const host = { log: silentLog, now: () => new Date(), network };
    const made = await awsSsmDestination.open(connectionTo(outside.door.endpoint, more), host);
    open.push([made, network]);
    return made;
  };
  const signal = AbortSignal.timeout(60_000);
  const put = (name: string, value = 'v', tags = {}) => ({ name, value, mark: MARK, tags, operationId: crypto.randomUUID(), signal });
  const described = async (name: string) =>
    (await outside.client.describeParameters({ ParameterFilters: [{ Key: 'Name', Values: [name] }] })).Parameters![0]!;

  test('values are encrypted, with kms_key_id where it is given, and in the tier', async () => {
    const ssm = await session({ kms_key_id: 'alias/one', tier: 'Advanced' });
    await ssm.put(put('/app/keyed'));
    expect(await described('/app/keyed')).toMatchObject({ Type: 'SecureString', KeyId: 'alias/one', Tier: 'Advanced' });
  });

  test('a change keeps the tags of others and sets our own', async () => {
    const ssm = await session();
    await outside.write('/app/theirs', 'theirs');
    await outside.client.addTagsToResource({ ResourceType: 'Parameter', ResourceId: '/app/theirs', Tags: [{ Key: 'team', Value: 'a' }] });
    const current = (await ssm.read({ name: '/app/theirs', signal }))!;
    expect(current.mark).toBeUndefined();
    await ssm.put({ ...put('/app/theirs', 'ours', { env: 'prod' }), current });
    expect(await outside.read('/app/theirs')).toMatchObject({ value: 'ours', tags: { team: 'a', env: 'prod' } });
    expect(await ssm.read({ name: '/app/theirs', signal })).toMatchObject({ mark: MARK, revision: '2' });
  });

  test('a change of what was removed meanwhile makes it again, with mark and tags', async () => {
    const ssm = await session();
    await ssm.put(put('/app/gone'));
    const current = (await ssm.read({ name: '/app/gone', signal }))!;
    await outside.remove('/app/gone');
    expect(await ssm.put({ ...put('/app/gone', 'w', { env: 'prod' }), current })).toMatchObject({ mark: MARK, revision: '1' });
    expect((await outside.read('/app/gone'))!.tags).toMatchObject({ env: 'prod' });
    const names: string[] = [];
    for await (const { name } of ssm.list({ destination: MARK.destination, signal })) names.push(name);
    expect(names).toContain('/app/gone');
  });
});

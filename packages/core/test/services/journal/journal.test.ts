import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type TestMount } from '@strongroom/engine-testkit';
import { TestWorld } from '../../test-world.ts';

describe('the journal', () => {
  let world: TestWorld;

  const intents = async (mount: TestMount) =>
    ((await mount.call('read', 'sys/journal')).data as { intents: { kind: string; attempts: number }[] }).intents;

  beforeEach(async () => {
    world = new TestWorld();
    const mount = await world.start();
    await mount.write('roles/r', { ttl: '1h' });
    await mount.close();
  });
  afterEach(async () => world.close());

  test('a server that dies between the outside change and the lease leaves an account that the next one drops, once', async () => {
    world.hooks.afterCreate = async () => {
      world.driver.cut();
    };
    const dying = await world.start();
    expect((await dying.call('read', 'acc/creds/r')).status).toBe(500);
    expect(world.outside.users.size).toBe(1);
    world.hooks = {};
    const next = await world.start();
    expect(await intents(next)).toHaveLength(1);
    await next.advance('1m');
    expect(world.outside.users.size).toBe(1);
    await next.advance('61s');
    expect(world.outside.users.size).toBe(0);
    expect(await intents(next)).toEqual([]);
    await next.advance('1h');
    expect(world.outside.count('drop u1')).toBe(1);
  });

  test('a settled intent is never rolled back', async () => {
    const mount = await world.start();
    await mount.read('creds/r');
    world.driver.cut();
    const next = await world.start();
    expect(await intents(next)).toEqual([]);
    await next.advance('59m');
    expect(world.outside.users.size).toBe(1);
    expect(world.outside.count('drop u1')).toBe(0);
  });

  test('what is refused at its issue, as by a token that has ended meanwhile, is undone at once', async () => {
    const mount = await world.start();
    await mount.call('update', 'sys/policies/acl/p', { data: { policy: 'path "acc/*" { capabilities = ["read"] }' } });
    const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['p'] } })).auth!.client_token;
    world.hooks.afterCreate = async () => {
      await mount.call('update', 'auth/token/revoke', { data: { token } });
    };
    expect((await mount.call('read', 'acc/creds/r', { token })).status).toBe(403);
    await mount.core.settleSchedule();
    expect(world.outside.users.size).toBe(0);
    expect(await intents(mount)).toEqual([]);
  });

  test('a rollback that has begun makes the late lease fail, so that no lease stands for a dropped account', async () => {
    let goOn!: () => void;
    const slow = new Promise<void>((resolve) => (goOn = resolve));
    world.hooks.afterCreate = () => slow;
    const mount = await world.start();
    const late = mount.call('read', 'acc/creds/r');
    await world.clock.advance(0);
    expect(world.outside.users.size).toBe(1);
    // The intent is older than any request may be, so it is undone while this one is still at work.
    await world.clock.advance('89s');
    const other = await world.start();
    world.hooks = {};
    await world.clock.advance('31s');
    await other.core.settleSchedule();
    expect(world.outside.users.size).toBe(0);
    goOn();
    expect((await late).status).toBeGreaterThanOrEqual(500);
    expect((await mount.call('list', 'sys/leases/lookup/acc/creds/r/')).status).toBe(404);
  });

  test('a rollback that fails is kept with its reason and tried again until it succeeds', async () => {
    world.hooks.afterCreate = async () => {
      world.driver.cut();
    };
    await (await world.start()).call('read', 'acc/creds/r');
    world.hooks = {};
    world.outside.failing.add('one');
    const next = await world.start();
    await next.advance('121s');
    expect(await intents(next)).toMatchObject([{ kind: 'create-account', attempts: 1, last_error: { message: 'one is down' } }]);
    world.outside.failing.clear();
    await next.advance('1m');
    expect(await intents(next)).toEqual([]);
    expect(world.outside.users.size).toBe(0);
  });

  test('two servers on one store roll back once', async () => {
    world.hooks.afterCreate = async () => {
      world.driver.cut();
    };
    await (await world.start()).call('read', 'acc/creds/r');
    world.hooks = {};
    const [a, b] = [await world.start(), await world.start()];
    await world.clock.advance('121s');
    await Promise.all([a.core.settleSchedule(), b.core.settleSchedule()]);
    expect(world.outside.count('drop u1')).toBe(1);
    expect(await intents(a)).toEqual([]);
  });

  test('a damaged intent is quarantined and harms no other', async () => {
    world.hooks.afterCreate = async () => {
      throw new Error('lost');
    };
    const mount = await world.start();
    await mount.call('read', 'acc/creds/r');
    await world.clock.advance(1);
    await mount.call('read', 'acc/creds/r');
    const raw = world.store.open();
    const [first] = await raw.range({ prefix: 'intent/' });
    await raw.commit({ put: [{ key: first!.key, value: Buffer.from('nonsense') }] });
    await mount.advance('121s');
    expect([...world.outside.users]).toEqual(['u1']);
    expect((await mount.call('read', 'sys/journal')).status).toBe(200);
  });
});

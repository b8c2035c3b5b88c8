import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, sharedMemory, type TestMount } from '@strongroom/engine-testkit';
import { testEngine } from '../../test-engine.ts';
import { TestWorld } from '../../test-world.ts';

describe('mounts', () => {
  let world: TestWorld;
  let mount: TestMount;

  const at = async (path: string, data: Record<string, unknown> = { type: 'test' }) => mount.call('update', `sys/mounts/${path}`, { data });
  const remount = async (from: string, to: string) => mount.call('update', 'sys/remount', { data: { from, to } });
  const table = async (of: TestMount = mount) =>
    (await of.call('read', 'sys/mounts')).data as Record<string, { uuid: string; accessor: string; description: string }>;

  beforeEach(async () => {
    world = new TestWorld();
    mount = await world.start();
    await mount.write('roles/r', { ttl: '10h' });
  });
  afterEach(async () => world.close());

  describe('mounting', () => {
    test('a path in use, above or below another, is refused with its name', async () => {
      expect((await at('a/b')).status).toBe(204);
      expect((await at('a/b')).errors).toEqual(['path is already in use at a/b/']);
      expect((await at('a')).errors).toEqual(['path is already in use at a/b/']);
      expect((await at('a/b/c')).errors).toEqual(['path is already in use at a/b/']);
      expect((await at('a/bc')).status).toBe(204);
    });

    test.each([
      ['sys/x', 'cannot mount "sys/x/"'],
      ['auth/x', 'cannot mount "auth/x/"'],
      ['identity', 'cannot mount "identity/"'],
      [`x${'y'.repeat(400)}`, `invalid mount path ${JSON.stringify(`x${'y'.repeat(299)}`)}`],
      ['a/./b', "relative paths not supported: '.' is not allowed"],
    ])('%s is refused', async (path, text) => {
      expect((await at(path)).errors).toEqual([text]);
    });

    test.each([
      [{ type: 'nope' }, 'plugin not found in the catalog: nope'],
      [{}, 'backend type must be specified as a string'],
      [{ type: 'cubbyhole' }, 'mount type of "cubbyhole" is not mountable'],
      [
        { type: 'test', config: { default_lease_ttl: '2h', max_lease_ttl: '1h' } },
        'given default lease TTL greater than given max lease TTL',
      ],
      [{ type: 'test', config: { listing_visibility: 'zz' } }, 'invalid listing_visibility zz'],
      [{ type: 'test', options: { version: '2' } }, 'secrets engine "test" does not allow setting a version'],
      [
        { type: 'plugin', config: { plugin_name: { a: 1 } } },
        expect.stringContaining('error converting input for field "plugin_name"') as unknown as string,
      ],
    ])('%j is refused', async (order, text) => {
      expect((await at('fresh', order)).errors).toEqual([text]);
    });

    test('an engine that does not start is not mounted, and leaves nothing behind', async () => {
      const before = await world.keys();
      world.hooks.initialize = async () => {
        throw new Error('no directory');
      };
      expect((await at('fresh')).status).toBe(500);
      expect(await world.keys()).toEqual(before);
      delete world.hooks.initialize;
      expect((await at('fresh')).status).toBe(204);
    });

    test('a request reaches the mount with the longest prefix of its path', async () => {
      await at('deep/er');
      await at('deeper');
      await mount.call('update', 'deep/er/roles/x', { data: { system: 'first' } });
      expect((await mount.call('read', 'deep/er/roles/x')).data).toMatchObject({ system: 'first' });
      expect((await mount.call('read', 'deeper/roles/x')).status).toBe(404);
      expect((await mount.call('read', 'deep/roles/x')).errors).toEqual(['no handler for route "deep/roles/x". route entry not found.']);
    });

    test('two servers cannot mount overlapping paths at once', async () => {
      const other = await world.start();
      const answers = await Promise.all([
        mount.call('update', 'sys/mounts/race', { data: { type: 'test' } }),
        other.call('update', 'sys/mounts/race/below', { data: { type: 'test' } }),
      ]);
      expect(answers.map((answer) => answer.status).sort()).toEqual([204, 400]);
      expect(Object.keys(await table()).filter((path) => path.startsWith('race'))).toHaveLength(1);
      expect(await table(other)).toEqual(await table());
    });

    test('what one server mounts, tunes, moves or unmounts is so on the other', async () => {
      const other = await world.start();
      await at('shared');
      await world.clock.advance(0);
      expect((await other.call('update', 'shared/roles/x', { data: { system: 's' } })).status).toBe(204);
      await other.call('update', 'sys/mounts/shared/tune', { data: { description: 'ours' } });
      await world.clock.advance(0);
      expect((await table())['shared/']!.description).toBe('ours');
      await remount('shared', 'moved');
      await world.clock.advance(0);
      expect((await other.call('read', 'moved/roles/x')).status).toBe(200);
      expect((await other.call('read', 'shared/roles/x')).status).toBe(404);
      await mount.call('delete', 'sys/mounts/moved');
      await world.clock.advance(0);
      expect((await other.call('read', 'moved/roles/x')).status).toBe(404);
      expect(await table(other)).toEqual(await table());
    });

    test('servers that open an empty store at once agree on its own mounts', async () => {
      const fresh = sharedMemory();
      const options = { clock: world.clock, path: 'acc' };
      const one = await mountForTest(testEngine(world.outside), { ...options, storage: fresh.open() });
      const raw = fresh.open();
      const mounts = (await raw.range({ prefix: 'core/mount', keysOnly: true })).map(({ key }) => key);
      await one.close();
      await raw.commit({ delete: mounts });
      const both = await Promise.all(
        [1, 2].map(async () => mountForTest(testEngine(world.outside), { ...options, storage: fresh.open() }).catch(() => undefined)),
      );
      const tables = await Promise.all(both.flatMap((each) => (each ? [table(each)] : [])));
      expect((await raw.range({ prefix: 'core/mount/', keysOnly: true })).length).toBe(5);
      for (const each of tables) expect(each['sys/']!.uuid).toBe(tables[0]!['sys/']!.uuid);
      for (const each of both) await each?.close();
    });
  });

  describe('unmounting', () => {
    test('takes back every lease and removes every key of the mount', async () => {
      const { uuid } = (await table())['acc/']!;
      for (let i = 0; i < 5; i += 1) await mount.read('creds/r');
      await mount.write('ticks/a');
      expect((await mount.call('delete', 'sys/mounts/acc')).status).toBe(204);
      expect(world.outside.users.size).toBe(0);
      await mount.core.settleSchedule();
      expect((await world.keys()).filter((key) => key.includes(uuid) || key.startsWith('lease/acc') || key.startsWith('intent/'))).toEqual(
        [],
      );
      expect((await mount.call('delete', 'sys/mounts/acc')).status).toBe(204);
    });

    test('continues in the background when the outside system is back', async () => {
      await mount.read('creds/r');
      world.outside.failing.add('one');
      await mount.call('delete', 'sys/mounts/acc');
      world.outside.failing.clear();
      await mount.advance('3m');
      expect(Object.keys(await table())).not.toContain('acc/');
      expect(world.outside.users.size).toBe(0);
    });

    test('is finished by the next server when one dies in the middle', async () => {
      for (let i = 0; i < 3; i += 1) await mount.read('creds/r');
      world.outside.hanging.add('one');
      void mount.call('delete', 'sys/mounts/acc');
      await world.clock.advance(0);
      world.driver.cut();
      world.outside.hanging.clear();
      const { mountForTest: again } = await import('@strongroom/engine-testkit');
      const heir = await again(testEngine(world.outside), { storage: world.store.open(), path: 'elsewhere', clock: world.clock });
      world.servers.push(heir);
      await heir.advance('5m');
      expect(Object.keys(await table(heir))).not.toContain('acc/');
      expect(world.outside.users.size).toBe(0);
    });

    test('waits for requests under way, so that their accounts are not forgotten', async () => {
      let goOn!: () => void;
      const slow = new Promise<void>((resolve) => (goOn = resolve));
      world.hooks.afterCreate = () => slow;
      const late = mount.call('read', 'acc/creds/r');
      await world.clock.advance(0);
      const gone = mount.call('delete', 'sys/mounts/acc');
      await world.clock.advance(0);
      expect(world.outside.users.size).toBe(1);
      goOn();
      expect((await late).status).toBe(503);
      expect((await gone).status).toBe(204);
      expect(world.outside.users.size).toBe(0);
      expect((await world.keys()).filter((key) => key.startsWith('intent/') || key.startsWith('lease/acc'))).toEqual([]);
    });

    test('of what the server needs is refused', async () => {
      expect((await mount.call('delete', 'sys/mounts/sys')).errors).toEqual(['cannot unmount "sys/"']);
      expect((await mount.call('delete', 'sys/auth/token')).errors).toEqual(['token credential backend cannot be disabled']);
    });
  });

  describe('moving', () => {
    test('takes the data along and the leases back', async () => {
      await mount.read('creds/r');
      expect((await remount('acc', 'new/place')).status).toBe(200);
      expect(world.outside.users.size).toBe(0);
      expect((await mount.call('read', 'new/place/roles/r')).status).toBe(200);
      expect((await mount.call('read', 'acc/roles/r')).status).toBe(404);
      const { leaseId } = await mount.call('read', 'new/place/creds/r');
      expect(leaseId.startsWith('new/place/creds/r/')).toBe(true);
      expect((await at('acc')).status).toBe(204);
    });

    test('to a path in use, or above what another has, is refused; to a path above its own it is not', async () => {
      await at('up/one');
      await at('up/two');
      expect((await remount('acc', 'up/one')).errors).toEqual(['path in use at "up/one/"']);
      expect((await remount('up/one', 'up')).errors).toEqual(['path in use at "up/"']);
      await mount.call('delete', 'sys/mounts/up/two');
      expect((await remount('up/one', 'up')).status).toBe(200);
      expect((await remount('nope', 'x')).errors).toEqual(['no matching mount at "nope/"']);
      expect((await remount('acc', 'x/../y')).errors).toEqual(['invalid mount path "x/../y/"']);
      expect((await remount('acc', `x\u0000y`)).status).toBe(400);
      expect((await remount('sys', 'x')).errors).toEqual(['cannot remount "sys/"']);
    });
  });

  describe('tuning', () => {
    test('new limits hold at once, for new leases and for renewals', async () => {
      const { leaseId } = await mount.read('creds/r');
      expect((await mount.call('update', 'sys/mounts/acc/tune', { data: { max_lease_ttl: '30m', default_lease_ttl: '20m' } })).status).toBe(
        204,
      );
      expect((await mount.read('creds/r')).leaseDuration).toBe(1_800);
      const renewed = await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId } });
      expect(renewed.leaseDuration).toBe(1_800);
      expect((await mount.call('read', 'sys/mounts/acc/tune')).data).toMatchObject({ max_lease_ttl: 1_800, default_lease_ttl: 1_200 });
    });

    test('an empty option removes it, and only an option that is new is warned of', async () => {
      const warned = 'Endpoint ignored these unrecognized parameters: [options.a]';
      const options = async () => (await mount.call('read', 'sys/mounts/fresh')).data;
      expect((await at('fresh', { type: 'test', options: { a: '1' } })).warnings).toEqual([warned]);
      expect((await at('fresh/tune', { options: { a: '2' } })).status).toBe(204);
      expect(await options()).toMatchObject({ options: { a: '2' } });
      expect((await at('fresh/tune', { options: { a: '' } })).status).toBe(204);
      expect(await options()).toMatchObject({ options: null });
      expect((await at('fresh/tune', { options: { a: '2' } })).warnings).toEqual([warned]);
      await at('other', { type: 'test', options: { version: '' } });
      expect((await at('other/tune', { options: { version: '' } })).status).toBe(204);
      expect((await mount.call('read', 'sys/mounts/other')).data).toMatchObject({ options: null });
    });

    test('null changes nothing', async () => {
      await at('acc/tune', { listing_visibility: 'unauth', max_lease_ttl: '1h' });
      const nothing = { listing_visibility: null, max_lease_ttl: null, token_type: null, user_lockout_config: null };
      expect((await at('acc/tune', nothing)).status).toBe(204);
      expect((await mount.call('read', 'sys/mounts/acc/tune')).data).toMatchObject({ listing_visibility: 'unauth', max_lease_ttl: 3_600 });
      expect((await at('fresh', { type: 'test', config: { ...nothing, plugin_name: null } })).status).toBe(204);
    });

    test('limits that contradict each other are refused with both', async () => {
      await mount.call('update', 'sys/mounts/acc/tune', { data: { max_lease_ttl: '1h' } });
      expect((await mount.call('update', 'sys/mounts/acc/tune', { data: { default_lease_ttl: '2h' } })).errors).toEqual([
        'backend max lease TTL of 3600 would be less than backend default lease TTL of 7200',
      ]);
      expect((await mount.call('update', 'sys/mounts/nope/tune', { data: { description: 'x' } })).errors).toEqual([
        'tune of path "nope/" failed: no mount entry found',
      ]);
      expect((await mount.call('update', 'sys/mounts/sys/tune', { data: { default_lease_ttl: '2h' } })).errors).toEqual([
        'cannot tune parameter default_lease_ttl of sys/',
      ]);
    });
  });

  test('an engine that does not start at unseal harms its mount alone', async () => {
    await at('fine');
    await mount.close();
    let broken = true;
    world.hooks.initialize = async () => {
      if (broken) {
        broken = false;
        throw new Error('no directory');
      }
    };
    mount = await world.start();
    const statuses = await Promise.all(['acc', 'fine'].map(async (path) => (await mount.call('read', `${path}/roles/none`)).status));
    expect(statuses.sort()).toEqual([404, 503]);
  });
});

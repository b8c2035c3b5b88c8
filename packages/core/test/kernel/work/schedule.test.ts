import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { testEngine } from '../../test-engine.ts';
import { TestWorld } from '../../test-world.ts';

describe('the schedule', () => {
  let world: TestWorld;
  let next: (() => Date | undefined) | undefined;
  let mount: TestMount;

  beforeEach(async () => {
    world = new TestWorld();
    world.hooks.next = () => next?.();
    next = undefined;
    mount = await world.start();
  });
  afterEach(async () => world.close());

  test('a job runs when it is due, and again when it says so', async () => {
    next = () => new Date(world.clock.millis() + 60_000);
    await mount.write('ticks/a', { after: '1m' });
    await mount.advance('59s');
    expect(world.outside.log).toEqual([]);
    await mount.advance('1s');
    expect(world.outside.log).toEqual(['tick a']);
    await mount.advance('3m');
    expect(world.outside.count('tick a')).toBe(4);
    await mount.delete('ticks/a');
    await mount.advance('1h');
    expect(world.outside.count('tick a')).toBe(4);
  });

  test('a failing job is retried with growing delay and shows why', async () => {
    world.outside.failing.add('one');
    await mount.write('ticks/a', { after: '1m' });
    await mount.advance('1m');
    expect((await mount.read('ticks/a')).data).toMatchObject({ state: 'failing', attempts: 1 });
    const shown = (await mount.call('read', 'sys/schedule', { data: { failing: true } })).data as { jobs: object[] };
    expect(shown.jobs).toMatchObject([{ mount: 'acc/', kind: 'tick', id: 'a', last_error: { message: 'one is down' } }]);
    await mount.advance('7s');
    expect(world.outside.count('tick a')).toBe(1);
    await mount.advance('6s');
    expect(world.outside.count('tick a')).toBe(2);
    world.outside.failing.clear();
    await mount.advance('10m');
    expect(world.outside.count('tick a')).toBe(3);
    expect((await mount.call('read', 'acc/ticks/a')).status).toBe(404);
  });

  test('a job claimed by a server that died runs again after its claim', async () => {
    world.outside.hanging.add('one');
    await mount.write('ticks/a', { after: '1m' });
    await world.clock.advance('1m');
    expect(world.outside.count('tick a')).toBe(1);
    world.driver.cut();
    world.outside.hanging.clear();
    const heir = await world.start();
    await heir.advance('70s');
    expect(world.outside.count('tick a')).toBe(1);
    await heir.advance('10s');
    expect(world.outside.count('tick a')).toBe(2);
  });

  test('two servers on one store never run one job twice', async () => {
    next = () => new Date(world.clock.millis() + 10_000);
    const other = await world.start();
    for (let i = 0; i < 30; i += 1) await (i % 2 ? mount : other).write(`ticks/j${i}`, { after: '10s' });
    for (let round = 1; round <= 5; round += 1) {
      await world.clock.advance('10s');
      await Promise.all([mount.core.settleSchedule(), other.core.settleSchedule()]);
      for (let i = 0; i < 30; i += 1) expect(world.outside.count(`tick j${i}`)).toBe(round);
    }
  });

  test('an outside system that keeps failing opens its circuit breaker, which is shown; the others go on', async () => {
    world.outside.failing.add('dead');
    for (let i = 0; i < 20; i += 1) await mount.write(`ticks/d${i}`, { system: 'dead', after: '1m' });
    await mount.write('ticks/live', { system: 'live', after: '62s' });
    await mount.advance('1m');
    const tries = world.outside.log.length;
    expect(tries).toBeLessThanOrEqual(20);
    expect(((await mount.call('read', 'sys/schedule')).data as { circuits: object[] }).circuits).toMatchObject([{ target: 'acc/dead' }]);
    await mount.advance('3s');
    expect(world.outside.count('tick live')).toBe(1);
    world.outside.failing.clear();
    await mount.advance('30m');
    for (let i = 0; i < 20; i += 1) expect(world.outside.log).toContain(`tick d${i}`);
    expect((await mount.call('read', 'sys/schedule')).data as { circuits: object[]; jobs: object[] }).toEqual({ circuits: [], jobs: [] });
  });

  test('a job that is scheduled again while it runs keeps its new time', async () => {
    world.outside.hanging.add('one');
    await mount.write('ticks/a', { after: '1m' });
    await world.clock.advance('1m');
    await mount.write('ticks/a', { after: '1h' });
    await world.clock.advance('61s');
    expect((await mount.read('ticks/a')).data).toMatchObject({ state: 'waiting', attempts: 0 });
    world.outside.hanging.clear();
    await mount.advance('50m');
    expect(world.outside.count('tick a')).toBe(1);
    await mount.advance('10m');
    expect(world.outside.count('tick a')).toBe(2);
  });

  test('a job that falls due again while it runs runs again as soon as it is done', async () => {
    let done!: () => void;
    const work = new Promise<void>((resolve) => (done = resolve));
    const { call } = world.outside;
    world.outside.call = async (...args) => {
      await call.apply(world.outside, args);
      await work;
    };
    await mount.write('ticks/a', { after: '1m' });
    await world.clock.advance('1m');
    await mount.write('ticks/a', { after: 0 });
    await world.clock.advance('1s');
    expect(world.outside.count('tick a')).toBe(1);
    done();
    await world.clock.advance('1s');
    await world.clock.advance('1s');
    expect(world.outside.count('tick a')).toBe(2);
  });

  test('a job whose commit takes long runs as soon as it is there', async () => {
    let stored!: () => void;
    const commits = new Promise<void>((resolve) => (stored = resolve));
    const slow = world.store.open();
    const { commit } = slow;
    const other = await mountForTest(testEngine(world.outside), { storage: slow, path: 'acc', clock: world.clock });
    world.servers.push(other);
    await mount.close();
    slow.commit = async (change) => {
      if (change.put?.some(({ key }) => key.startsWith('job/'))) await commits;
      return commit.call(slow, change);
    };
    const written = other.write('ticks/a', { after: 0 });
    for (let turn = 0; turn < 5; turn += 1) await world.clock.advance('1s');
    stored();
    await written;
    await world.clock.advance('1s');
    expect(world.outside.count('tick a')).toBe(1);
  });

  test('a damaged job is quarantined and the others run', async () => {
    await mount.write('ticks/a', { after: '1m' });
    await mount.write('ticks/b', { after: '1m' });
    const raw = world.store.open();
    const [first] = await raw.range({ prefix: 'job/' });
    await raw.commit({ put: [{ key: first!.key, value: Buffer.from('nonsense') }] });
    await mount.advance('1m');
    expect(world.outside.log).toEqual(['tick b']);
    expect((await mount.call('delete', 'sys/mounts/acc')).status).toBe(204);
    expect((await raw.range({ prefix: 'job/', keysOnly: true })).length).toBe(0);
  });
});

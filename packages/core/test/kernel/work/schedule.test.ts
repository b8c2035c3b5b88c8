import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  manualClock,
  mountForTest,
  sharedMemory,
  type CuttableStorage,
  type ManualClock,
  type TestMount,
} from '@strongroom/engine-testkit';
import { Outside, testEngine } from '../../test-engine.ts';

describe('the schedule', () => {
  let outside: Outside;
  let clock: ManualClock;
  let store: ReturnType<typeof sharedMemory>;
  let driver: CuttableStorage;
  let next: (() => Date | undefined) | undefined;
  let mount: TestMount;
  const open: TestMount[] = [];

  const start = async (): Promise<TestMount> => {
    driver = store.open();
    const started = await mountForTest(testEngine(outside, { next: () => next?.() }), { storage: driver, path: 'acc', clock });
    open.push(started);
    return started;
  };

  beforeEach(async () => {
    outside = new Outside();
    clock = manualClock();
    store = sharedMemory();
    next = undefined;
    mount = await start();
  });
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });

  test('a job runs when it is due, and again when it says so', async () => {
    next = () => new Date(clock.millis() + 60_000);
    await mount.write('ticks/a', { after: '1m' });
    await mount.advance('59s');
    expect(outside.log).toEqual([]);
    await mount.advance('1s');
    expect(outside.log).toEqual(['tick a']);
    await mount.advance('3m');
    expect(outside.count('tick a')).toBe(4);
    await mount.delete('ticks/a');
    await mount.advance('1h');
    expect(outside.count('tick a')).toBe(4);
  });

  test('a failing job is retried with growing delay and shows why', async () => {
    outside.failing.add('one');
    await mount.write('ticks/a', { after: '1m' });
    await mount.advance('1m');
    expect((await mount.read('ticks/a')).data).toMatchObject({ state: 'failing', attempts: 1 });
    const shown = (await mount.call('read', 'sys/schedule', { data: { failing: true } })).data as { jobs: object[] };
    expect(shown.jobs).toMatchObject([{ mount: 'acc/', kind: 'tick', id: 'a', last_error: { message: 'one is down' } }]);
    await mount.advance('7s');
    expect(outside.count('tick a')).toBe(1);
    await mount.advance('6s');
    expect(outside.count('tick a')).toBe(2);
    outside.failing.clear();
    await mount.advance('10m');
    expect(outside.count('tick a')).toBe(3);
    expect((await mount.call('read', 'acc/ticks/a')).status).toBe(404);
  });

  test('a job claimed by a server that died runs again after its claim', async () => {
    outside.hanging.add('one');
    await mount.write('ticks/a', { after: '1m' });
    await clock.advance('1m');
    expect(outside.count('tick a')).toBe(1);
    driver.cut();
    outside.hanging.clear();
    const heir = await start();
    await heir.advance('70s');
    expect(outside.count('tick a')).toBe(1);
    await heir.advance('10s');
    expect(outside.count('tick a')).toBe(2);
  });

  test('two servers on one store never run one job twice', async () => {
    next = () => new Date(clock.millis() + 10_000);
    const other = await start();
    for (let i = 0; i < 30; i += 1) await (i % 2 ? mount : other).write(`ticks/j${i}`, { after: '10s' });
    for (let round = 1; round <= 5; round += 1) {
      await clock.advance('10s');
      await Promise.all([mount.core.settleSchedule(), other.core.settleSchedule()]);
      for (let i = 0; i < 30; i += 1) expect(outside.count(`tick j${i}`)).toBe(round);
    }
  });

  test('an outside system that keeps failing opens its circuit breaker, which is shown; the others go on', async () => {
    outside.failing.add('dead');
    for (let i = 0; i < 20; i += 1) await mount.write(`ticks/d${i}`, { system: 'dead', after: '1m' });
    await mount.write('ticks/live', { system: 'live', after: '62s' });
    await mount.advance('1m');
    const tries = outside.log.length;
    expect(tries).toBeLessThanOrEqual(20);
    expect(((await mount.call('read', 'sys/schedule')).data as { circuits: object[] }).circuits).toMatchObject([{ target: 'acc/dead' }]);
    await mount.advance('3s');
    expect(outside.count('tick live')).toBe(1);
    outside.failing.clear();
    await mount.advance('30m');
    for (let i = 0; i < 20; i += 1) expect(outside.log).toContain(`tick d${i}`);
    expect((await mount.call('read', 'sys/schedule')).data as { circuits: object[]; jobs: object[] }).toEqual({ circuits: [], jobs: [] });
  });

  test('a job that is scheduled anew while it runs keeps its new time', async () => {
    outside.hanging.add('one');
    await mount.write('ticks/a', { after: '1m' });
    await clock.advance('1m');
    await mount.write('ticks/a', { after: '1h' });
    await clock.advance('61s');
    expect((await mount.read('ticks/a')).data).toMatchObject({ state: 'waiting', attempts: 0 });
    outside.hanging.clear();
    await mount.advance('50m');
    expect(outside.count('tick a')).toBe(1);
    await mount.advance('10m');
    expect(outside.count('tick a')).toBe(2);
  });

  test('a job that falls due again while it runs runs again as soon as it is done', async () => {
    let done!: () => void;
    const work = new Promise<void>((resolve) => (done = resolve));
    const { call } = outside;
    outside.call = async (...args) => {
      await call.apply(outside, args);
      await work;
    };
    await mount.write('ticks/a', { after: '1m' });
    await clock.advance('1m');
    await mount.write('ticks/a', { after: 0 });
    await clock.advance('1s');
    expect(outside.count('tick a')).toBe(1);
    done();
    await clock.advance('1s');
    await clock.advance('1s');
    expect(outside.count('tick a')).toBe(2);
  });

  test('a job whose commit takes long runs as soon as it is there', async () => {
    let stored!: () => void;
    const commits = new Promise<void>((resolve) => (stored = resolve));
    const slow = store.open();
    const { commit } = slow;
    const other = await mountForTest(testEngine(outside), { storage: slow, path: 'acc', clock });
    open.push(other);
    await mount.close();
    slow.commit = async (change) => {
      if (change.put?.some(({ key }) => key.startsWith('job/'))) await commits;
      return commit.call(slow, change);
    };
    const written = other.write('ticks/a', { after: 0 });
    for (let turn = 0; turn < 5; turn += 1) await clock.advance('1s');
    stored();
    await written;
    await clock.advance('1s');
    expect(outside.count('tick a')).toBe(1);
  });

  test('a damaged job is quarantined and the others run', async () => {
    await mount.write('ticks/a', { after: '1m' });
    await mount.write('ticks/b', { after: '1m' });
    const raw = store.open();
    const [first] = await raw.range({ prefix: 'job/' });
    await raw.commit({ put: [{ key: first!.key, value: Buffer.from('nonsense') }] });
    await mount.advance('1m');
    expect(outside.log).toEqual(['tick b']);
    expect((await mount.call('delete', 'sys/mounts/acc')).status).toBe(204);
    expect((await raw.range({ prefix: 'job/', keysOnly: true })).length).toBe(0);
  });
});

import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Log } from '@strongroom/engine-sdk';
import {
  manualClock,
  mountForTest,
  sharedMemory,
  type CuttableStorage,
  type ManualClock,
  type TestMount,
} from '@strongroom/engine-testkit';
import { linuxProcesses, type ProcessFacts } from '../../../src/kernel/incarnation/process-table.ts';
import { Outside, testEngine } from '../../test-engine.ts';

interface Server extends TestMount {
  readonly driver: CuttableStorage;
  readonly log: string[];
  /** Lets the time of its liveness go by, in steps of a beat. */
  live(seconds: number): Promise<void>;
}

describe('processes on one store', () => {
  let outside: Outside;
  let clock: ManualClock;
  let store: ReturnType<typeof sharedMemory>;
  let hooks: { afterCreate?: () => Promise<void> };
  /** Numbers of the processes that have ended. */
  let ended: Set<number>;
  const open: Server[] = [];

  const start = async (pid: number, machine = 'm1'): Promise<Server> => {
    const driver = store.open();
    const liveness = manualClock();
    const lines: string[] = [];
    const say = (message: string): unknown => lines.push(message);
    const log: Log = { debug: () => undefined, info: say, warn: say, error: say };
    const processes = {
      own: (): ProcessFacts => ({ boot: machine, namespace: 'n', pid, started: '1' }),
      exists: (facts: ProcessFacts) => (facts.boot === machine ? !ended.has(facts.pid) : undefined),
    };
    const mount = await mountForTest(testEngine(outside, hooks), {
      storage: driver,
      path: 'acc',
      clock,
      log,
      liveness: { clock: liveness, processes },
    });
    const live = async (seconds: number): Promise<void> => {
      for (let left = seconds; left > 0; left -= 5) await liveness.advance(Math.min(5, left));
      await mount.core.settleSchedule();
    };
    const server = { ...mount, driver, log: lines, live };
    open.push(server);
    return server;
  };
  const die = (server: Server, pid: number): void => {
    server.driver.cut();
    ended.add(pid);
  };
  const journal = async (server: Server) => ((await server.call('read', 'sys/journal')).data as { intents: { kind: string }[] }).intents;
  const settled = async (server: Server): Promise<void> => {
    await server.live(1);
    await server.core.settleSchedule();
  };

  beforeEach(async () => {
    outside = new Outside();
    clock = manualClock();
    store = sharedMemory();
    hooks = {};
    ended = new Set();
    const first = await start(1);
    await first.write('roles/r', { ttl: '1h' });
    await first.close();
    open.length = 0;
  });
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close();
  });

  /** A server that dies when its account is made outside and nothing of that is stored. */
  const dieInTheMiddle = async (pid: number, machine?: string): Promise<void> => {
    const dying = await start(pid, machine);
    hooks.afterCreate = async () => die(dying, pid);
    expect((await dying.call('read', 'acc/creds/r')).status).toBe(500);
    hooks.afterCreate = async () => undefined;
    expect(outside.users.size).toBe(1);
  };

  test('what was hung on a token while it ended is taken back at once where the process that ended the token has died', async () => {
    const one = await start(1);
    await one.write('roles/r', { system: 's', ttl: '10h' });
    await one.call('update', 'sys/policies/acl/all', { data: { policy: 'path "*" { capabilities = ["read", "update"] }' } });
    await one.call('update', 'auth/token/roles/many', { data: { orphan: true } });
    const order = { policies: ['all'], ttl: '1h' };
    const token = (await one.call('update', 'auth/token/create/many', { data: order })).auth!.client_token;
    const range = one.driver.range.bind(one.driver);
    let looks = 0;
    one.driver.range = async (query) => {
      const found = await range(query);
      if (query.prefix !== 'token-lease/' || query.before === undefined) return found;
      looks += 1;
      if (looks === 1) expect((await one.call('read', 'acc/creds/r', { token })).status).toBe(200);
      else die(one, 1);
      return found;
    };
    void one.call('update', 'sys/leases/revoke-prefix/auth/token/create/many', { data: { sync: true } });
    await clock.advance(0);
    const two = await start(2);
    expect(outside.users.size).toBe(1);
    await settled(two);
    expect(outside.users.size).toBe(0);
  });

  test('what a process leaves unfinished is undone at once when another starts on its machine', async () => {
    await dieInTheMiddle(2);
    const next = await start(3);
    await settled(next);
    expect(outside.users.size).toBe(0);
    expect(next.log).toContain('the work of another process of this store is taken over');
  });

  test('a process on another machine, or in another container, is dead after 20 s of silence, and its work is undone within 30 s', async () => {
    const observer = await start(3, 'm2');
    await dieInTheMiddle(2, 'm1');
    await observer.live(15);
    expect(outside.users.size).toBe(1);
    await observer.live(15);
    expect(outside.users.size).toBe(0);
  });

  test('two servers that live let each other be', async () => {
    const one = await start(2, 'm1');
    const two = await start(3, 'm2');
    await one.read('creds/r');
    for (let i = 0; i < 12; i += 1) {
      await one.live(5);
      await two.live(5);
    }
    expect([...one.log, ...two.log].filter((line) => /is taken over|presumed dead/.test(line))).toEqual([]);
    expect(outside.users.size).toBe(1);
  });

  test('a process that was frozen within its call and goes on leaves nothing behind: the change is undone a second time', async () => {
    const frozen = await start(2, 'm1');
    const observer = await start(3, 'm2');
    let wake!: () => void;
    const asleep = new Promise<void>((resolve) => (wake = resolve));
    let inside!: () => void;
    const reached = new Promise<void>((resolve) => (inside = resolve));
    hooks.afterCreate = async () => {
      inside();
      await asleep;
      // The outside system carries out what it was asked for before the freeze.
      outside.users.add('u1');
    };
    const answer = frozen.call('read', 'acc/creds/r');
    await reached;
    await observer.live(30);
    expect(outside.users.size).toBe(0);
    expect(await journal(observer)).toHaveLength(1);
    wake();
    expect((await answer).status).toBe(500);
    expect(outside.users.size).toBe(1);
    hooks.afterCreate = async () => undefined;
    await frozen.live(5);
    expect(frozen.log.join()).toMatch(/presumed dead/);
    await observer.advance('2m');
    expect(outside.users.size).toBe(0);
    expect(await journal(observer)).toEqual([]);
    expect((await frozen.call('read', 'acc/creds/r')).status).toBe(200);
  });

  test('a process that could not write to its store for 10 s begins nothing outside, and says why', async () => {
    const server = await start(2);
    await server.read('creds/r');
    const { commit } = server.driver;
    server.driver.commit = async () => {
      throw new Error('the store does not answer');
    };
    await server.live(15);
    server.driver.commit = commit;
    const calls = outside.log.length;
    const refused = await server.call('read', 'acc/creds/r');
    expect(refused.status).toBe(503);
    expect(refused.errors?.[0]).toMatch(/could not write to its store for 1\d s/);
    expect(outside.log).toHaveLength(calls);
    await server.live(5);
    expect((await server.call('read', 'acc/creds/r')).status).toBe(200);
  });

  test('a revocation that a dead process had begun is carried out by the next one at once', async () => {
    const dying = await start(2);
    const { leaseId } = await dying.read('creds/r');
    outside.hanging.add('one');
    void dying.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
    while (outside.count('drop u1') === 0) await new Promise((resolve) => setImmediate(resolve));
    die(dying, 2);
    outside.hanging.clear();
    const next = await start(3);
    await settled(next);
    expect(outside.users.size).toBe(0);
    expect((await next.call('update', 'sys/leases/lookup', { data: { lease_id: leaseId } })).status).toBe(400);
  });

  test('a server that stops in order leaves no record of itself', async () => {
    const server = await start(2);
    await server.close();
    open.length = 0;
    const disk = store.open();
    expect((await disk.range({ prefix: 'core/incarnation/' })).map(({ key }) => key)).toEqual([]);
  });
});

describe('the process table', () => {
  test('knows its own process, and that another has ended', async () => {
    const own = linuxProcesses.own();
    expect(linuxProcesses.exists(own)).toBe(true);
    expect(linuxProcesses.exists({ ...own, started: '1' })).toBe(false);
    const child = spawn('sleep', ['60']);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    expect(linuxProcesses.exists({ ...own, pid: child.pid! })).toBe(false);
  });

  test('says nothing of processes in other containers and on other machines', () => {
    const own = linuxProcesses.own();
    expect(linuxProcesses.exists({ ...own, boot: 'other' })).toBeUndefined();
    expect(linuxProcesses.exists({ ...own, namespace: 'pid:[1]' })).toBeUndefined();
  });
});

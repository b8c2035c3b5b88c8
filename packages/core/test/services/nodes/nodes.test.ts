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

interface Shown {
  id: string;
  self: boolean;
  hostname: string;
  version: string;
  state: string;
  last_seen: string;
  requests: number;
}

describe('the servers of one store', () => {
  let clock: ManualClock;
  /** Of heartbeats. */
  let beats: ManualClock;
  let store: ReturnType<typeof sharedMemory>;
  let ended: Set<number>;
  const open: TestMount[] = [];

  beforeEach(() => {
    clock = manualClock();
    beats = manualClock();
    store = sharedMemory();
    ended = new Set();
    closed = [];
  });
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close();
  });

  let closed: number[];
  const start = async (pid: number): Promise<TestMount & { driver: CuttableStorage }> => {
    const driver = store.open();
    const processes = {
      own: () => ({ boot: 'm', namespace: 'n', pid, started: '1' }),
      exists: (facts: { pid: number }) => !ended.has(facts.pid),
    };
    const server = await mountForTest(testEngine(new Outside(), { close: async () => void closed.push(pid) }), {
      storage: driver,
      path: 'acc',
      clock,
      liveness: { clock: beats, processes },
    });
    open.push(server);
    return { ...server, driver };
  };
  const pass = async (time: string): Promise<void> => {
    await clock.advance(time);
    await beats.advance(time);
  };
  const shown = async (server: TestMount): Promise<Shown[]> => ((await server.call('read', 'sys/nodes')).data as { nodes: Shown[] }).nodes;
  const states = async (server: TestMount): Promise<string[]> =>
    (await shown(server)).map(({ self, state }) => `${self ? 'self ' : ''}${state}`).sort();

  test('a server alone shows itself, with the request that asks', async () => {
    const one = await start(1);
    expect(await shown(one)).toEqual([
      expect.objectContaining({
        self: true,
        state: 'active',
        requests: 1,
        last_seen: clock.now().toISOString(),
        version: expect.any(String),
      }),
    ]);
  });

  test('each shows all, and which of them answers', async () => {
    const [one, two] = [await start(1), await start(2)];
    await pass('15s');
    expect(await states(one)).toEqual(['active', 'self active']);
    expect(await states(two)).toEqual(['active', 'self active']);
    const [a, b] = [await shown(one), await shown(two)];
    expect(a.find(({ self }) => self)!.id).toBe(b.find(({ self }) => !self)!.id);
    const status = (await one.call('read', 'sys/ha-status')).data as { nodes: { active_node: boolean; last_echo: string | null }[] };
    expect(status.nodes).toEqual([
      expect.objectContaining({ active_node: true, last_echo: null }),
      expect.objectContaining({ active_node: true, last_echo: expect.any(String) }),
    ]);
  });

  test('a sealed server is shown as sealed since then, and as active when it is unsealed again', async () => {
    const [one, two] = [await start(1), await start(2)];
    await two.core.seal();
    expect(await states(one)).toEqual(['sealed', 'self active']);
    await clock.advance('1h');
    const [sealed] = (await shown(one)).filter(({ self }) => !self);
    expect(Date.parse(sealed!.last_seen)).toBe(clock.millis() - 3_600_000);
    expect(await two.core.openAutomatically()).toBe(true);
    expect(await states(one)).toEqual(['active', 'self active']);
  });

  test('a server that died is lost, and forgotten after a day', async () => {
    const [one, two] = [await start(1), await start(2)];
    await pass('15s');
    two.driver.cut();
    ended.add(2);
    await pass('40s');
    expect(await states(one)).toEqual(['lost', 'self active']);
    await clock.advance('25h');
    await pass('10s');
    expect(await states(one)).toEqual(['self active']);
  });

  test('a server that was stopped is not listed', async () => {
    const [one, two] = [await start(1), await start(2)];
    await two.close();
    expect(await states(one)).toEqual(['self active']);
  });

  test('a server that starts again takes the place of the one that died there', async () => {
    const first = await start(1);
    await pass('15s');
    first.driver.cut();
    ended.add(1);
    await pass('40s');
    const second = await start(2);
    expect(await states(second)).toEqual(['self active']);
  });

  test('a reload for all of them reaches the others, and one for a server alone does not', async () => {
    const [one] = [await start(1), await start(2)];
    const reload = async (scope: string): Promise<number> =>
      (await one.call('update', 'sys/plugins/reload/backend', { data: { mounts: ['acc/'], scope } })).status;
    expect(await reload('')).toBe(200);
    await pass('1s');
    expect(closed).toEqual([1]);
    expect(await reload('global')).toBe(202);
    for (let turn = 0; turn < 200 && closed.length < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toEqual([1, 1, 2]);
  });

  test('the list is for those whose policies say so', async () => {
    const one = await start(1);
    const made = await one.call('update', 'auth/token/create', { data: { policies: ['default'] } });
    expect((await one.call('read', 'sys/nodes', { token: made.auth!.client_token })).status).toBe(403);
  });
});

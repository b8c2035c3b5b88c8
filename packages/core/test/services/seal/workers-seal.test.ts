import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createCore, type Core, type Siblings } from '@strongroom/core';
import { manualClock, sharedMemory } from '@strongroom/engine-testkit';
import type { StorageDriver } from '@strongroom/storage-sdk';

/** Processes of one server in this one: what one asks, the others answer in the next round of the event loop. */
class Server {
  readonly #responders = new Map<number, Map<string, (message: never) => unknown>>();
  readonly #turns = new Map<string, Promise<unknown>>();

  process(number: number, configured: number): Siblings {
    const own = new Map<string, (message: never) => unknown>();
    this.#responders.set(number, own);
    const others = () => [...this.#responders].filter(([other]) => other !== number).map(([, responders]) => responders);
    const first = (): boolean => Math.min(...this.#responders.keys()) === number;
    const running = (): number => this.#responders.size;
    return {
      ...{ server: 'server', number, configured },
      get running() {
        return running();
      },
      get first() {
        return first();
      },
      ask: async <A>(topic: string, message?: unknown) => {
        await new Promise((resolve) => setImmediate(resolve));
        const asked = others().flatMap((responders) => responders.get(topic) ?? []);
        const answers = await Promise.allSettled(asked.map(async (respond) => respond(structuredClone(message) as never)));
        return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [structuredClone(answer.value) as A] : []));
      },
      answer: (topic, respond) => void own.set(topic, respond),
      inTurn: (name, work) => {
        const turn = (this.#turns.get(name) ?? Promise.resolve()).then(work, work);
        this.#turns.set(name, turn);
        return turn;
      },
    };
  }

  ended(number: number): void {
    this.#responders.delete(number);
  }
}

describe('the processes of one server', () => {
  let store: ReturnType<typeof sharedMemory>;
  let server: Server;
  const open: Core[] = [];
  beforeEach(() => {
    store = sharedMemory();
    server = new Server();
  });
  afterEach(async () => {
    for (const core of open.splice(0)) await core.close();
  });
  const start = async (number: number, more: object = {}): Promise<Core> => {
    const core = await createCore({ storage: store.open(), siblings: server.process(number, 3), clock: manualClock(), ...more });
    open.push(core);
    return core;
  };
  const call = async (
    core: Core,
    operation: 'read' | 'update' | 'delete',
    path: string,
    token = '',
    data: Record<string, unknown> = {},
  ) => {
    const {
      status,
      data: answered,
      raw,
      errors,
    } = await core.handle({
      ...{ operation, path, token, data },
      tokenless: ['rekey', 'generate-root'],
    });
    return { status, errors, data: (raw ? JSON.parse(String(raw.body)) : answered) as Record<string, unknown> };
  };
  const init = async (core: Core, shares = 3) => {
    const { data } = await call(core, 'update', 'sys/init', '', { secret_shares: shares, secret_threshold: Math.min(2, shares) });
    return { keys: data['keys_base64'] as string[], token: data['root_token'] as string };
  };

  test('take shares in turn, whichever is given them, and open together', async () => {
    const [one, two, three] = [await start(1), await start(2), await start(3)];
    const { keys } = await init(one);
    const first = await call(two, 'update', 'sys/unseal', '', { key: keys[0] });
    expect(first.data).toMatchObject({ sealed: true, progress: 1 });
    for (const core of [one, two, three])
      expect((await call(core, 'read', 'sys/seal-status')).data).toMatchObject({ progress: 1, nonce: first.data['nonce'] });
    expect((await call(three, 'update', 'sys/unseal', '', { key: keys[0] })).data).toMatchObject({ progress: 1 });
    expect((await call(three, 'update', 'sys/unseal', '', { reset: true })).data).toMatchObject({ progress: 0 });
    expect((await call(one, 'read', 'sys/seal-status')).data).toMatchObject({ progress: 0, nonce: '' });
    await call(one, 'update', 'sys/unseal', '', { key: keys[2] });
    expect((await call(two, 'update', 'sys/unseal', '', { key: keys[1] })).data).toMatchObject({ sealed: false });
    expect([one, two, three].map(({ sealed }) => sealed)).toEqual([false, false, false]);
  });

  test('drop wrong shares together', async () => {
    const [one, two] = [await start(1), await start(2)];
    const { keys } = await init(one);
    await call(one, 'update', 'sys/unseal', '', { key: keys[0] });
    const wrong = Buffer.from(keys[1]!, 'base64');
    wrong[3]! ^= 1;
    expect((await call(two, 'update', 'sys/unseal', '', { key: wrong.toString('base64') })).status).toBe(400);
    for (const core of [one, two]) expect((await call(core, 'read', 'sys/seal-status')).data).toMatchObject({ sealed: true, progress: 0 });
  });

  test('are sealed together, and open again with the shares given to another', async () => {
    const [one, two] = [await start(1), await start(2)];
    const { keys, token } = await init(one, 1);
    await call(one, 'update', 'sys/unseal', '', { key: keys[0] });
    expect((await call(two, 'update', 'sys/seal', token)).status).toBe(204);
    expect([one.sealed, two.sealed]).toEqual([true, true]);
    await call(one, 'update', 'sys/unseal', '', { key: keys[0] });
    expect([one.sealed, two.sealed]).toEqual([false, false]);
  });

  test('open one that is started later with their key, also after the shares were replaced', async () => {
    const [one, two] = [await start(1), await start(2)];
    const { keys, token } = await init(one, 1);
    await call(one, 'update', 'sys/unseal', '', { key: keys[0] });
    const begun = await call(one, 'update', 'sys/rekey/init', token, { secret_shares: 1, secret_threshold: 1 });
    const done = await call(two, 'update', 'sys/rekey/update', token, { nonce: begun.data['nonce'], key: keys[0] });
    expect(done.data).toMatchObject({ complete: true });
    server.ended(2);
    await two.close();
    open.splice(open.indexOf(two), 1);
    expect((await start(2)).sealed).toBe(false);
    expect((await call(one, 'update', 'sys/rotate/root', token)).status).toBeLessThan(300);
  });

  test('tell one that is started later of the shares given so far, and that an operator has sealed them', async () => {
    const one = await start(1);
    const { keys } = await init(one);
    await call(one, 'update', 'sys/unseal', '', { key: keys[0] });
    const two = await start(2);
    expect((await call(two, 'update', 'sys/unseal', '', { key: keys[1] })).data).toMatchObject({ sealed: false });
    expect(one.sealed).toBe(false);
  });

  test('leave a generation of a root token under way when another one joins', async () => {
    const one = await start(1);
    const { keys, token } = await init(one, 1);
    await call(one, 'update', 'sys/unseal', '', { key: keys[0] });
    const begun = await call(one, 'update', 'sys/generate-root/attempt', token);
    expect(begun.status).toBe(200);
    const two = await start(2);
    expect((await call(two, 'read', 'sys/generate-root/attempt', token)).data).toMatchObject({ started: true, nonce: begun.data['nonce'] });
    const made = await call(two, 'update', 'sys/generate-root/update', token, { nonce: begun.data['nonce'], key: keys[0] });
    expect(made.data).toMatchObject({ complete: true });
  });

  test('are one server of so many workers, in sys/nodes, sys/ha-status and sys/health', async () => {
    const one = await start(1);
    const { keys, token } = await init(one, 1);
    await call(one, 'update', 'sys/unseal', '', { key: keys[0] });
    expect((await call(one, 'read', 'sys/health')).data['warnings']).toEqual([
      '2 of 3 workers are not serving: they are starting or about to be restarted',
    ]);
    const two = await start(2);
    for (const core of [one, two]) {
      expect((await call(core, 'read', 'sys/nodes', token)).data).toMatchObject({
        nodes: [{ id: 'server', self: true, state: 'active', workers: 2 }],
      });
      expect((await call(core, 'read', 'sys/ha-status', token)).data['nodes']).toHaveLength(1);
      const health = await call(core, 'read', 'sys/health');
      expect(health).toMatchObject({
        status: 200,
        data: {
          workers: { running: 2, configured: 3 },
          warnings: ['1 of 3 workers is not serving: it is starting or about to be restarted'],
        },
      });
      expect((await call(core, 'read', 'sys/seal-status')).data).toMatchObject({ workers: { running: 2, configured: 3 } });
    }
  });

  test('have one level for each logger, and a later one takes it up', async () => {
    const levels = () => {
      const set = new Map<string, string>([['core', 'info']]);
      return {
        list: () => set as never,
        set: (level: string, name = 'core') => void set.set(name, level),
        reset: (name = 'core') => void set.set(name, 'info'),
      };
    };
    const [first, second, third] = [levels(), levels(), levels()];
    const one = await start(1, { logLevels: first });
    await start(2, { logLevels: second });
    const { keys, token } = await init(one, 1);
    await call(one, 'update', 'sys/unseal', '', { key: keys[0] });
    await call(one, 'update', 'sys/loggers/core', token, { level: 'debug' });
    expect([...second.list()]).toEqual([['core', 'debug']]);
    await start(3, { logLevels: third });
    expect([...third.list()]).toEqual([['core', 'debug']]);
    await call(one, 'delete', 'sys/loggers', token);
    for (const each of [first, second, third]) expect([...each.list()]).toEqual([['core', 'info']]);
  });

  test('show the calls of all in sys/in-flight-req', async () => {
    const [one, two] = [await start(1), await start(2)];
    const { keys, token } = await init(one, 1);
    await call(one, 'update', 'sys/unseal', '', { key: keys[0] });
    const calls = await Promise.all([one, two].map(async (core) => call(core, 'read', 'sys/in-flight-req', token)));
    expect(calls.map(({ data }) => Object.keys(data).length)).toContain(2);
  });

  test('all reload a plugin, and each knows how that went', async () => {
    const [one, two] = [await start(1), await start(2)];
    const { keys, token } = await init(one, 1);
    await call(one, 'update', 'sys/unseal', '', { key: keys[0] });
    const { data } = await call(one, 'update', 'sys/plugins/reload/backend', token, { mounts: ['cubbyhole'] });
    const outcome = await call(two, 'read', 'sys/plugins/reload/backend/status', token, { reload_id: data['reload_id'] });
    expect(outcome).toMatchObject({ status: 200, data: { reload_id: data['reload_id'] } });
  });

  test('apply a change before the one that made it answers, although the store has not told them yet', async () => {
    const late = (): StorageDriver => Object.assign(store.open(), { changes: () => () => undefined });
    const [one, two] = [await start(1, { storage: late() }), await start(2, { storage: late() })];
    const { keys, token } = await init(one, 1);
    await call(one, 'update', 'sys/unseal', '', { key: keys[0] });
    await call(one, 'update', 'sys/policies/acl/writer', token, { policy: 'path "cubbyhole/*" { capabilities = ["update", "create"] }' });
    const made = await one.handle({
      operation: 'update',
      path: 'auth/token/create',
      token,
      data: { policies: ['writer'], no_default_policy: true },
    });
    const writer = made.auth!.client_token;
    expect((await call(two, 'update', 'cubbyhole/a', writer, { a: 1 })).status).toBe(204);
    expect((await call(one, 'delete', 'sys/policies/acl/writer', token)).status).toBe(204);
    expect((await call(two, 'update', 'cubbyhole/a', writer, { a: 1 })).status).toBe(403);
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { FailingThing } from '@strongroom/engine-sdk';
import { manualClock, mountForTest, type ManualClock, type TestMount } from '@strongroom/engine-testkit';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import { Outside, testEngine } from '../../test-engine.ts';

interface Item {
  id: string;
  kind: string;
  mount: string | null;
  target: string;
  severity: string;
  since: string | null;
  message: string;
  attempts: number;
  count: number;
  cause: { system: { target: string; name: string; path?: string }; circuit: { state: string; failures: number } } | null;
  things: { noun: string; name: string; path: string; job: string | null; retry: string | null }[];
}
interface Answer {
  items: Item[];
  total: number;
  counts: Record<string, number>;
  types: Record<string, number>;
  complete: boolean;
}

describe('what needs a person', () => {
  let outside: Outside;
  let clock: ManualClock;
  let hooks: NonNullable<Parameters<typeof testEngine>[1]>;
  let mount: TestMount;

  const look = async (data: Record<string, unknown> = {}, token?: string): Promise<Answer> => {
    const answer = await mount.call('read', 'sys/internal/ui/attention', { data, ...(token === undefined ? {} : { token }) });
    expect([answer.status, answer.errors]).toEqual([200, undefined]);
    return answer.data as unknown as Answer;
  };
  const items = async (kind: string, token?: string): Promise<Item[]> => (await look({ kind }, token)).items;
  const tokenWith = async (policy: string): Promise<string> => {
    const name = `p${Buffer.from(policy).toString('hex').slice(-12)}`;
    await mount.call('update', `sys/policies/acl/${name}`, { data: { policy } });
    return (await mount.call('update', 'auth/token/create', { data: { policies: [name], ttl: '1h' } })).auth!.client_token;
  };
  const failingTicks = async (names: readonly string[], system = 'one'): Promise<void> => {
    outside.failing.add(system);
    for (const name of names) await mount.write(`ticks/${name}`, { system, after: '1s' });
    await mount.advance('2s');
  };

  beforeEach(async () => {
    outside = new Outside();
    clock = manualClock();
    hooks = {};
    mount = await mountForTest(testEngine(outside, hooks), { path: 'acc', clock });
    await mount.write('roles/r', { ttl: '1h' });
  });
  afterEach(async () => mount.close());

  test('is nothing but the root token that never ends, where all is well', async () => {
    const { items: all, total, counts, complete } = await look();
    expect(all).toMatchObject([{ kind: 'token', severity: 'warning', things: [{ noun: 'root token', name: 'root' }] }]);
    expect({ total, counts, complete }).toEqual({ total: 1, counts: { token: 1 }, complete: true });
  });

  test('names a job that fails as its engine does, with the sentence, and since when', async () => {
    await failingTicks(['a']);
    const [item, ...others] = await items('job');
    expect(others).toEqual([]);
    expect(item).toMatchObject({
      mount: 'acc/',
      mount_type: 'test',
      target: 'clock a',
      severity: 'warning',
      message: 'one is down',
      count: 1,
      cause: { system: { target: 'one', name: 'system one', path: 'acc/systems/one' }, circuit: { state: 'closed' } },
      things: [{ noun: 'clock', name: 'a', path: 'acc/ticks/a', retry: 'acc/asked/a', message: 'one is down' }],
    });
    await mount.advance('1m');
    const [later] = await items('job');
    expect([later!.id, later!.since]).toEqual([item!.id, item!.since]);
    expect(later!.attempts).toBeGreaterThan(item!.attempts);
    outside.failing.clear();
    await mount.advance('1h');
    expect(await items('job')).toEqual([]);
  });

  test('is one row for one system that does not answer, and another for another', async () => {
    await failingTicks(Array.from({ length: 40 }, (_, i) => `a${i}`));
    await failingTicks(['b'], 'two');
    const found = (await look()).items.filter(({ mount: at }) => at === 'acc/');
    expect(found.map(({ target, count, things }) => [target, count > 39, things.length])).toEqual([
      ['system one', true, 3],
      ['clock b', false, 1],
    ]);
    expect(found[0]!.cause).toMatchObject({ circuit: { state: 'open' } });
    expect((await look({ limit: 1 })).types).toEqual({ test: 2 });
    const whole = await mount.call('read', `sys/internal/ui/attention/${found[0]!.id}`);
    expect((whole.data as unknown as Item).things.length).toBe(found[0]!.count);
    expect((await mount.call('read', 'sys/internal/ui/attention/nothing')).status).toBe(404);
  });

  test('has what engines know beside their jobs, and survives an engine that fails to say', async () => {
    hooks.failing = async (): Promise<FailingThing[]> => [
      { noun: 'door', name: 'front', path: 'doors/front', message: 'it sticks', since: clock.now(), target: 'house' },
    ];
    expect(await items('job')).toMatchObject([{ target: 'door front', message: 'it sticks', things: [{ path: 'acc/doors/front' }] }]);
    hooks.failing = async () => {
      throw new Error('no');
    };
    const { complete, items: left } = await look({ kind: 'job' });
    expect([complete, left]).toEqual([false, []]);
  });

  test('has leases that cannot be revoked before all else, and changes that cannot be undone', async () => {
    const lease = (await mount.read('creds/r')).leaseId!;
    hooks.afterCreate = async () => {
      throw new Error('lost');
    };
    await mount.call('update', 'acc/accounts/half');
    outside.failing.add('one');
    await mount.advance('3h');
    const found = (await look()).items;
    expect(found[0]).toMatchObject({ kind: 'lease', severity: 'critical', mount: 'acc/' });
    expect(found[0]!.things.map(({ name }) => name)).toContain(lease);
    expect(found.flatMap(({ things }) => things).map(({ name }) => name)).toContain('half');
  });

  test('shows to each caller only what the policies allow, in rows, counts and examples', async () => {
    await failingTicks(['a', 'b']);
    const none = await tokenWith('path "acc/roles/*" { capabilities = ["read"] }');
    expect(await look({}, none)).toMatchObject({ items: [], total: 0, counts: {} });
    const one = await tokenWith('path "acc/ticks/a" { capabilities = ["read"] }');
    expect(await items('job', one)).toMatchObject([{ count: 1, things: [{ name: 'a' }] }]);
    const all = await tokenWith('path "acc/failing" { capabilities = ["read"] }');
    expect(await items('job', all)).toMatchObject([{ count: 2 }]);
    const withoutSudo = await tokenWith('path "sys/schedule" { capabilities = ["read"] }');
    expect(await items('job', withoutSudo)).toEqual([]);
    const schedule = await tokenWith('path "sys/schedule" { capabilities = ["read", "sudo"] }');
    expect(await items('job', schedule)).toMatchObject([{ count: 2 }]);
    expect((await mount.call('read', 'sys/internal/ui/attention', { token: 'no-token' })).status).toBe(403);
    expect((await mount.call('read', 'sys/internal/ui/attention', { token: '' })).status).toBe(403);
  });

  test('counts failures at an outside system as far as the caller may see what failed', async () => {
    await failingTicks(['a', 'b', 'c']);
    const failures = async (policy: string) => {
      const token = await tokenWith(policy);
      const { data } = await mount.call('read', 'sys/internal/ui/job', { data: { mount: 'acc', kind: 'tick', id: 'a' }, token });
      const [item] = await items('job', token);
      return [item!.cause!.circuit.failures, (data as { circuit: { failures: number } }).circuit.failures];
    };
    expect(await failures('path "acc/failing" { capabilities = ["read"] }')).toEqual([3, 3]);
    expect(await failures('path "acc/ticks/a" { capabilities = ["read"] }')).toEqual([1, 1]);
  });

  test('tells how one job stands, with its tries and its circuit breaker, to those who may read the thing', async () => {
    await failingTicks(['a']);
    const data = { mount: 'acc', kind: 'tick', id: 'a' };
    const ask = async (token: string | undefined, asked: object = data) =>
      mount.call('read', 'sys/internal/ui/job', { data: { ...asked }, ...(token === undefined ? {} : { token }) });
    expect((await ask(undefined)).data).toMatchObject({
      name: 'a',
      retry: 'acc/asked/a',
      mount_type: 'test',
      tries: [{ message: 'one is down' }],
      circuit: { state: 'closed', failures: 1 },
    });
    const one = await tokenWith('path "acc/ticks/a" { capabilities = ["read"] }');
    expect((await ask(one)).status).toBe(200);
    const other = await tokenWith('path "acc/ticks/b" { capabilities = ["read"] }');
    const refused = await ask(other);
    const missing = await ask(other, { ...data, id: 'none' });
    expect([refused.status, refused.errors]).toEqual([missing.status, missing.errors]);
    expect(refused.status).toBe(404);
    expect((await ask(undefined, { ...data, mount: 'nowhere' })).status).toBe(404);
    expect((await ask(undefined, { mount: 'acc', kind: 'tick' })).status).toBe(400);
  });

  test('is a page at a time, and refuses a kind or a cursor that it does not know', async () => {
    await failingTicks(['a']);
    await failingTicks(['b'], 'two');
    const { items: all } = await look();
    const first = await look({ limit: 1 });
    expect(first).toMatchObject({ items: [all[0]], total: all.length });
    expect((await look({ after: all[0]!.id, limit: 1 })).items).toEqual([all[1]]);
    expect((await look({ after: all.at(-1)!.id })).items).toEqual([]);
    for (const data of [{ kind: 'weather' }, { after: 'gone' }])
      expect((await mount.call('read', 'sys/internal/ui/attention', { data })).status).toBe(400);
    expect((await look({ mount: 'acc' })).total).toBe(2);
    expect((await look({ mount: 'nowhere/' })).total).toBe(0);
  });

  test('has lasting tokens that end soon, and no others', async () => {
    await mount.call('update', 'auth/token/create', { data: { ttl: '8d', display_name: 'nightly' } });
    await mount.call('update', 'auth/token/create', { data: { ttl: '2d', display_name: 'short' } });
    expect((await items('token')).map(({ target }) => target)).toEqual(['root token root']);
    await mount.advance('6d');
    const found = await items('token');
    expect(found.map(({ target }) => target)).toContain('root token token-nightly');
    expect(found).toHaveLength(2);
  });

  test('has root tokens that an earlier version made, once a round of housekeeping has found them', async () => {
    const storage = memoryStorage();
    const before = await mountForTest(testEngine(outside, hooks), { path: 'acc', clock, storage });
    await before.call('update', 'auth/token/create', { data: { ttl: '1h' } });
    const index = await storage.range({ prefix: 'watched-token/' });
    await storage.commit({ delete: index.map(({ key }) => key) });
    const ask = async () => ((await before.call('read', 'sys/internal/ui/attention')).data as unknown as Answer).items;
    expect(await ask()).toEqual([]);
    await before.advance('1m');
    expect(await ask()).toMatchObject([{ kind: 'token', target: 'root token root' }]);
    expect(await storage.range({ prefix: 'watched-token/' })).toHaveLength(1);
    await before.close();
  });

  test('reads as much in a store with many jobs, leases and tokens as in one with few', async () => {
    const memory = memoryStorage();
    let read = 0;
    const storage: StorageDriver = {
      ...memory,
      name: memory.name,
      shared: memory.shared,
      get: async (key) => {
        read += 1;
        return memory.get(key);
      },
      range: async (query) => {
        const found = await memory.range(query);
        read += 1 + found.length;
        return found;
      },
      commit: async (change) => memory.commit(change),
      changes: (listener) => memory.changes(listener),
      staleness: () => memory.staleness(),
      close: async () => memory.close(),
    };
    const server = await mountForTest(testEngine(outside, hooks), { path: 'acc', clock, storage });
    const cost = async (): Promise<number> => {
      await server.call('read', 'sys/internal/ui/attention');
      read = 0;
      await server.call('read', 'sys/internal/ui/attention');
      return read;
    };
    await server.write('roles/r', { ttl: '1h' });
    const few = await cost();
    for (let i = 0; i < 100; i += 1) {
      await server.read('creds/r');
      await server.write(`ticks/${i}`, { system: 'one', after: '1h' });
      await server.call('update', 'auth/token/create', { data: { ttl: '1h' } });
    }
    expect(await cost()).toBe(few);
    await server.close();
  });
});

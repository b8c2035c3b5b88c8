import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  manualClock,
  mountForTest,
  sharedMemory,
  type CuttableStorage,
  type ManualClock,
  type TestMount,
} from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import { passwordLogin } from '../../password-login.ts';
import { Outside, testEngine } from '../../test-engine.ts';
import { StreamReader } from './stream-reader.ts';

describe('events', () => {
  let outside: Outside;
  let clock: ManualClock;
  let beats: ManualClock;
  let store: ReturnType<typeof sharedMemory>;
  let ended: Set<number>;
  let one: TestMount & { driver: CuttableStorage };
  const open: TestMount[] = [];
  const readers: StreamReader[] = [];

  const start = async (pid: number): Promise<TestMount & { driver: CuttableStorage }> => {
    const driver = store.open();
    const processes = {
      own: () => ({ boot: 'm', namespace: 'n', pid, started: '1' }),
      exists: (facts: { pid: number }) => !ended.has(facts.pid),
    };
    const server = await mountForTest(testEngine(outside), {
      ...{ storage: driver, path: 'acc', clock, plugins: [kvEngine, passwordLogin('people')] },
      liveness: { clock: beats, processes },
    });
    open.push(server);
    return { ...server, driver };
  };

  beforeEach(async () => {
    outside = new Outside();
    clock = manualClock();
    beats = manualClock();
    store = sharedMemory();
    ended = new Set();
    one = await start(1);
    await one.call('update', 'sys/mounts/secret', { data: { type: 'kv', options: { version: '2' } } });
    await one.write('roles/r', { system: 'one', ttl: '1h', max_ttl: '2h' });
  });
  afterEach(async () => {
    for (const reader of readers.splice(0)) reader.leave();
    for (const server of open.splice(0)) await server.close();
  });

  const follow = async (
    server: TestMount,
    { cursor, token, ...data }: { cursor?: string; token?: string; kinds?: string; mount?: string; prefix?: string } = {},
  ): Promise<StreamReader> => {
    const answer = await server.core.handle({
      ...{ operation: 'read', path: 'sys/events', remoteAddress: '127.0.0.1', token: token ?? server.rootToken, data },
      ...(cursor === undefined ? {} : { headers: { 'last-event-id': cursor } }),
    });
    const reader = new StreamReader(answer);
    readers.push(reader);
    expect((await reader.next()).event).toBe('ready');
    return reader;
  };
  const kinds = async (reader: StreamReader): Promise<string[]> => (await reader.all()).map(({ event }) => event);
  const put = async (server: TestMount, name: string, value = 'hidden'): Promise<unknown> =>
    server.call('update', `secret/data/${name}`, { data: { data: { value } } });
  const tokenWith = async (policy: string, name = 'p'): Promise<string> => {
    await one.call('update', `sys/policies/acl/${name}`, { data: { policy } });
    return (await one.call('update', 'auth/token/create', { data: { policies: [name] } })).auth!.client_token;
  };
  const FOLLOW = 'path "sys/events" { capabilities = ["read"] }\n';

  test('say what was written, by name and version, and never the value', async () => {
    const reader = await follow(one);
    const answer = await one.call('update', 'secret/data/shop/db', { data: { data: { password: 'hunter2' } } });
    const received = await reader.next();
    expect(received).toMatchObject({
      event: 'secret.written',
      data: {
        kind: 'secret.written',
        mount: 'secret/',
        type: 'kv',
        path: 'secret/data/shop/db',
        name: 'shop/db',
        version: 1,
        time: clock.now().toISOString(),
        request_id: answer.requestId,
      },
    });
    expect(JSON.stringify(received)).not.toContain('hunter2');
    await one.call('delete', 'secret/data/shop/db');
    await one.call('update', 'secret/undelete/shop/db', { data: { versions: [1] } });
    await one.call('delete', 'secret/metadata/shop/db');
    await one.call('delete', 'secret/metadata/shop/db');
    expect((await reader.all()).map(({ event, data }) => [event, data['version']])).toEqual([
      ['secret.deleted', 1],
      ['secret.written', 1],
      ['secret.deleted', undefined],
    ]);
  });

  test('of version 1 of key-value too', async () => {
    await one.call('update', 'sys/mounts/plain', { data: { type: 'kv' } });
    const reader = await follow(one);
    await one.call('update', 'plain/a', { data: { value: 'x' } });
    await one.call('delete', 'plain/a');
    await one.call('delete', 'plain/a');
    expect((await reader.all()).map(({ event, data }) => [event, data['path']])).toEqual([
      ['secret.written', 'plain/a'],
      ['secret.deleted', 'plain/a'],
    ]);
  });

  test('say nothing of a write that was refused', async () => {
    await put(one, 'a');
    const reader = await follow(one);
    await one.call('update', 'secret/data/a', { data: { data: { v: 1 }, options: { cas: 7 } } });
    await one.call('update', 'secret/data/', { data: { data: {} } });
    expect(await kinds(reader)).toEqual([]);
  });

  test('follow a lease from its issue to its end, with what keeps it from ending', async () => {
    const reader = await follow(one);
    const { leaseId, requestId } = await one.read('creds/r');
    const renewed = await one.call('update', 'sys/leases/renew', { data: { lease_id: leaseId } });
    outside.failing.add('one');
    const refused = await one.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
    outside.failing.clear();
    await one.advance('10m');
    const received = await reader.all();
    expect(received.map(({ event }) => event)).toEqual(['lease.issued', 'lease.renewed', 'lease.failing', 'lease.revoked']);
    expect(received[0]!.data).toMatchObject({ lease_id: leaseId, name: 'acc/creds/r', mount: 'acc/', request_id: requestId });
    expect(received[2]!.data).toMatchObject({ count: 1 });
    // No request asked for what the schedule did in the end.
    expect(received.slice(1).map(({ data }) => data['request_id'])).toEqual([renewed.requestId, refused.requestId, undefined]);
    const { leaseId: other } = await one.read('creds/r');
    const revoked = await one.call('update', 'sys/leases/revoke', { data: { lease_id: other, sync: true } });
    expect((await reader.all()).at(-1)).toMatchObject({ event: 'lease.revoked', data: { request_id: revoked.requestId } });
  });

  test('say when a lease is given up for the day, and when a circuit breaker opens and closes', async () => {
    const reader = await follow(one);
    const { leaseId } = await one.read('creds/r');
    outside.failing.add('one');
    await one.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId } });
    for (let round = 0; round < 12; round += 1) await one.advance('10m');
    const seen = await kinds(reader);
    expect(seen.filter((kind) => kind === 'lease.irrevocable')).toHaveLength(1);
    expect(seen).toContain('circuit.opened');
    outside.failing.clear();
    await one.call('update', 'sys/leases/requeue', { data: { lease_id: leaseId } });
    await one.advance('1m');
    expect(await kinds(reader)).toEqual(expect.arrayContaining(['circuit.closed', 'lease.revoked']));
  });

  test('say what operators change: mounts and policies', async () => {
    const reader = await follow(one);
    const asked: (string | undefined)[] = [
      (await one.call('update', 'sys/mounts/m', { data: { type: 'kv' } })).requestId,
      (await one.call('update', 'sys/mounts/m/tune', { data: { description: 'x' } })).requestId,
      (await one.call('update', 'sys/remount', { data: { from: 'm', to: 'n' } })).requestId,
    ];
    await one.advance('1s');
    await one.call('delete', 'sys/mounts/n');
    asked.push(undefined);
    asked.push((await one.call('update', 'sys/policies/acl/Dev', { data: { policy: FOLLOW } })).requestId);
    asked.push((await one.call('delete', 'sys/policies/acl/dev')).requestId);
    const received = await reader.all();
    expect(received.map(({ event, data }) => [event, data['name']])).toEqual([
      ['mount.enabled', 'm/'],
      ['mount.tuned', 'm/'],
      ['mount.moved', 'n/'],
      ['mount.disabled', 'n/'],
      ['policy.written', 'dev'],
      ['policy.deleted', 'dev'],
    ]);
    expect(received.map(({ data }) => data['request_id'])).toEqual(asked);
  });

  test('are those that the policies of the caller let it read, at that moment', async () => {
    const token = await tokenWith(`${FOLLOW}path "secret/data/shop/*" { capabilities = ["read"] }`);
    const reader = await follow(one, { token });
    await put(one, 'pay/key');
    await put(one, 'shop/db');
    await one.read('creds/r');
    await one.call('update', 'sys/policies/acl/q', { data: { policy: FOLLOW } });
    expect((await reader.all()).map(({ data }) => data['path'])).toEqual(['secret/data/shop/db']);
    await one.call('update', 'sys/policies/acl/p', { data: { policy: `${FOLLOW}path "secret/data/pay/*" { capabilities = ["read"] }` } });
    await put(one, 'pay/key');
    await put(one, 'shop/db');
    expect((await reader.all()).map(({ data }) => data['path'])).toEqual(['secret/data/pay/key']);
  });

  test('show a secret to whoever may read its metadata alone, under that path', async () => {
    const token = await tokenWith(`${FOLLOW}path "secret/metadata/*" { capabilities = ["read", "list"] }`);
    const reader = await follow(one, { token });
    await put(one, 'a');
    expect((await reader.next()).data['path']).toBe('secret/metadata/a');
  });

  test('show a caller its own leases, and those of others only to who may list them', async () => {
    const token = await tokenWith(`${FOLLOW}path "acc/creds/r" { capabilities = ["read"] }`);
    const reader = await follow(one, { token });
    await one.read('creds/r');
    expect(await kinds(reader)).toEqual([]);
    const own = await one.call('read', 'acc/creds/r', { token });
    expect((await reader.next()).data).toMatchObject({ kind: 'lease.issued', lease_id: own.leaseId });
    const lister = await tokenWith(`${FOLLOW}path "sys/leases/lookup/acc/*" { capabilities = ["list", "sudo"] }`, 'l');
    const other = await follow(one, { token: lister });
    const third = await one.read('creds/r');
    expect((await other.next()).data['lease_id']).toBe(third.leaseId);
  });

  test('can be narrowed by kind, mount and prefix', async () => {
    const [kind, group, mount, prefix] = [
      await follow(one, { kinds: 'secret.deleted' }),
      await follow(one, { kinds: 'lease,policy' }),
      await follow(one, { mount: 'acc' }),
      await follow(one, { prefix: 'secret/data/shop/' }),
    ];
    await put(one, 'shop/a');
    await put(one, 'pay/a');
    await one.call('delete', 'secret/data/pay/a');
    await one.read('creds/r');
    expect(await kinds(kind)).toEqual(['secret.deleted']);
    expect(await kinds(group)).toEqual(['lease.issued']);
    expect(await kinds(mount)).toEqual(['lease.issued']);
    expect(await kinds(prefix)).toEqual(['secret.written']);
    const wrong = await one.call('read', 'sys/events', { data: { kinds: 'Secret written' } });
    expect(wrong).toMatchObject({ status: 400, errors: [expect.stringMatching(/^kinds: "Secret written"/)] });
  });

  test('continue behind the last one that a client has', async () => {
    const first = await follow(one);
    await put(one, 'a');
    const { id } = await first.next();
    first.leave();
    await put(one, 'b');
    await put(one, 'c');
    const second = await follow(one, { cursor: id! });
    await put(one, 'd');
    expect((await second.all()).map(({ data }) => data['name'])).toEqual(['b', 'c', 'd']);
  });

  test('have positions that count nothing for those who see few of them', async () => {
    const token = await tokenWith(`${FOLLOW}path "secret/data/shop/*" { capabilities = ["read"] }`);
    const reader = await follow(one, { token });
    await put(one, 'shop/a');
    const first = (await reader.next()).id!;
    for (let i = 0; i < 5; i += 1) await put(one, `pay/${i}`);
    await put(one, 'shop/b');
    const second = (await reader.next()).id!;
    expect([first, second].every((id) => /^[\w-]+$/.test(id) && id.length === first.length)).toBe(true);
    expect(Buffer.from(first, 'base64url').toString('latin1')).not.toMatch(/\.\d+$/);
    const again = await follow(one, { token, cursor: first });
    expect((await again.next()).data).toMatchObject({ name: 'shop/b' });
  });

  test.each(['', 'nonsense', 'abc.5', '../../x.1'])('say that some may be missing for the cursor %j', async (cursor) => {
    await put(one, 'a');
    const reader = await follow(one, { cursor });
    expect((await reader.next()).event).toBe('reset');
    await put(one, 'b');
    expect((await reader.next()).data['name']).toBe('b');
  });

  test('ping every fifteen seconds, with the place where a client can continue', async () => {
    const reader = await follow(one, { kinds: 'policy' });
    await put(one, 'a');
    await reader.all();
    const before = reader.lastId;
    for (let index = 0; index < 3; index += 1) {
      await clock.advance('5s');
      await reader.all();
    }
    expect(reader.comments).toEqual(['ping']);
    expect(reader.lastId).not.toBe(before);
  });

  test('end with the token, and say so', async () => {
    const token = await tokenWith(FOLLOW);
    const reader = await follow(one, { token });
    await one.call('update', 'auth/token/revoke', { data: { token } });
    await clock.advance('5s');
    expect(await reader.next()).toMatchObject({ event: 'end', data: { reason: 'the token has ended' } });
    await reader.all();
    expect(reader.ended).toBe(true);
  });

  test('end when the ttl of the token does', async () => {
    await one.call('update', 'sys/policies/acl/p', { data: { policy: FOLLOW } });
    const token = (await one.call('update', 'auth/token/create', { data: { policies: ['p'], ttl: '1m' } })).auth!.client_token;
    const reader = await follow(one, { token });
    for (let index = 0; index < 13; index += 1) {
      await clock.advance('5s');
      await reader.all();
    }
    expect(reader.ended).toBe(true);
  });

  test('end when the policies take the path away', async () => {
    const token = await tokenWith(FOLLOW);
    const reader = await follow(one, { token });
    await one.call('update', 'sys/policies/acl/p', { data: { policy: 'path "secret/*" { capabilities = ["read"] }' } });
    expect(await reader.next()).toMatchObject({ event: 'end', data: { reason: expect.stringContaining('sys/events') } });
  });

  test('are refused to a token whose policies do not name them, and to nobody in particular', async () => {
    const token = await tokenWith('path "secret/*" { capabilities = ["read"] }');
    expect((await one.call('read', 'sys/events', { token })).status).toBe(403);
    expect((await one.call('read', 'sys/events', { token: '' })).status).toBe(403);
  });

  test('come in at most four streams for a token', async () => {
    const streams = [await follow(one), await follow(one), await follow(one), await follow(one)];
    expect(await one.call('read', 'sys/events')).toMatchObject({ status: 429, errors: [expect.stringContaining('4 streams')] });
    streams[0]!.leave();
    await streams[0]!.all();
    await follow(one);
  });

  test('end at a seal', async () => {
    const reader = await follow(one);
    await one.core.seal();
    expect(await reader.next()).toMatchObject({ event: 'end', data: { reason: 'Vault is sealed' } });
    await reader.all();
    expect(reader.ended).toBe(true);
  });

  test('cannot be wrapped', async () => {
    expect(await one.call('read', 'sys/events', { wrapTtl: 60 })).toMatchObject({
      status: 400,
      errors: [expect.stringContaining('stream')],
    });
  });

  test('say once a minute that many logins on a mount are denied', async () => {
    await one.call('update', 'sys/auth/people', { data: { type: 'people' } });
    await one.call('update', 'auth/people/users/ada', { data: { password: 'lovelace' } });
    const token = await tokenWith(`${FOLLOW}path "sys/auth/people" { capabilities = ["read", "sudo"] }`);
    const reader = await follow(one, { token });
    for (let index = 0; index < 30; index += 1)
      await one.call('update', `auth/people/login/nobody${index}`, { data: { password: 'wrong' }, token: '' });
    expect(await reader.all()).toEqual([
      expect.objectContaining({ event: 'login.failures', data: expect.objectContaining({ mount: 'auth/people/', count: 20 }) }),
    ]);
  });

  describe('of several servers', () => {
    let two: TestMount & { driver: CuttableStorage };

    beforeEach(async () => {
      two = await start(2);
      await beats.advance('6s');
    });

    test('are seen at each of them', async () => {
      const [here, there] = [await follow(one, { kinds: 'secret' }), await follow(two, { kinds: 'secret' })];
      await put(one, 'a');
      await put(two, 'b');
      await beats.advance('1s');
      expect((await here.all()).map(({ data }) => data['name']).sort()).toEqual(['a', 'b']);
      expect((await there.all()).map(({ data }) => data['name']).sort()).toEqual(['a', 'b']);
    });

    test('reach the others after 50 ms, and after 250 ms from a server that has passed some on in the last second', async () => {
      const there = await follow(two, { kinds: 'secret' });
      const names = async (): Promise<unknown[]> => (await there.all()).map(({ data }) => data['name']);
      for (const [name, millis] of [
        ['a', 50],
        ['b', 250],
        ['c', 250],
      ] as const) {
        await put(one, name);
        await beats.advance(`${millis - 1}ms`);
        expect(await names()).toEqual([]);
        await beats.advance('1ms');
        expect(await names()).toEqual([name]);
      }
      await beats.advance('1s');
      await put(one, 'd');
      await beats.advance('50ms');
      expect(await names()).toEqual(['d']);
    });

    test('are passed on at once when there are many, however fast they come', async () => {
      const there = await follow(two, { kinds: 'secret' });
      for (let i = 0; i < 1_200; i += 1) await put(one, `n${i}`);
      const names = (await there.all()).map(({ event, data }) => data['name'] ?? event);
      expect(names.length).toBeGreaterThanOrEqual(900);
      expect(names).toEqual(Array.from(names, (_, at) => `n${at}`));
    });

    test('continue at another server, none twice and none left out', async () => {
      const here = await follow(one, { kinds: 'secret' });
      await put(one, 'a');
      await put(two, 'b');
      await beats.advance('1s');
      await here.all();
      const cursor = here.lastId;
      here.leave();
      await put(two, 'c');
      await put(one, 'd');
      await beats.advance('1s');
      const there = await follow(two, { kinds: 'secret', cursor });
      expect((await there.all()).map(({ event, data }) => data['name'] ?? event).sort()).toEqual(['c', 'd']);
    });

    test('continue after a server was restarted in an orderly way', async () => {
      const here = await follow(one, { kinds: 'secret' });
      await put(one, 'a');
      await here.all();
      const cursor = here.lastId;
      await put(one, 'b');
      await one.close();
      const again = await start(3);
      const reader = await follow(again, { kinds: 'secret', cursor });
      await put(again, 'c');
      expect((await reader.all()).map(({ event, data }) => data['name'] ?? event)).toEqual(['b', 'c']);
    });

    test('say that some may be missing when a server dies', async () => {
      const here = await follow(one, { kinds: 'secret' });
      await put(two, 'a');
      two.driver.cut();
      ended.add(2);
      await beats.advance('30s');
      expect((await here.all()).map(({ event }) => event)).toEqual(['reset']);
    });

    test('say that some may be missing when the store went back to an earlier state', async () => {
      const here = await follow(one, { kinds: 'secret' });
      one.driver.deafen();
      await put(two, 'a');
      await beats.advance('1s');
      one.driver.hear(true);
      // It ends until everything was read again.
      expect((await here.all()).map(({ event }) => event)).toEqual(['end']);
      const again = await follow(one, { kinds: 'secret', cursor: here.lastId });
      expect((await again.all()).map(({ event }) => event)).toContain('reset');
    });
  });
});

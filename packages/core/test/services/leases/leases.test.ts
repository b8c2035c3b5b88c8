import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, sharedMemory, type TestMount } from '@strongroom/engine-testkit';
import { Outside, testEngine } from '../../test-engine.ts';

describe('leases', () => {
  let outside: Outside;
  let mount: TestMount;
  let store: ReturnType<typeof sharedMemory>;

  beforeEach(async () => {
    outside = new Outside();
    store = sharedMemory();
    mount = await mountForTest(testEngine(outside), { storage: store.open(), path: 'acc' });
    await mount.write('roles/r', { ttl: '1h', max_ttl: '2h' });
    await mount.write('roles/other', { ttl: '1h', system: 'two' });
  });
  afterEach(async () => mount.close());

  const lookup = async (id: string) => mount.call('update', 'sys/leases/lookup', { data: { lease_id: id } });
  const irrevocable = async () =>
    (await mount.call('read', 'sys/leases', { data: { type: 'irrevocable' } })).data as {
      lease_count: number;
      leases: { lease_id: string; error: string }[];
    };

  test('a lease is filed below the canonical path of its call', async () => {
    expect((await mount.read('creds/r/')).leaseId).toMatch(/^acc\/creds\/r\/[A-Za-z0-9]{24}$/);
  });

  test('a lease ends on time, and its account with it', async () => {
    const { leaseId, leaseDuration, renewable } = await mount.read('creds/r');
    expect(leaseId).toMatch(/^acc\/creds\/r\/[A-Za-z0-9]{24}$/);
    expect({ leaseDuration, renewable }).toEqual({ leaseDuration: 3600, renewable: true });
    await mount.advance(3_599);
    expect(outside.users.size).toBe(1);
    await mount.advance(1);
    expect(outside.users.size).toBe(0);
    expect((await lookup(leaseId)).errors).toEqual(['invalid lease']);
  });

  test('a renewal extends the lease, and is capped at the maximum with a warning', async () => {
    const { leaseId } = await mount.read('creds/r');
    await mount.advance('50m');
    const renewed = await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId } });
    expect(renewed).toMatchObject({ leaseDuration: 3600, renewable: true, warnings: null, data: null });
    await mount.advance('30m');
    const capped = await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId, increment: '1h' } });
    expect(capped.leaseDuration).toBe(2_400);
    expect(capped.warnings).toEqual(['TTL of "1h" exceeded the effective max_ttl of "40m"; TTL value is capped accordingly']);
    await mount.advance('39m');
    expect(outside.users.size).toBe(1);
    await mount.advance('1m');
    expect(outside.users.size).toBe(0);
    expect((await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId } })).errors).toEqual(['lease not found']);
  });

  test('a lease of a batch token never outlives it, whatever is renewed', async () => {
    await mount.call('update', 'sys/policies/acl/all', { data: { policy: 'path "*" { capabilities = ["read", "update"] }' } });
    const made = await mount.call('update', 'auth/token/create', { data: { type: 'batch', policies: ['all'], ttl: '30m' } });
    const { leaseId, leaseDuration } = await mount.call('read', 'acc/creds/r', { token: made.auth!.client_token });
    expect(leaseDuration).toBe(1_800);
    await mount.advance('10m');
    const renewed = await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId, increment: '1h' } });
    expect(renewed.leaseDuration).toBe(1_200);
  });

  test('what waits for an outside system is tried at once where its engine says that it was mended, and nothing else is', async () => {
    for (let i = 0; i < 3; i += 1) await mount.read('creds/r');
    await mount.write('ticks/t', { after: 3_600 });
    const other = await mount.read('creds/other');
    for (const system of ['one', 'two']) outside.failing.add(system);
    await mount.advance('1h');
    await mount.advance('2h');
    const { lease_count } = await irrevocable();
    expect(lease_count).toBeGreaterThan(0);
    expect(outside.users.size).toBe(4);
    outside.failing.clear();
    const asked = outside.log.length;
    await mount.write('mended/one');
    await mount.advance(1);
    expect([...outside.users]).toEqual(['u4']);
    expect(outside.log.slice(asked).sort()).toEqual(['drop u1', 'drop u2', 'drop u3', 'tick t']);
    expect((await lookup(other.leaseId)).status).toBe(200);
    // Nothing is left in the index of those that wait.
    await mount.write('mended/two');
    await mount.advance(1);
    expect(outside.users.size).toBe(0);
    expect((await irrevocable()).lease_count).toBe(0);
    await mount.write('mended/two');
    await mount.advance(1);
    expect(outside.log).toHaveLength(asked + 5);
  });

  test('a failing revocation is retried with growing delay, becomes irrevocable after six failures, and is tried daily', async () => {
    const { leaseId } = await mount.read('creds/r');
    outside.failing.add('one');
    await mount.advance('1h');
    const times: number[] = [];
    let seen = outside.count('drop u1');
    expect(seen).toBe(1);
    for (let second = 0; second < 1_500 && seen < 6; second += 1) {
      await mount.advance(1);
      const now = outside.count('drop u1');
      if (now > seen) times.push(second + 1);
      seen = now;
    }
    expect(seen).toBe(6);
    const gaps = times.map((time, index) => time - (times[index - 1] ?? 0));
    for (let i = 1; i < gaps.length; i += 1) expect(gaps[i]!).toBeGreaterThan(gaps[i - 1]!);
    expect((await lookup(leaseId)).data).toMatchObject({ revoke_error: 'one is down', revoke_attempts: 6 });
    expect(await irrevocable()).toMatchObject({ lease_count: 1, leases: [{ lease_id: leaseId, error: 'one is down' }] });
    expect((await mount.call('read', 'sys/leases/count', { data: { type: 'irrevocable' } })).data).toMatchObject({ lease_count: 1 });
    await mount.advance('23h');
    expect(outside.count('drop u1')).toBe(6);
    await mount.advance('1h10m');
    expect(outside.count('drop u1')).toBe(7);
    outside.failing.clear();
    await mount.advance('24h10m');
    expect(outside.users.size).toBe(0);
    expect((await mount.call('read', 'sys/leases', { data: { type: 'irrevocable' } })).data).toMatchObject({ lease_count: 0 });
  });

  test('an irrevocable lease that is requeued is tried at once; one in force is not ended by that', async () => {
    const first = await mount.read('creds/r');
    expect((await mount.call('update', 'sys/leases/requeue', { data: { lease_id: first.leaseId } })).errors).toEqual([
      'the lease is not being revoked',
    ]);
    outside.failing.add('one');
    await mount.advance('1h');
    for (let i = 0; i < 40; i += 1) await mount.advance('1m');
    expect((await irrevocable()).lease_count).toBe(1);
    outside.failing.clear();
    expect((await mount.call('update', 'sys/leases/requeue', { data: { lease_id: first.leaseId } })).status).toBe(204);
    await mount.core.settleSchedule();
    expect(outside.users.size).toBe(0);
    expect((await irrevocable()).lease_count).toBe(0);
    expect((await mount.call('update', 'sys/leases/requeue', { data: {} })).errors).toEqual(['lease_id must be specified']);
    expect((await mount.call('update', 'sys/leases/requeue', { data: { lease_id: first.leaseId } })).errors).toEqual(['invalid lease']);
  });

  test('an outside system that hangs does not hold up the leases of another', async () => {
    outside.hanging.add('one');
    outside.hanging.delete('one');
    for (let i = 0; i < 100; i += 1) await mount.read('creds/r');
    for (let i = 0; i < 20; i += 1) await mount.read('creds/other');
    outside.hanging.add('one');
    await mount.clock.advance('1h');
    for (let i = 0; i < 20; i += 1) await mount.clock.advance(0);
    const left = [...outside.users].filter((name) => Number(name.slice(1)) > 100);
    expect(left).toEqual([]);
    expect(outside.users.size).toBe(100);
    // What becomes due while the other system still hangs is not held up either.
    const { leaseId } = await mount.read('creds/other');
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: false } });
    for (let i = 0; i < 10; i += 1) await mount.clock.advance(0);
    expect(outside.users.size).toBe(100);
    outside.hanging.clear();
    for (let i = 0; i < 30; i += 1) await mount.clock.advance('1m');
    await mount.core.settleSchedule();
    expect(outside.users.size).toBe(0);
  });

  test('a synchronous revocation says why it failed, and the lease is tried again later', async () => {
    const { leaseId } = await mount.read('creds/r');
    outside.failing.add('one');
    const answer = await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId } });
    expect({ status: answer.status, errors: answer.errors }).toEqual({ status: 400, errors: ['failed to revoke entry: one is down'] });
    expect((await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId } })).errors).toEqual([
      'the lease is being revoked and cannot be renewed',
    ]);
    expect((await lookup(leaseId)).data).toMatchObject({
      renewable: false,
      revoke_attempts: 1,
      revoke_next_attempt: expect.stringMatching(/^2030-01-01T00:00:/),
    });
    outside.failing.clear();
    await mount.advance('1m');
    expect(outside.users.size).toBe(0);
  });

  test('two who revoke one lease at a time revoke it once', async () => {
    const { leaseId } = await mount.read('creds/r');
    const answers = await Promise.all(
      [1, 2, 3].map(async () => mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId } })),
    );
    expect(answers.map((answer) => answer.status)).toEqual([204, 204, 204]);
    expect(outside.count('drop u1')).toBe(1);
  });

  test('revoke-prefix stops at the first failure and names it; revoke-force drops the lease all the same', async () => {
    const { leaseId } = await mount.read('creds/r');
    outside.failing.add('one');
    const refused = await mount.call('update', 'sys/leases/revoke-prefix/acc');
    expect(refused.errors).toEqual([`failed to revoke "${leaseId}" (1 / 1): failed to revoke entry: one is down`]);
    const forced = await mount.call('update', 'sys/leases/revoke-force/acc');
    expect(forced.data).toEqual({ left_outside: [{ kind: 'account', name: 'u1', system: 'one', lease_id: leaseId }] });
    expect((await lookup(leaseId)).errors).toEqual(['invalid lease']);
    expect((await mount.call('update', 'sys/leases/revoke-prefix')).status).toBe(400);
  });

  test('revoke-prefix that does not wait queues the leases, and what is queued survives a crash; tokens are dead at once', async () => {
    for (let i = 0; i < 3; i += 1) await mount.read('creds/r');
    const made = await mount.call('update', 'auth/token/create', { data: { policies: ['default'], ttl: '1h' } });
    const queued = async (prefix: string) => mount.call('update', `sys/leases/revoke-prefix/${prefix}`, { data: { sync: false } });
    outside.hanging.add('one');
    expect((await queued('acc')).status).toBe(202);
    expect((await queued('auth/token/create')).status).toBe(202);
    expect((await mount.call('read', 'auth/token/lookup-self', { token: made.auth!.client_token })).status).toBe(403);
    await mount.close();
    outside.hanging.clear();
    mount = await mountForTest(testEngine(outside), { storage: store.open(), path: 'acc', clock: mount.clock });
    await mount.advance('2m');
    expect(outside.users.size).toBe(0);
    const left = await store.open().range({ prefix: 'lease/', keysOnly: true });
    expect(left).toEqual([]);
  });

  test('a damaged lease is quarantined and said so, the others go on, and revoke-force drops it', async () => {
    const said: string[] = [];
    const log = { debug() {}, info() {}, warn() {}, error: (text: string) => void said.push(text) };
    await mount.close();
    mount = await mountForTest(testEngine(outside), { storage: store.open(), path: 'acc', clock: mount.clock, log });
    const broken = await mount.read('creds/r');
    await mount.read('creds/r');
    const raw = store.open();
    await raw.commit({ put: [{ key: `lease/${broken.leaseId}`, value: Buffer.from('nonsense') }] });
    await mount.advance('1h');
    expect(outside.users.size).toBe(1);
    expect(said.filter((text) => text.includes('quarantined'))).toHaveLength(1);
    await mount.advance('1h');
    expect(said).toHaveLength(1);
    expect((await lookup(broken.leaseId)).status).toBe(500);
    expect((await mount.call('update', 'sys/leases/revoke-prefix/acc')).status).toBe(400);
    const forced = await mount.call('update', 'sys/leases/revoke-force/acc');
    expect(forced.data).toEqual({
      left_outside: [{ kind: 'secret of a damaged lease', name: broken.leaseId, lease_id: broken.leaseId }],
    });
    expect((await lookup(broken.leaseId)).errors).toEqual(['invalid lease']);
  });

  test('a damaged lease whose record is restored ends after all', async () => {
    const { leaseId } = await mount.read('creds/r');
    const raw = store.open();
    const good = await raw.get(`lease/${leaseId}`);
    await raw.commit({ put: [{ key: `lease/${leaseId}`, value: Buffer.from('nonsense') }] });
    await mount.advance('1h');
    await raw.commit({ put: [{ key: `lease/${leaseId}`, value: good!.value }] });
    await mount.advance('24h');
    expect(outside.users.size).toBe(0);
  });

  test('a revocation that waits for its place at the outside system survives a crash, and its lease is not renewed', async () => {
    for (let i = 0; i < 24; i += 1) await mount.read('creds/r');
    const { data } = await mount.call('list', 'sys/leases/lookup/acc/creds/r/');
    const ids = (data as { keys: string[] }).keys.map((key) => `acc/creds/r/${key}`);
    outside.hanging.add('one');
    const asked = ids.map(async (id) => mount.call('update', 'sys/leases/revoke', { data: { lease_id: id, sync: true } }));
    for (let i = 0; i < 10; i += 1) await mount.clock.advance(0);
    for (const id of ids) {
      const renewed = await mount.call('update', 'sys/leases/renew', { data: { lease_id: id } });
      expect(renewed.errors).toEqual(['the lease is being revoked and cannot be renewed']);
    }
    await mount.close();
    await Promise.all(asked);
    outside.hanging.clear();
    mount = await mountForTest(testEngine(outside), { storage: store.open(), path: 'acc', clock: mount.clock });
    await mount.advance('2m');
    expect(outside.users.size).toBe(0);
  });

  test('a server that stops in the middle of a revocation counts no failure; the next one goes on with it', async () => {
    await mount.read('creds/r');
    outside.hanging.add('one');
    await mount.clock.advance('1h');
    await mount.close();
    outside.hanging.clear();
    mount = await mountForTest(testEngine(outside), { storage: store.open(), path: 'acc', clock: mount.clock });
    await mount.core.settleSchedule();
    expect(outside.users.size).toBe(0);
  });

  test('leases survive a restart and end on time', async () => {
    await mount.read('creds/r');
    await mount.close();
    await mount.clock.advance('30m');
    mount = await mountForTest(testEngine(outside), { storage: store.open(), path: 'acc', clock: mount.clock });
    await mount.advance('29m');
    expect(outside.users.size).toBe(1);
    await mount.advance('1m');
    expect(outside.users.size).toBe(0);
  });

  test('a jump of the clock ends what it passed, and the way back harms nothing', async () => {
    await mount.read('creds/r');
    await mount.clock.set('2030-01-09T00:00:00Z');
    await mount.core.settleSchedule();
    expect(outside.users.size).toBe(0);
    await mount.clock.set('2030-01-05T00:00:00Z');
    await mount.read('creds/r');
    await mount.advance('1h');
    expect(outside.users.size).toBe(0);
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, sharedMemory, type Call, type TestMount } from '@strongroom/engine-testkit';
import { Outside, testEngine } from '../../test-engine.ts';

describe('an idempotency key', () => {
  let outside: Outside;
  let store: ReturnType<typeof sharedMemory>;
  let mount: TestMount;
  let afterCreate: (() => Promise<void>) | undefined;

  const engine = () => testEngine(outside, { afterCreate: async () => afterCreate?.() });
  beforeEach(async () => {
    outside = new Outside();
    store = sharedMemory();
    afterCreate = undefined;
    mount = await mountForTest(engine(), { storage: store.open(), path: 'acc' });
    await mount.write('roles/r', { ttl: '1h', max_ttl: '2h' });
    await mount.write('roles/other', { ttl: '1h' });
    await mount.call('update', 'sys/policies/acl/all', { data: { policy: 'path "*" { capabilities = ["read", "update"] }' } });
  });
  afterEach(async () => mount.close());

  const ask = async (key: string, more: Call['data'] = {}, call: Call = {}, role = 'r') =>
    mount.call('read', `acc/creds/${role}`, { ...call, data: { idempotency_key: key, ...more } });
  const tokenOf = async (data: Record<string, unknown> = {}) =>
    (await mount.call('update', 'auth/token/create', { data: { policies: ['all'], ...data } })).auth!.client_token;

  test('gives a repeated call the same credential and lease, with what is left of its time', async () => {
    const first = await ask('k');
    await mount.advance('10m');
    const second = await ask('k');
    expect(second).toMatchObject({ data: first.data, leaseId: first.leaseId, leaseDuration: 3_000, renewable: true, warnings: null });
    expect(outside.users.size).toBe(1);
    expect((await ask('k2')).leaseId).not.toBe(first.leaseId);
    expect((await ask('k', {}, {}, 'other')).leaseId).toMatch(/^acc\/creds\/other\//);
  });

  test('may come as the header Idempotency-Key, which must not contradict the parameter', async () => {
    const first = await ask('k');
    const withHeader = async (data: Record<string, unknown>) =>
      mount.core.handle({ operation: 'read', path: 'acc/creds/r', token: 'root', data, headers: { 'idempotency-key': 'k' } });
    expect((await withHeader({})).leaseId).toBe(first.leaseId);
    expect((await withHeader({ idempotency_key: 'k' })).leaseId).toBe(first.leaseId);
    expect(await withHeader({ idempotency_key: 'x' })).toMatchObject({ status: 400, errors: [expect.stringContaining('differ')] });
    expect(await ask('')).toMatchObject({ status: 400, errors: ['idempotency_key: a key has 1 to 255 characters'] });
    expect(await ask('x'.repeat(256))).toMatchObject({ status: 400 });
  });

  test('means nothing to another caller', async () => {
    const first = await ask('k');
    const other = await tokenOf();
    const theirs = await ask('k', {}, { token: other });
    expect(theirs.leaseId).not.toBe(first.leaseId);
    expect(theirs.data).not.toEqual(first.data);
    expect((await ask('k', {}, { token: other })).leaseId).toBe(theirs.leaseId);
  });

  test('of a call with other parameters is refused', async () => {
    await ask('k', { note: 'a' });
    expect(await ask('k', { note: 'b' })).toMatchObject({
      status: 400,
      errors: ['idempotency_key: this key was used for a call with other parameters; use another key'],
    });
  });

  test('of calls at the same time makes one credential', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, async () => ask('k')));
    expect(new Set(answers.map(({ leaseId }) => leaseId)).size).toBe(1);
    expect(outside.log).toEqual(['create u1']);
  });

  test('of a call that failed is free for the next one, also for one that waited', async () => {
    outside.failing.add('one');
    let failures = 0;
    const slow = Promise.all(Array.from({ length: 3 }, async () => ask('k')));
    for (const { status } of await slow) if (status === 500) failures += 1;
    expect(failures).toBe(3);
    outside.failing.clear();
    expect((await ask('k')).status).toBe(200);
  });

  test('of two processes at the same time leaves one credential: the slower one undoes its own, and answers with the other', async () => {
    const second = await mountForTest(engine(), { storage: store.open(), path: 'acc', clock: mount.clock });
    try {
      let arrived = 0;
      let go!: () => void;
      const both = new Promise<void>((resolve) => (go = resolve));
      afterCreate = async () => {
        arrived += 1;
        if (arrived === 2) go();
        await both;
      };
      const data = { idempotency_key: 'k' };
      const [a, b] = await Promise.all([mount.call('read', 'acc/creds/r', { data }), second.call('read', 'acc/creds/r', { data })]);
      expect(a.leaseId).toMatch(/^acc\/creds\/r\//);
      expect(b).toMatchObject({ leaseId: a.leaseId, data: a.data });
      await Promise.all([mount.core.settleSchedule(), second.core.settleSchedule()]);
      expect([...outside.users]).toEqual([(a.data as { name: string }).name]);
      expect((await mount.call('read', 'sys/journal')).data).toEqual({ intents: [] });
    } finally {
      await second.close();
    }
  });

  test.each(['revoke', 'revoke-force', 'expiry', 'end of the token'])('ends with its lease: %s', async (how) => {
    const token = await tokenOf();
    const first = await ask('k', {}, { token });
    if (how === 'revoke') await mount.call('update', 'sys/leases/revoke', { data: { lease_id: first.leaseId, sync: true } });
    else if (how === 'revoke-force') await mount.call('update', 'sys/leases/revoke-force/acc/creds');
    else if (how === 'expiry') await mount.advance('1h');
    else await mount.call('update', 'auth/token/revoke', { data: { token } });
    expect((await store.open().range({ prefix: 'repeat/' })).length).toBe(0);
    if (how === 'end of the token') return;
    const next = await ask('k', {}, { token });
    expect(next.leaseId).not.toBe(first.leaseId);
  });

  test('keeps its answer encrypted, and it is there after a restart', async () => {
    const first = await ask('a-telling-key');
    const { name } = first.data as { name: string };
    const stored = await store.open().range({});
    for (const { key, value } of stored) expect(key + Buffer.from(value).toString('latin1')).not.toContain('a-telling-key');
    const [held] = stored.filter(({ key }) => key.startsWith('repeat/'));
    expect(Buffer.from(held!.value).toString('latin1')).not.toContain(name);
    await mount.close();
    mount = await mountForTest(engine(), { storage: store.open(), path: 'acc', clock: mount.clock });
    expect(await ask('a-telling-key')).toMatchObject({ leaseId: first.leaseId, data: first.data });
  });

  test('is answered again inside a wrapping each time', async () => {
    const wrapped = await ask('k', {}, { wrapTtl: 60 });
    const again = await ask('k', {}, { wrapTtl: 60 });
    expect(again.wrapInfo!.token).not.toBe(wrapped.wrapInfo!.token);
    const open = async (token: string) => mount.call('update', 'sys/wrapping/unwrap', { token });
    const [one, two] = [await open(wrapped.wrapInfo!.token), await open(again.wrapInfo!.token)];
    expect(two).toMatchObject({ leaseId: one.leaseId, data: one.data });
  });

  test('does not help a token with one use left, whose leases end at once', async () => {
    const token = await tokenOf({ num_uses: 1 });
    expect(await ask('k', {}, { token })).toMatchObject({ status: 400, errors: [expect.stringContaining('token had one use left')] });
  });
});

test('a lease that is dropped by force is reported to its engine, in the same commit', async () => {
  const outside = new Outside();
  const mount = await mountForTest(testEngine(outside), { path: 'acc' });
  await mount.write('roles/r', { ttl: '1h' });
  const { data } = await mount.read('creds/r');
  await mount.read('creds/r');
  outside.failing.add('one');
  await mount.call('update', 'sys/leases/revoke-force/acc/creds/r');
  expect((await mount.list('left')).data).toEqual({ keys: ['u1', 'u2'] });
  expect(data).toEqual({ name: 'u1' });
  await mount.close();
});

test('what an engine stores when a secret is revoked is stored with the end of its lease, or not at all', async () => {
  const outside = new Outside();
  let broken = true;
  const revoked = (): void => {
    if (broken) throw new Error('not now');
  };
  const mount = await mountForTest(testEngine(outside, { revoked }), { path: 'acc' });
  await mount.write('roles/r', { ttl: '1h' });
  const { leaseId } = await mount.read('creds/r');
  const revoke = async () => mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
  expect((await revoke()).status).toBe(400);
  expect(outside.users.size).toBe(0);
  expect((await mount.call('list', 'acc/left')).status).toBe(404);
  expect((await mount.call('update', 'sys/leases/lookup', { data: { lease_id: leaseId } })).status).toBe(200);
  broken = false;
  // The claim of the attempt that failed is over.
  await mount.advance('2m');
  expect((await mount.list('left')).data).toEqual({ keys: ['u1'] });
  expect((await mount.call('update', 'sys/leases/lookup', { data: { lease_id: leaseId } })).status).toBe(400);
  expect(outside.log).toEqual(['create u1', 'drop u1', 'drop u1']);
  await mount.close();
});

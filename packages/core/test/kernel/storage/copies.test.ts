import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  checkedCore,
  type CuttableStorage,
  manualClock,
  type ManualClock,
  mountForTest,
  sharedMemory,
  type TestMount,
} from '@strongroom/engine-testkit';
import { EVERYTHING, StorageFailure, type ChangedKeys, type StorageDriver } from '@strongroom/storage-sdk';
import { Outside, testEngine } from '../../test-engine.ts';

let store: ReturnType<typeof sharedMemory>;
let clock: ManualClock;
let one: TestMount;
let other: TestMount;
let driver: CuttableStorage;
let created: number;
const open: TestMount[] = [];

async function start(storage: StorageDriver, hooks: Parameters<typeof testEngine>[1] = {}): Promise<TestMount> {
  const engine = testEngine(new Outside(), hooks);
  const counted = { ...engine, create: (host: Parameters<typeof engine.create>[0]) => (created++, engine.create(host)) };
  const mount = await mountForTest(counted, { storage, path: 'acc', clock });
  open.push(mount);
  return mount;
}

/** Until the other server has read everything again. */
async function settled(): Promise<void> {
  for (let i = 0; i < 100 && (await health()).status === 503; i++) await new Promise((resolve) => setImmediate(resolve));
}

async function health(of: TestMount = other): Promise<{ status: number; body: Record<string, unknown> }> {
  const { status, raw } = await of.call('read', 'sys/health', { token: '' });
  return { status, body: JSON.parse(String(raw?.body)) as Record<string, unknown> };
}

beforeEach(async () => {
  store = sharedMemory();
  clock = manualClock();
  created = 0;
  one = await start(store.open());
  driver = store.open();
  other = await start(driver);
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

describe('when nobody can tell what changed', () => {
  test('mounts, policies, identity and the key ring are as the store has them', async () => {
    await one.call('update', 'sys/policies/acl/p', {
      data: { policy: 'path "acc/roles/*" { capabilities = ["read", "update", "create"] }' },
    });
    await one.call('update', 'auth/token/roles/people', { data: { allowed_entity_aliases: 'ann', allowed_policies: 'p' } });
    const tokenOf = async (path: string, data: Record<string, unknown>) =>
      (await one.call('update', path, { data: { policies: 'p', no_default_policy: true, ...data } })).auth!;
    const token = (await tokenOf('auth/token/create', {})).client_token;
    const { client_token: ann, entity_id } = await tokenOf('auth/token/create/people', { entity_alias: 'ann' });
    const call = async (path: string, as = token) => (await other.call('read', path, { token: as })).status;
    await clock.advance(0);
    await one.write('roles/r', { ttl: '1h' });
    expect([await call('acc/roles/r'), await call('acc/roles/r', ann)]).toEqual([200, 200]);
    driver.deafen();
    await one.call('update', `identity/entity/id/${entity_id}`, { data: { disabled: true } });
    await clock.advance(0);
    expect(await call('acc/roles/r', ann)).toBe(200);
    driver.hear(true);
    await settled();
    expect([await call('acc/roles/r'), await call('acc/roles/r', ann)]).toEqual([200, 403]);
    driver.deafen();
    await one.call('update', 'sys/policies/acl/p', { data: { policy: 'path "acc/roles/*" { capabilities = ["deny"] }' } });
    await one.call('update', 'sys/mounts/late', { data: { type: 'test' } });
    await one.call('update', 'sys/rotate');
    await clock.advance(0);
    // Unheard, it goes by its copies.
    expect(await call('acc/roles/r')).toBe(200);
    driver.hear(true);
    await settled();
    expect(await call('acc/roles/r')).toBe(403);
    expect((await other.call('update', 'late/roles/x', { data: { ttl: '1h' } })).status).toBe(204);
    const term = async (of: TestMount) => ((await of.call('read', 'sys/key-status')).data as { term: number }).term;
    expect(await term(other)).toBe(await term(one));
  });

  test('a mount that the store no longer has is gone, and a write to it is answered 404', async () => {
    await one.call('update', 'sys/mounts/lost', { data: { type: 'test' } });
    await clock.advance(0);
    expect((await other.call('update', 'lost/roles/x', { data: { ttl: '1h' } })).status).toBe(204);
    const { uuid } = ((await other.call('read', 'sys/mounts')).data as Record<string, { uuid: string }>)['lost/']!;
    const raw = store.open();
    const [key] = (await raw.range({ prefix: 'core/mount/', keysOnly: true }))
      .map((entry) => entry.key)
      .filter((each) => each.endsWith(uuid));
    await raw.commit({ delete: [key!] });
    driver.hear(true);
    await settled();
    expect(Object.keys((await other.call('read', 'sys/mounts')).data as object)).not.toContain('lost/');
    expect((await other.call('update', 'lost/roles/x', { data: { ttl: '1h' } })).status).toBe(404);
  });

  test('a call that was decided before is answered 503, whatever it did, and so is each until everything was read', async () => {
    const under = [other.write('roles/r', { ttl: '1h' }), other.read('roles/none')].map((call) =>
      call.catch((error: Error) => error.message),
    );
    driver.hear(true);
    const texts = await Promise.all(under);
    for (const text of texts) expect(text).toMatch(/503 the store (changed as a whole during the call|has changed as a whole)/);
    driver.hear(true);
    const answer = await other.call('read', 'sys/mounts');
    expect(answer).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
    expect(answer.errors).toEqual(['the store has changed as a whole, and everything is being read again']);
    expect(await health()).toMatchObject({ status: 503, body: { sealed: false, warnings: answer.errors } });
    await settled();
    expect((await other.call('read', 'sys/mounts')).status).toBe(200);
  });

  test('engines that keep copies are restarted, and others are not', async () => {
    const before = created;
    driver.hear(true);
    await settled();
    expect(created).toBe(before);
    const keeping = store.open();
    const third = await start(keeping, { invalidated: () => undefined });
    const running = created;
    keeping.hear(true);
    for (let i = 0; i < 100 && created === running; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(created).toBe(running + 1);
    await third.write('roles/r', { ttl: '1h' });
  });

  test('a key ring that cannot be opened any more seals the server', async () => {
    const raw = store.open();
    await raw.commit({ delete: ['core/keyring'] });
    driver.hear(true);
    for (let i = 0; i < 100 && !other.core.sealed; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(other.core.sealed).toBe(true);
    expect((await other.call('read', 'sys/mounts')).errors).toEqual(['Vault is sealed']);
  });

  test('a store that fails meanwhile is read again until it answers, and nothing is answered before', async () => {
    const { range } = driver;
    let fails = 3;
    driver.range = async (query) => {
      if (fails-- > 0) throw new StorageFailure('shared', 'gone');
      return range.call(driver, query);
    };
    driver.hear(true);
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    expect((await other.call('read', 'sys/mounts')).status).toBe(503);
    for (let i = 0; i < 4; i++) {
      await clock.advance(500);
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await other.call('read', 'sys/mounts')).status).toBe(200);
  });
});

describe('a change of another server', () => {
  test('that cannot be applied at once is applied later, and not lost', async () => {
    const { range } = driver;
    let fails = 1;
    driver.range = async (query) => {
      if (query.prefix === 'core/mount/' && fails-- > 0) throw new StorageFailure('shared', 'gone');
      return range.call(driver, query);
    };
    await one.call('update', 'sys/mounts/late', { data: { type: 'test' } });
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    await settled();
    expect((await other.call('update', 'late/roles/x', { data: { ttl: '1h' } })).status).toBe(204);
  });

  test('that comes while a server opens is not missed', async () => {
    const slow = store.open();
    const { range } = slow;
    let looked = false;
    slow.range = async (query) => {
      const found = await range.call(slow, query);
      if (query.prefix === 'core/mount/' && !looked) {
        looked = true;
        await one.call('update', 'sys/mounts/meanwhile', { data: { type: 'test' } });
      }
      return found;
    };
    const third = await checkedCore({
      storage: slow,
      plugins: [testEngine(new Outside())],
      clock,
      seal: { type: 'static', key: Buffer.alloc(32, 1) },
    });
    expect(looked).toBe(true);
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
    const answer = await third.handle({
      operation: 'update',
      path: 'meanwhile/roles/x',
      token: 'root',
      remoteAddress: '127.0.0.1',
      data: { ttl: '1h' },
    });
    expect(answer.status).toBe(204);
    await third.close();
  });

  test('that makes the keys of an empty store is heard by servers that are sealed over it', async () => {
    const empty = sharedMemory();
    const heard: ChangedKeys[] = [];
    empty.open().changes((notified) => heard.push(notified));
    const core = await checkedCore({ storage: empty.open(), plugins: [], clock });
    await core.initialize({ secretShares: 1, secretThreshold: 1, recoveryShares: undefined, recoveryThreshold: undefined });
    await clock.advance(0);
    expect(heard).toContainEqual(['core/keyring']);
    expect(heard).not.toContain(EVERYTHING);
    await core.close();
  });
});

describe('a server that does not hear the others', () => {
  test('answers for ten seconds, then refuses with 503 and the reason until it hears again', async () => {
    driver.stale({ millis: 9_999 });
    expect((await other.call('read', 'sys/mounts')).status).toBe(200);
    expect((await health()).status).toBe(200);
    driver.stale({ millis: 12_345, reason: 'the link is dead' });
    const answer = await other.call('read', 'sys/mounts');
    expect(answer).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
    expect(answer.errors).toEqual(['the changes of other servers could not be read for 12 s: the link is dead']);
    expect(await health()).toMatchObject({
      status: 503,
      body: { initialized: true, sealed: false, standby: false, warnings: answer.errors },
    });
    expect((await other.call('read', 'sys/seal-status', { token: '' })).status).toBe(200);
    expect((await health(one)).body).not.toHaveProperty('warnings');
    driver.stale({ millis: 20 });
    expect((await other.call('read', 'sys/mounts')).status).toBe(200);
    expect((await health()).status).toBe(200);
  });
});

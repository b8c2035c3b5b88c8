import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { approleAuth } from '@strongroom/auth-approle';
import { manualClock, mountForTest, sharedMemory, type ManualClock, type TestMount } from '@strongroom/engine-testkit';
import { API_VERSION, BadRequest, defaultTokenParameters, f, path, tokenTerms, type EnginePackage } from '@strongroom/engine-sdk';
import { Outside, testEngine } from '../../test-engine.ts';

/** A login method that knows one name at once; it needs a while to find out that it does not know another. */
function slowLogin(held: Promise<void>): EnginePackage {
  return {
    name: 'slow',
    kind: 'auth',
    apiVersion: API_VERSION,
    create: () => ({
      paths: [
        path('login/{name}', {
          synopsis: 'A login.',
          description: 'By name.',
          login: (data) => String(data['name']),
          fields: { name: f.name('Name.') },
        }).update({
          summary: 'Log in',
          handle: async ({ data: { name } }) => {
            if (name !== 'known') await held.then(() => Promise.reject(new BadRequest('unknown')));
            const terms = tokenTerms(defaultTokenParameters);
            return { auth: { policies: [], displayName: name, metadata: {}, alias: { name }, terms } };
          },
        }),
      ],
    }),
  };
}

describe('caps on leases', () => {
  let clock: ManualClock;
  let store: ReturnType<typeof sharedMemory>;
  let outside: Outside;
  let mount: TestMount;
  const opened: TestMount[] = [];
  let held: Promise<void>;
  let release: () => void;

  const open = async (): Promise<TestMount> => {
    const one = await mountForTest(testEngine(outside), {
      storage: store.open(),
      clock,
      liveness: { clock },
      plugins: [approleAuth, slowLogin(held)],
      path: 'db',
    });
    opened.push(one);
    return one;
  };
  beforeEach(async () => {
    clock = manualClock();
    store = sharedMemory();
    outside = new Outside();
    held = new Promise((resolve) => (release = resolve));
    mount = await open();
    for (const role of ['one', 'two']) await mount.write(`roles/${role}`, { ttl: '1h' });
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  const cap = async (name: string, data: Record<string, unknown>) => mount.call('update', `sys/quotas/lease-count/${name}`, { data });
  const issue = async (role = 'one', at = mount) => at.call('read', `db/creds/${role}`);
  const counter = async (name: string) =>
    ((await mount.call('read', `sys/quotas/lease-count/${name}`)).data as { counter: number }).counter;

  test('one lease too many is refused before anything is made outside', async () => {
    await cap('mount', { path: 'db', max_leases: 2 });
    expect([(await issue()).status, (await issue('two')).status]).toEqual([200, 200]);
    const refused = await issue();
    expect([refused.status, refused.errors]).toEqual([
      429,
      ['lease count quota exceeded: the quota "mount" allows 2 leases, and 2 live; revoke some, or raise max_leases'],
    ]);
    expect(outside.users.size).toBe(2);
  });

  test('a lease that is revoked makes room', async () => {
    await cap('mount', { path: 'db', max_leases: 1 });
    const { leaseId } = await issue();
    expect((await issue()).status).toBe(429);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId } });
    await clock.advance('2s');
    expect((await issue()).status).toBe(200);
  });

  test('leases from before the cap count', async () => {
    for (let each = 0; each < 3; each += 1) await issue();
    await cap('mount', { path: 'db', max_leases: 3 });
    expect(await counter('mount')).toBe(3);
    expect((await issue()).status).toBe(429);
  });

  test('a role, and a path, have caps of their own', async () => {
    await cap('role', { path: 'db', role: 'One', max_leases: 1 });
    await cap('path', { path: 'db/creds/two', max_leases: 1 });
    expect([(await issue('one')).status, (await issue('one')).status]).toEqual([200, 429]);
    expect([(await issue('two')).status, (await issue('two')).status]).toEqual([200, 429]);
    expect([await counter('role'), await counter('path')]).toEqual([1, 1]);
  });

  test('answers warn from four fifths on', async () => {
    await cap('mount', { path: 'db', max_leases: 5 });
    const warnings: unknown[] = [];
    for (let each = 0; each < 5; each += 1) warnings.push((await issue()).warnings);
    expect(warnings).toEqual([
      null,
      null,
      null,
      ['lease count quota "mount": 4 of 5 leases are in use'],
      ['lease count quota "mount": 5 of 5 leases are in use'],
    ]);
  });

  test('what fails takes no room', async () => {
    await cap('mount', { path: 'db', max_leases: 1 });
    outside.failing.add('one');
    expect((await issue()).status).toBeGreaterThanOrEqual(500);
    outside.failing.clear();
    expect((await issue()).status).toBe(200);
  });

  test('of many at once exactly as many get a lease as there is room for', async () => {
    await cap('mount', { path: 'db', max_leases: 7 });
    const answers = await Promise.all(Array.from({ length: 40 }, async () => issue()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(33);
    expect(outside.users.size).toBe(7);
  });

  test('another server counts what this one issued after a few seconds', async () => {
    const other = await open();
    await cap('mount', { path: 'db', max_leases: 2 });
    await clock.advance('11s');
    expect((await issue('one', other)).status).toBe(200);
    expect((await issue()).status).toBe(200);
    await clock.advance('6s');
    expect([(await issue('one', other)).status, (await issue()).status]).toEqual([429, 429]);
  });

  test('service tokens of logins count, by role too', async () => {
    await mount.call('update', 'sys/auth/approle', { data: { type: 'approle' } });
    const ids: Record<string, string> = {};
    for (const role of ['web', 'job']) {
      await mount.call('update', `auth/approle/role/${role}`, { data: { bind_secret_id: false, secret_id_bound_cidrs: '127.0.0.0/8' } });
      ids[role] = ((await mount.call('read', `auth/approle/role/${role}/role-id`)).data as { role_id: string }).role_id;
    }
    const login = async (role: string) =>
      (await mount.call('update', 'auth/approle/login', { token: '', data: { role_id: ids[role] } })).status;
    expect([await login('web'), await login('job')]).toEqual([200, 200]);
    await cap('web', { path: 'auth/approle', role: 'web', max_leases: 2 });
    expect([await login('web'), await login('web'), await login('job')]).toEqual([200, 429, 200]);
  });

  test('a login takes no room before its caller is known', async () => {
    await mount.call('update', 'sys/auth/slow', { data: { type: 'slow' } });
    await cap('slow', { path: 'auth/slow', max_leases: 1 });
    const login = async (name: string) => mount.call('update', `auth/slow/login/${name}`, { token: '', data: {} });
    const guesses = ['x', 'y'].map(login);
    expect((await login('known')).status).toBe(200);
    release();
    expect((await Promise.all(guesses)).map(({ status }) => status)).toEqual([400, 400]);
  });

  test('batch tokens do not count', async () => {
    await mount.call('update', 'sys/auth/slow', { data: { type: 'slow', config: { token_type: 'batch' } } });
    await cap('slow', { path: 'auth/slow', max_leases: 1 });
    await cap('tokens', { path: 'auth/token', max_leases: 1 });
    const login = async () => mount.call('update', 'auth/slow/login/known', { token: '', data: {} });
    const create = async () => mount.call('update', 'auth/token/create', { data: { type: 'batch', ttl: '1h', policies: ['default'] } });
    for (const make of [login, login, create, create]) expect(await make()).toMatchObject({ status: 200, warnings: null });
    expect([await counter('slow'), await counter('tokens')]).toEqual([0, 0]);
  });

  test('what a server issued that is gone by now counts', async () => {
    await cap('mount', { path: 'db', max_leases: 3 });
    expect((await issue()).status).toBe(200);
    const other = await open();
    await clock.advance('11s');
    expect([(await issue('one', other)).status, (await issue('one', other)).status]).toEqual([200, 200]);
    await other.close();
    opened.splice(opened.indexOf(other), 1);
    await clock.advance('40s');
    expect((await issue()).status).toBe(429);
  });

  test('tokens that are made with a token count on auth/token', async () => {
    await cap('tokens', { path: 'auth/token', max_leases: 1 });
    const create = async () => (await mount.call('update', 'auth/token/create', { data: { ttl: '1h' } })).status;
    expect([await create(), await create()]).toEqual([200, 429]);
  });

  test.each([
    [{ path: 'db' }, "'max_leases' is invalid: write a whole number of at least 1"],
    [{ path: 'nowhere', max_leases: 1 }, 'invalid mount path "nowhere/"'],
  ])('%j is refused', async (data, text) => {
    const answer = await cap('bad', data);
    expect([answer.status, answer.errors]).toEqual([400, [text]]);
  });
});

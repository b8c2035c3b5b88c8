import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { approleAuth } from '@strongroom/auth-approle';
import { manualClock, mountForTest, sharedMemory, type ManualClock, type TestMount } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';

describe('rate limits', () => {
  let clock: ManualClock;
  let store: ReturnType<typeof sharedMemory>;
  let mount: TestMount;
  const opened: TestMount[] = [];

  const open = async (): Promise<TestMount> => {
    const one = await mountForTest(kvEngine, { storage: store.open(), clock, liveness: { clock }, plugins: [approleAuth], path: 'secret' });
    opened.push(one);
    return one;
  };
  beforeEach(async () => {
    clock = manualClock();
    store = sharedMemory();
    mount = await open();
    await mount.write('a', { x: '1' });
    await mount.write('b/c', { x: '1' });
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  const limit = async (name: string, data: Record<string, unknown>) => mount.call('update', `sys/quotas/rate-limit/${name}`, { data });
  const read = async (path = 'secret/a', remoteAddress = '10.0.0.1', at = mount) => at.call('read', path, { remoteAddress });
  const statuses = async (count: number, path?: string, address?: string) => {
    const found: number[] = [];
    for (let each = 0; each < count; each += 1) found.push((await read(path, address)).status);
    return found;
  };

  test('each client has its own count, which is full again at the end of the interval', async () => {
    await limit('mount', { path: 'secret', rate: 2, interval: '1m' });
    expect(await statuses(3)).toEqual([200, 200, 429]);
    expect(await statuses(2, 'secret/a', '10.0.0.2')).toEqual([200, 200]);
    await clock.advance('59s');
    expect(await statuses(1)).toEqual([429]);
    await clock.advance('1s');
    expect(await statuses(3)).toEqual([200, 200, 429]);
  });

  test('a refusal names the path, and says when to come again', async () => {
    await limit('mount', { path: 'secret', rate: 1, interval: '1m' });
    await read();
    const refused = await read();
    expect(refused.errors).toEqual(['request path "secret/a": rate limit quota exceeded']);
    expect(refused.headers).toEqual({ 'Retry-After': '60' });
  });

  test('a client that was refused stays refused for block_interval, also when the interval ends', async () => {
    await limit('mount', { path: 'secret', rate: 1, interval: '1s', block_interval: '1h' });
    expect(await statuses(2)).toEqual([200, 429]);
    await clock.advance('3599s');
    const refused = await read();
    expect([refused.status, refused.headers]).toEqual([429, { 'Retry-After': '1' }]);
    await clock.advance('1s');
    expect(await statuses(1)).toEqual([200]);
  });

  test('requests with a wrong token, and without one, count', async () => {
    await limit('mount', { path: 'secret', rate: 2, interval: '1m' });
    const as = async (token: string) => (await mount.call('read', 'secret/a', { token, remoteAddress: '10.0.0.1' })).status;
    expect([await as('wrong'), await as(''), await as('root')]).toEqual([403, 403, 429]);
  });

  test('the most specific rule alone counts: exact path, longest beginning, mount, everything', async () => {
    await limit('mount', { path: 'secret', rate: 2, interval: '1m' });
    await limit('begin', { path: 'secret/b/*', rate: 3, interval: '1m' });
    await limit('exact', { path: 'secret/b/c', rate: 4, interval: '1m' });
    await limit('all', { rate: 1, interval: '1m' });
    expect(await statuses(5, 'secret/b/c')).toEqual([200, 200, 200, 200, 429]);
    expect(await statuses(4, 'secret/b/other')).toEqual([404, 404, 404, 429]);
    expect(await statuses(3)).toEqual([200, 200, 429]);
    expect((await statuses(2, 'sys/mounts')).at(-1)).toBe(429);
  });

  test('another variant of a path is counted as the path', async () => {
    await limit('policy', { path: 'sys/policies/acl/GUARD', rate: 1, interval: '1m' });
    expect((await mount.call('read', 'sys/quotas/rate-limit/policy')).data).toMatchObject({ path: 'sys/policies/acl/guard' });
    expect(await statuses(2, 'sys/policies/acl/Guard')).toEqual([404, 429]);
  });

  test('a limit follows its mount when the mount moves', async () => {
    await limit('mount', { path: 'secret', rate: 1, interval: '1h' });
    await mount.call('update', 'sys/remount', { data: { from: 'secret', to: 'moved' } });
    expect((await mount.call('read', 'sys/quotas/rate-limit/mount')).data).toMatchObject({ path: 'moved/' });
    expect(await statuses(2, 'moved/a')).toEqual([200, 429]);
  });

  test('a limit ends with its mount', async () => {
    await limit('mount', { path: 'secret', rate: 1, interval: '1h' });
    await mount.call('update', 'sys/quotas/lease-count/mount', { data: { path: 'secret', max_leases: 1 } });
    await mount.call('delete', 'sys/mounts/secret');
    await mount.advance('1s');
    for (const kind of ['rate-limit', 'lease-count']) expect((await mount.call('read', `sys/quotas/${kind}/mount`)).status).toBe(404);
  });

  test('a limit on logins of a role counts that role alone', async () => {
    await mount.call('update', 'sys/auth/approle', { data: { type: 'approle' } });
    const roles: Record<string, string> = {};
    for (const role of ['one', 'two']) {
      await mount.call('update', `auth/approle/role/${role}`, { data: { bind_secret_id: false, secret_id_bound_cidrs: '10.0.0.0/8' } });
      roles[role] = ((await mount.call('read', `auth/approle/role/${role}/role-id`)).data as { role_id: string }).role_id;
    }
    expect((await limit('role', { path: 'auth/approle', role: 'One', rate: 1, interval: '1h' })).status).toBe(204);
    const login = async (role: string) =>
      (await mount.call('update', 'auth/approle/login', { token: '', data: { role_id: roles[role] }, remoteAddress: '10.0.0.1' })).status;
    expect([await login('one'), await login('one'), await login('two'), await login('two')]).toEqual([200, 429, 200, 200]);
  });

  test('a login whose role id is no text is refused as it is without a limit on a role', async () => {
    await mount.call('update', 'sys/auth/approle', { data: { type: 'approle' } });
    await limit('role', { path: 'auth/approle', role: 'one', rate: 1, interval: '1h' });
    const odd = { role_id: { toString: 1, valueOf: 1 } };
    const answer = await mount.call('update', 'auth/approle/login', { token: '', data: odd, remoteAddress: '10.0.0.1' });
    expect([answer.status, answer.errors]).toEqual([400, [expect.stringContaining('expected a string, got an object')]]);
  });

  test.each([
    [{ path: 'secret', rate: 0 }, "'rate' is invalid"],
    [{ path: 'secret', rate: -1 }, "'rate' is invalid"],
    [{ path: 'nowhere', rate: 1 }, 'invalid mount path "nowhere/"'],
    [
      { path: 'secret', role: 'r', rate: 1 },
      'Mount path "secret/" is not a valid auth method and therefore unsuitable for use with role-based quotas',
    ],
    [{ role: 'r', rate: 1 }, "'role' needs a 'path': the mount whose roles are meant"],
  ])('%j is refused', async (data, text) => {
    const answer = await limit('bad', data);
    expect([answer.status, answer.errors]).toEqual([400, [text]]);
  });

  test('paths in the list of exemptions are not counted; health is not until the list is written', async () => {
    await limit('all', { rate: 1, interval: '1h' });
    const health = async () => (await mount.call('read', 'sys/health', { token: '', remoteAddress: '10.0.0.1' })).status;
    expect([await health(), await health()]).toEqual([200, 200]);
    await mount.call('update', 'sys/quotas/config', { data: { rate_limit_exempt_paths: ['secret/b/*'] }, remoteAddress: '10.0.0.9' });
    expect(await statuses(3, 'secret/b/c')).toEqual([200, 200, 200]);
    expect([await health(), await health()]).toEqual([200, 429]);
  });

  test('two servers of one store share a limit; the parts add up to it', async () => {
    const other = await open();
    await limit('mount', { path: 'secret', rate: 5, interval: '1h' });
    await clock.advance('11s');
    const passed = async (at: TestMount) => {
      let count = 0;
      while ((await read('secret/a', '10.0.0.1', at)).status === 200) count += 1;
      return count;
    };
    expect([await passed(mount), await passed(other)].sort()).toEqual([2, 3]);
    await other.close();
    opened.splice(opened.indexOf(other), 1);
    await clock.advance('30s');
    expect(await passed(mount)).toBeGreaterThanOrEqual(2);
  });

  test('rules and settings outlive a restart, and reach the other servers', async () => {
    const other = await open();
    await mount.call('update', 'sys/quotas/config', { data: { enable_rate_limit_response_headers: true } });
    await limit('mount', { path: 'secret', rate: 1, interval: '1h' });
    await clock.advance('1s');
    expect((await read('secret/a', '10.0.0.1', other)).headers).toMatchObject({ 'X-Ratelimit-Limit': '1', 'X-Ratelimit-Remaining': '0' });
    const third = await open();
    expect((await third.call('read', 'sys/quotas/rate-limit/mount')).data).toMatchObject({ rate: 1, interval: 3_600 });
  });
});

import { afterEach, describe, expect, test } from '@jest/globals';
import { manualClock, mountForTest, sharedMemory, type KillableMount, type TestMount } from '@strongroom/engine-testkit';
import { passwordLogin } from '../../password-login.ts';
import { answered, identityToken, isActive, issuer, keyIdOf, login, published } from './issuer.ts';

const key = { algorithm: 'ES256', allowed_client_ids: '*', rotation_period: '1h', verification_ttl: '2h' };
const open: TestMount[] = [];
afterEach(async () => {
  for (const mount of open.splice(0)) await mount.close();
});

async function withKey(fields: Record<string, unknown> = {}): Promise<KillableMount> {
  const mount = await begunKey(fields);
  open.push(mount);
  return mount;
}

async function begunKey(fields: Record<string, unknown>): Promise<KillableMount> {
  const mount = await issuer();
  await answered(mount, 'update', 'identity/oidc/key/k', { ...key, ...fields });
  await answered(mount, 'update', 'identity/oidc/role/r', { key: 'k', ttl: '30m' });
  return mount;
}

describe('a key of identity tokens', () => {
  test('is published with the key that signs next, and a retired one stays for verification_ttl', async () => {
    const mount = await withKey();
    const ann = await login(mount);
    const first = await published(mount);
    expect(first).toHaveLength(2);
    const before = await identityToken(mount, 'r', ann);
    expect(keyIdOf(before)).toBe(first[0]);

    await mount.advance('1h');
    const second = await published(mount);
    expect(second).toEqual([first[1], expect.any(String), first[0]]);
    expect(keyIdOf(await identityToken(mount, 'r', ann))).toBe(first[1]);
    await mount.advance('1h');
    expect(await published(mount)).toEqual([second[1], expect.any(String), first[0], first[1]]);
    await mount.advance('59m');
    expect(await published(mount)).toContain(first[0]);
    await mount.advance('1m');
    expect(await published(mount)).not.toContain(first[0]);
  });

  test('is rotated at once on request, and forgets the retired one at once where it was stolen', async () => {
    const mount = await withKey();
    const ann = await login(mount);
    const token = await identityToken(mount, 'r', ann);
    const first = await published(mount);
    await answered(mount, 'update', 'identity/oidc/key/k/rotate');
    expect(await published(mount)).toEqual([first[1], expect.any(String), first[0]]);
    expect(await isActive(mount, token)).toBe(true);
    const second = await identityToken(mount, 'r', ann);
    await answered(mount, 'update', 'identity/oidc/key/k/rotate', { verification_ttl: 0 });
    expect(await published(mount)).not.toContain(keyIdOf(second));
    expect(await isActive(mount, second)).toBe(false);
    expect(await isActive(mount, token)).toBe(true);
    // The period counts from the last rotation.
    await mount.advance('59m');
    const now = await published(mount);
    await mount.advance('1m');
    expect((await published(mount))[0]).toBe(now[1]);
  });

  test('signs by another algorithm after the next rotation, so that verifiers know the key by then', async () => {
    const mount = await withKey();
    const ann = await login(mount);
    const [current, next] = await published(mount);
    await answered(mount, 'update', 'identity/oidc/key/k', { algorithm: 'EdDSA' });
    const changed = await published(mount);
    expect(changed).toEqual([current, expect.any(String)]);
    expect(changed[1]).not.toBe(next);
    expect(keyIdOf(await identityToken(mount, 'r', ann))).toBe(current);
    await mount.advance('1h');
    const token = await identityToken(mount, 'r', ann);
    expect(keyIdOf(token)).toBe(changed[1]);
    expect(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString())).toMatchObject({ alg: 'EdDSA' });
    expect(await isActive(mount, token)).toBe(true);
  });

  test('stays published for the tokens of a role that takes another key', async () => {
    const mount = await withKey();
    const [current] = await published(mount);
    await answered(mount, 'update', 'identity/oidc/key/other', key);
    await answered(mount, 'update', 'identity/oidc/role/r', { key: 'other' });
    expect(await published(mount)).toHaveLength(4);
    await mount.advance('29m');
    expect(await published(mount)).toContain(current);
    await mount.advance('1m');
    expect(await published(mount)).toHaveLength(2);
    expect(await published(mount)).not.toContain(current);
  });

  test('is retired for what it signed under a longer verification_ttl', async () => {
    const mount = await withKey();
    await answered(mount, 'update', 'identity/oidc/role/r', { ttl: '2h' });
    const token = await identityToken(mount, 'r', await login(mount));
    await answered(mount, 'update', 'identity/oidc/role/r', { ttl: '1m' });
    await answered(mount, 'update', 'identity/oidc/key/k', { verification_ttl: '1m' });
    await answered(mount, 'update', 'identity/oidc/key/k/rotate');
    await mount.advance('59m');
    const second = await published(mount);
    await mount.advance('1m');
    expect(await published(mount)).toContain(second[0]);
    await mount.advance('59m');
    expect(await published(mount)).toContain(keyIdOf(token));
    expect(await isActive(mount, token)).toBe(true);
    await mount.advance('1m');
    expect(await published(mount)).toHaveLength(3);
    await mount.advance('1m');
    expect(await published(mount)).toHaveLength(2);
  });

  test('signs and verifies by every algorithm', async () => {
    const mount = await withKey();
    const ann = await login(mount);
    for (const algorithm of ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'EdDSA']) {
      await answered(mount, 'update', `identity/oidc/key/${algorithm}`, { ...key, algorithm });
      await answered(mount, 'update', `identity/oidc/role/${algorithm}`, { key: algorithm, ttl: '30m' });
      const token = await identityToken(mount, algorithm, ann);
      expect([algorithm, await isActive(mount, token)]).toEqual([algorithm, true]);
      const forged = `${token.slice(0, -8)}${token.endsWith('AAAAAAAA') ? 'BBBBBBBB' : 'AAAAAAAA'}`;
      expect([algorithm, await isActive(mount, forged)]).toEqual([algorithm, false]);
    }
  });

  test('does not let verifiers keep the set beyond the next rotation, nor longer than an hour', async () => {
    const mount = await withKey({ rotation_period: '3h', verification_ttl: '3h' });
    const age = async (): Promise<string | undefined> =>
      (await mount.call('read', 'identity/oidc/.well-known/keys', { token: '' })).headers?.['Cache-Control'];
    expect(await age()).toBe('max-age=3600');
    await mount.advance('2h30m');
    expect(await age()).toBe('max-age=1800');
    await mount.clock.advance('30m');
    await answered(mount, 'delete', 'identity/oidc/role/r');
    expect(await published(mount)).toEqual([]);
    expect(await age()).toBe('no-store');
  });

  test('shows its private half nowhere', async () => {
    const mount = await withKey({ algorithm: 'RS256' });
    await answered(mount, 'update', 'identity/oidc/client/c', { key: 'k', id_token_ttl: '1h' });
    for (const path of ['key/k', '.well-known/keys', 'provider/default/.well-known/keys', 'client/c', 'role/r']) {
      const text = JSON.stringify(await answered(mount, 'read', `identity/oidc/${path}`));
      expect(text).not.toMatch(/"(?:d|p|q|dp|dq|qi|private_key)":/);
    }
    for (const { value } of await mount.storage.range({})) expect(Buffer.from(value).toString('latin1')).not.toContain('private_key');
    expect(await answered(mount, 'read', 'sys/schedule')).toMatchObject({
      jobs: [{ mount: 'identity/', kind: 'identity-key-rotation', id: 'k', attempts: 0 }],
    });
  });

  test('is not removed while something uses it, and its rotations end with it', async () => {
    const mount = await withKey();
    await answered(mount, 'update', 'identity/oidc/client/c', { key: 'k', id_token_ttl: '1h' });
    const remove = async (): Promise<unknown> => answered(mount, 'delete', 'identity/oidc/key/k');
    await expect(remove()).rejects.toThrow('unable to delete key "k" because it is currently referenced by these roles: r');
    await answered(mount, 'delete', 'identity/oidc/role/r');
    await expect(remove()).rejects.toThrow('unable to delete key "k" because it is currently referenced by these clients: c');
    await answered(mount, 'delete', 'identity/oidc/client/c');
    await remove();
    expect(await answered(mount, 'read', 'sys/schedule')).toMatchObject({ jobs: [] });
    await mount.advance('2h');
    expect((await answered(mount, 'list', 'identity/oidc/key'))['keys']).toEqual(['default']);
  });

  test('keeps its verification_ttl above the lives of the tokens that it signs', async () => {
    const mount = await withKey();
    await answered(mount, 'update', 'identity/oidc/client/c', { key: 'k', id_token_ttl: '20m' });
    const shorten = async (verification_ttl: string): Promise<unknown> =>
      answered(mount, 'update', 'identity/oidc/key/k', { verification_ttl });
    await expect(shorten('29m')).rejects.toThrow('referenced by one or more roles with a token ttl greater than 1740 seconds');
    await shorten('30m');
    await answered(mount, 'delete', 'identity/oidc/role/r');
    await expect(shorten('19m')).rejects.toThrow('referenced by one or more clients with an id_token_ttl greater than 1140 seconds');
  });

  test('of the name default is there from the start, and makes its keys when it is first used', async () => {
    const mount = await issuer();
    open.push(mount);
    expect(await answered(mount, 'list', 'identity/oidc/key')).toEqual({ keys: ['default'] });
    expect(await answered(mount, 'read', 'sys/schedule')).toMatchObject({ jobs: [] });
    await answered(mount, 'update', 'identity/oidc/key/default', { algorithm: 'ES256' });
    await answered(mount, 'update', 'identity/oidc/role/r', { key: 'default' });
    const ann = await login(mount);
    expect(await isActive(mount, await identityToken(mount, 'r', ann))).toBe(true);
    expect(await answered(mount, 'read', 'identity/oidc/key/default')).toMatchObject({ algorithm: 'ES256', allowed_client_ids: ['*'] });
  });
});

describe('several servers of one store', () => {
  test('rotate a key once, whichever comes first', async () => {
    const disk = sharedMemory();
    const clock = manualClock();
    const servers = [];
    for (let i = 0; i < 3; i += 1) servers.push(await mountForTest(passwordLogin('pw'), { storage: disk.open(), clock }));
    open.push(...servers);
    const [one, two, three] = servers as [TestMount, TestMount, TestMount];
    await answered(one, 'update', 'identity/oidc/key/k', key);
    await answered(two, 'update', 'identity/oidc/role/r', { key: 'k', ttl: '30m' });
    let last = await published(three);
    for (let period = 0; period < 6; period += 1) {
      await clock.advance('1h');
      await Promise.all(servers.map(async ({ core }) => core.settleSchedule()));
      const sets = await Promise.all(servers.map(published));
      expect(sets[1]).toEqual(sets[0]);
      expect(sets[2]).toEqual(sets[0]);
      // One step on: the previous next key signs, and the one that signed is the newest of the retired.
      expect([sets[0]![0], sets[0]!.at(-1)]).toEqual([last[1], last[0]]);
      last = sets[0]!;
    }
  });

  test('change it at the same time without losing a key', async () => {
    const disk = sharedMemory();
    const clock = manualClock();
    const one = await mountForTest(passwordLogin('pw'), { storage: disk.open(), clock });
    const two = await mountForTest(passwordLogin('pw'), { storage: disk.open(), clock });
    open.push(one, two);
    await answered(one, 'update', 'identity/oidc/key/k', key);
    await answered(one, 'update', 'identity/oidc/role/r', { key: 'k', ttl: '30m' });
    const before = await published(one);
    await Promise.all([one, two, one, two].map(async (server) => answered(server, 'update', 'identity/oidc/key/k/rotate')));
    const after = await published(two);
    expect(after).toHaveLength(6);
    expect(after).toEqual(expect.arrayContaining(before));
    expect(new Set(after).size).toBe(6);
  });
});

/** More than any change of a key commits. */
const MOST = 40;

describe('the process ends at any commit', () => {
  /** Nothing that was signed is lost, nothing signs that was not published before, and the key is rotated after all: at most once within these seconds. */
  const survives = async (
    seconds: number,
    change: (mount: KillableMount) => Promise<unknown>,
    before: (mount: KillableMount) => Promise<unknown> = async () => undefined,
  ): Promise<number> => {
    let died = 0;
    for (let commits = 0; commits < MOST; commits += 1) {
      const mount = await begunKey({});
      await answered(mount, 'update', 'identity/oidc/role/r', { ttl: '2h' });
      const token = await identityToken(mount, 'r', await login(mount));
      await before(mount);
      const known = await published(mount);
      mount.storage.dieAfter(commits);
      const dead = await mount.diesIn(change(mount));
      const heir = await mount.restart();
      const found = await published(heir);
      expect({ commits, found }).toEqual({ commits, found: expect.arrayContaining(known) });
      const now = await login(heir);
      expect({ commits, known, signs: known.includes(keyIdOf(await identityToken(heir, 'r', now))) }).toMatchObject({ signs: true });
      expect(await isActive(heir, token)).toBe(true);
      await heir.pass(seconds, 100);
      const later = await identityToken(heir, 'r', now);
      expect({ commits, known: found.includes(keyIdOf(later)) }).toEqual({ commits, known: true });
      expect((await published(heir)).includes(keyIdOf(later))).toBe(true);
      expect((await published(heir))[0]).not.toBe(known[0]);
      await heir.close();
      if (!dead) break;
      died += 1;
    }
    return died;
  };

  test('of a rotation by the schedule: no key is lost, and none is published late', async () => {
    const died = await survives(
      600,
      async (mount) => {
        await mount.clock.advance('1m');
        await mount.core.settleSchedule();
      },
      // Up to the minute in which it is due, only the core's own work commits.
      async (mount) => mount.clock.advance('59m'),
    );
    expect(died).toBeGreaterThan(1);
    expect(died).toBeLessThan(MOST);
  }, 120_000);

  test('of a rotation on request: no key is lost, and none is published late', async () => {
    const died = await survives(4_000, async (mount) => answered(mount, 'update', 'identity/oidc/key/k/rotate'));
    expect(died).toBeGreaterThan(0);
    expect(died).toBeLessThan(MOST);
  }, 120_000);
});

import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { openTestSession, type TestSession } from '@strongroom/sync-testkit';
import { vaultDestination, type VaultConnection } from '../src/index.ts';
import type { PeerDoor } from './peer-door.ts';
import { describeOnPeers } from './peers.ts';
import { connectionTo } from './vault-outside.ts';

const never = new AbortController().signal;
/** What the docs say a destination needs. */
const POLICY = `
path "secret/data/*" { capabilities = ["create", "update"] }
path "secret/metadata/*" { capabilities = ["create", "read", "update", "delete", "list"] }
`;

describeOnPeers('A login', (start) => {
  let door: PeerDoor;
  let session: TestSession;
  let secretId: string;
  let now = new Date();

  const open = async (more: Partial<VaultConnection>): Promise<void> => {
    session = await openTestSession(vaultDestination, connectionTo(door.address, more), { now: () => now });
  };
  const byRole = (more: Partial<VaultConnection> = {}): Promise<void> =>
    open({ token: undefined, role_id: 'sync-role', secret_id: secretId, approle_path: '/logins/', ...more });
  const seen = (part: string): number => door.exchanges.filter(({ path }) => path.includes(part)).length;

  beforeAll(async () => {
    door = await start();
    await door.ask('POST', 'sys/policies/acl/sync', { policy: POLICY });
    await door.ask('POST', 'sys/auth/logins', { type: 'approle' });
    await door.ask('POST', 'auth/logins/role/sync', { token_policies: 'sync', token_ttl: '1h', token_max_ttl: '3h' });
    await door.ask('POST', 'auth/logins/role/sync/role-id', { role_id: 'sync-role' });
    secretId = String((await door.ask('POST', 'auth/logins/role/sync/secret-id', {}))['secret_id']);
  }, 120_000);
  afterEach(async () => {
    door.heal();
    now = new Date();
    await session?.close();
  });
  afterAll(async () => door?.stop());

  test('by AppRole writes, reads, lists and removes with the rights that the docs name', async () => {
    await byRole();
    await session.write('a/b', 'x', { tags: { team: 'red' } });
    const current = (await session.read({ name: 'a/b', signal: never }))!;
    await session.write('a/b', 'y', { current });
    const listed: string[] = [];
    for await (const { name } of session.list({ destination: current.mark!.destination, signal: never })) listed.push(name);
    expect(listed).toEqual(['a/b']);
    await session.remove({ name: 'a/b', current, signal: never });
    expect(await session.read({ name: 'a/b', signal: never })).toBeUndefined();
    expect(seen('auth/logins/login')).toBe(1);
  });

  test('by AppRole ends with the session: its token is revoked', async () => {
    await byRole();
    await session.write('a', 'x');
    const { token } = door.exchanges.findLast(({ path }) => path.includes('/data/'))!;
    await session.close();
    const answer = await fetch(`${door.address}/v1/auth/token/lookup-self`, { headers: { 'x-vault-token': token! } });
    expect(answer.status).toBe(403);
  });

  test('by AppRole is renewed past half of its life', async () => {
    await byRole();
    await session.write('b', 'x');
    const renewals = seen('renew-self');
    now = new Date(now.getTime() + 29 * 60_000);
    await session.read({ name: 'b', signal: never });
    expect(seen('renew-self')).toBe(renewals);
    now = new Date(now.getTime() + 2 * 60_000);
    await session.read({ name: 'b', signal: never });
    await session.read({ name: 'b', signal: never });
    expect(seen('renew-self')).toBe(renewals + 1);
  });

  test('by AppRole is repeated where somebody has revoked the token', async () => {
    await byRole();
    await session.write('c', 'x');
    const logins = seen('auth/logins/login');
    const { token } = door.exchanges.findLast(({ path }) => path.includes('/data/'))!;
    await door.ask('POST', 'auth/token/revoke', { token });
    await expect(session.read({ name: 'c', signal: never })).rejects.toMatchObject({ code: 'client_side', providerCode: '403' });
    expect(await session.read({ name: 'c', signal: never })).toBeDefined();
    expect(seen('auth/logins/login')).toBe(logins + 1);
  });

  test.each([
    ['a wrong secret ID', { secret_id: 'wrong-secret-id' }],
    ['an unknown role', { role_id: 'nobody' }],
    ['another path', { approle_path: 'nowhere' }],
  ])('by AppRole with %s is refused and named', async (_title, more) => {
    await byRole(more);
    const refused = session.write('d', 'x');
    await expect(refused).rejects.toMatchObject({ code: 'client_side', providerCode: expect.stringMatching(/^40[034]$/) });
    await expect(refused).rejects.toThrow(/^the login by AppRole is refused with 40\d: /);
    await expect(refused).rejects.not.toThrow('wrong-secret-id');
  });

  test('with a token that expires renews it past half of its life', async () => {
    const { client_token: token } = await door.ask('POST', 'auth/token/create', { policies: ['sync'], period: '1h' });
    await open({ token: String(token) });
    await session.write('e', 'x');
    const renewals = seen('renew-self');
    now = new Date(now.getTime() + 31 * 60_000);
    await session.read({ name: 'e', signal: never });
    expect(seen('renew-self')).toBe(renewals + 1);
    expect(door.exchanges.findLast(({ path }) => path.includes('renew-self'))!.status).toBe(200);
  });

  test('with a token that cannot be renewed uses it as long as it lives', async () => {
    const { client_token: token } = await door.ask('POST', 'auth/token/create', { policies: ['sync'], ttl: '1h', renewable: false });
    await open({ token: String(token) });
    await session.write('f', 'x');
    const renewals = seen('renew-self');
    now = new Date(now.getTime() + 59 * 60_000);
    expect(await session.read({ name: 'f', signal: never })).toBeDefined();
    expect(seen('renew-self')).toBe(renewals);
  });

  test('with a token that may not look at itself works', async () => {
    const { client_token: token } = await door.ask('POST', 'auth/token/create', { policies: ['sync'], no_default_policy: true });
    await open({ token: String(token) });
    await session.write('g', 'x');
    expect(await session.read({ name: 'g', signal: never })).toBeDefined();
  });
});

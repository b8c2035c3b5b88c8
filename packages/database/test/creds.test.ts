import { afterAll, beforeAll, describe, expect, test, jest } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { connectionTo, CREATION, expiryOf, mountWithRole, usersOf } from './database-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('GET creds/:name', () => {
  let server: PostgresServer;
  let mount: TestMount;
  beforeAll(async () => {
    server = await startPostgres();
    mount = await mountWithRole(server);
  }, 60_000);
  afterAll(async () => {
    await mount.close();
    await server.stop();
  });

  test('issues a user that logs in, is renewed with its expiry in the database, and is gone when revoked', async () => {
    const answer = await mount.read('creds/app');
    const { username, password } = answer.data as { username: string; password: string };
    expect(username).toMatch(/^v-root-app-[A-Za-z0-9]{20}-\d{10}$/);
    expect(password).toMatch(/^[A-Za-z0-9-]{20}$/);
    expect(answer).toMatchObject({ leaseDuration: 3_600, renewable: true });
    expect(answer.leaseId).toMatch(/^database\/creds\/app\/[A-Za-z0-9]{24}$/);
    expect(await server.login(username, password)).toBe(username);
    const now = mount.clock.millis();
    expect(Math.abs((await expiryOf(server, username)) - (now + 3_605_000))).toBeLessThanOrEqual(1_000);

    const renewed = await mount.call('update', 'sys/leases/renew', { data: { lease_id: answer.leaseId, increment: 7_200 } });
    expect(renewed).toMatchObject({ status: 200, leaseDuration: 7_200 });
    expect(Math.abs((await expiryOf(server, username)) - (now + 7_205_000))).toBeLessThanOrEqual(1_000);

    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: answer.leaseId, sync: true } });
    await expect(server.login(username, password)).rejects.toThrow();
    expect(await usersOf(server)).toEqual([]);
  });

  test('idempotency_key: a call that is repeated, also at the same time, gets the same user, which is revoked once', async () => {
    const ask = async (idempotency_key: string) => mount.call('read', 'database/creds/app', { data: { idempotency_key } });
    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, async () => ask('job-7')));
    const { username, password } = first!.data as { username: string; password: string };
    for (const other of others) expect(other).toMatchObject({ data: { username, password }, leaseId: first!.leaseId });
    expect(await usersOf(server)).toEqual([username]);
    expect((await ask('job-8')).leaseId).not.toBe(first!.leaseId);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: first!.leaseId, sync: true } });
    const again = await ask('job-7');
    expect((again.data as { username: string }).username).not.toBe(username);
    await mount.call('update', 'sys/leases/revoke-prefix/database/creds', { data: { sync: true } });
    expect(await usersOf(server)).toEqual([]);
  });

  test('a lease that ends by itself takes the user away', async () => {
    await mount.read('creds/app');
    expect(await usersOf(server)).toHaveLength(1);
    await mount.advance('61m');
    expect(await usersOf(server)).toEqual([]);
  });

  test('an unknown role, a role that the connection does not allow, an unknown connection and missing statements are 400', async () => {
    await mount.write('config/narrow', connectionTo(server, { allowed_roles: 'ap*,other' }));
    await mount.write('roles/denied', { db_name: 'narrow', creation_statements: [CREATION] });
    await mount.write('roles/apple', { db_name: 'narrow', creation_statements: [CREATION] });
    await mount.write('roles/lost', { db_name: 'nodb', creation_statements: [CREATION] });
    await mount.write('roles/empty', { db_name: 'pg' });
    const texts = async (role: string) => {
      const { status, errors } = await mount.call('read', `database/creds/${role}`);
      return [status, ...(errors ?? [])];
    };
    expect(await texts('none')).toEqual([400, 'unknown role: none']);
    expect(await texts('denied')).toEqual([400, '1 error occurred:\n\t* "denied" is not an allowed role\n\n']);
    expect(await texts('lost')).toEqual([400, '1 error occurred:\n\t* failed to find entry for connection with name: "nodb"\n\n']);
    expect(await texts('empty')).toEqual([400, '1 error occurred:\n\t* empty creation statements\n\n']);
    const glob = await mount.read('creds/apple');
    expect(glob.status).toBe(200);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: glob.leaseId, sync: true } });
  });

  test('a statement that the database refuses is a 500 that names the database, and leaves nothing', async () => {
    await mount.write('roles/broken', { db_name: 'pg', creation_statements: [CREATION, 'SELEC nonsense'] });
    const answer = await mount.call('read', 'database/creds/broken');
    expect(answer.status).toBe(500);
    expect(answer.errors![0]).toContain('database "pg": failed to execute query: ERROR: syntax error at or near "SELEC" (SQLSTATE 42601)');
    await mount.advance(1);
    expect(await usersOf(server)).toEqual([]);
    expect((await mount.call('read', 'sys/journal')).data).toEqual({ intents: [] });
  });
});

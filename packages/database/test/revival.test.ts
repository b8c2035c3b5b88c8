import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { connectionTo, CREATION, mountWithRole, pass, usersOf } from './database-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('leases of a connection that was deleted or changed', () => {
  let server: PostgresServer;
  let other: PostgresServer;
  let mount: TestMount;
  const revoke = async (leaseId: string) => mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
  const leases = async () =>
    ((await mount.call('list', 'sys/leases/lookup/database/creds/app')).data as { keys: string[] } | null)?.keys ?? [];
  const made = async () => (await usersOf(server)).filter((name) => name.startsWith('v-'));
  beforeAll(async () => {
    [server, other] = await Promise.all([startPostgres(), startPostgres()]);
  }, 60_000);
  afterAll(async () => Promise.all([server.stop(), other.stop()]));
  beforeEach(async () => {
    await server.query(`CREATE ROLE boss SUPERUSER LOGIN PASSWORD 'boss-pw-first'`);
    mount = await mountWithRole(server);
    await mount.write('config/pg', { username: 'boss', password: 'boss-pw-first' });
  });
  afterEach(async () => {
    await mount.close();
    for (const name of await made()) await server.query(`DROP ROLE "${name}"`);
    await server.query('DROP ROLE boss');
  });

  test('are revived by a connection of the same name with a password that works: what waited is revoked at once', async () => {
    const { leaseId } = await mount.read('creds/app');
    for (let i = 0; i < 3; i += 1) await mount.read('creds/app');
    await server.query(`ALTER ROLE boss PASSWORD 'boss-pw-second'`);
    const answer = await mount.delete('config/pg');
    expect(answer.warnings!.join()).toContain('4 credentials made through this connection are still live');
    // The session that was open is gone with the connection.
    const refused = await revoke(leaseId);
    expect(refused.status).toBe(400);
    expect(refused.errors!.join()).toContain('write a connection "pg" to its server, with a password that works');
    await pass(mount, 3_700);
    expect(await made()).toHaveLength(4);
    expect((await mount.call('read', 'sys/leases', { data: { type: 'irrevocable' } })).data).toMatchObject({
      leases: expect.arrayContaining([expect.objectContaining({ error: expect.stringContaining('write a connection "pg"') })]),
    });
    await mount.write('config/pg', connectionTo(server, { username: 'boss', password: 'boss-pw-second' }));
    await mount.advance(1);
    expect(await made()).toEqual([]);
    expect(await leases()).toEqual([]);
  });

  test('a password that is corrected on a connection has what waited revoked at once', async () => {
    await mount.read('creds/app');
    await mount.write('config/pg', { password: 'wrong', verify_connection: false });
    await pass(mount, 3_700);
    expect(await made()).toHaveLength(1);
    await mount.write('config/pg', { password: 'boss-pw-first' });
    await mount.advance(1);
    expect(await made()).toEqual([]);
  });

  test('a connection of the same name that was not verified is tried where the previous settings do not work', async () => {
    const { leaseId } = await mount.read('creds/app');
    await mount.delete('config/pg');
    await mount.write('config/pg', connectionTo(server, { verify_connection: false }));
    await server.query(`ALTER ROLE boss PASSWORD 'boss-pw-second'`);
    expect((await revoke(leaseId)).status).toBe(204);
    expect(await made()).toEqual([]);
  });

  test('a connection of the same name that leads elsewhere ends no lease of a user that it does not know', async () => {
    const { leaseId } = await mount.read('creds/app');
    await server.query(`ALTER ROLE boss PASSWORD 'boss-pw-second'`);
    await mount.delete('config/pg');
    await mount.write('config/pg', connectionTo(other));
    expect((await revoke(leaseId)).status).toBe(400);
    expect(await made()).toHaveLength(1);
    await mount.write('config/pg', connectionTo(server));
    await mount.advance(1);
    expect(await made()).toEqual([]);
  });

  test('a connection that is changed to lead elsewhere takes no lease along: its users are removed where they were made', async () => {
    await mount.read('creds/app');
    await mount.write('config/pg', connectionTo(other));
    await mount.read('creds/app');
    expect((await usersOf(other)).filter((name) => name.startsWith('v-'))).toHaveLength(1);
    await pass(mount, 3_700);
    expect(await made()).toEqual([]);
    expect((await usersOf(other)).filter((name) => name.startsWith('v-'))).toEqual([]);
    expect(await leases()).toEqual([]);
  });

  test('leases of a deleted role are revived by a role of the same name whose revocation works', async () => {
    await mount.write('roles/app', {
      db_name: 'pg',
      creation_statements: CREATION,
      revocation_statements: ['DROP ROLE "{{name}}-nobody"'],
    });
    await mount.read('creds/app');
    await mount.delete('roles/app');
    await pass(mount, 3_700);
    expect(await made()).toHaveLength(1);
    await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION });
    await mount.write('roles/app', { revocation_statements: ['DROP ROLE "{{name}}"'] });
    await mount.advance(1);
    expect(await made()).toEqual([]);
  });
});

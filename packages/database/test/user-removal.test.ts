import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import pg from 'pg';
import { CREATION, mountWithRole, pass, usersOf } from './database-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('a user that cannot be removed', () => {
  let server: PostgresServer;
  let mount: TestMount;
  interface Creds {
    readonly username: string;
    readonly password: string;
  }
  const revoke = async (leaseId: string) => mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    mount = await mountWithRole(server);
    await mount.write('roles/owner', {
      db_name: 'pg',
      creation_statements: [CREATION, 'CREATE TABLE owned (a int)', 'ALTER TABLE owned OWNER TO "{{name}}"'],
      default_ttl: '1h',
    });
  });
  afterEach(async () => {
    await mount.close();
    await server.query('DROP TABLE IF EXISTS owned');
    for (const name of await usersOf(server)) await server.query(`DROP ROLE "${name}"`);
  });

  test('since it owns something loses its login and its sessions first; the lease stays, says why, and ends once the user can go', async () => {
    const { leaseId, data } = await mount.read('creds/owner');
    const { username, password } = data as Creds;
    expect(await server.login(username, password)).toBe(username);
    const refused = await revoke(leaseId);
    expect(refused.status).toBe(400);
    expect(refused.errors!.join()).toMatch(/the user stays, but its login was taken away; .*depend on it: owner of table owned/s);
    await expect(server.login(username, password)).rejects.toThrow(/password authentication failed/);
    expect((await mount.call('update', 'sys/leases/lookup', { data: { lease_id: leaseId } })).status).toBe(200);
    await pass(mount, 3_700);
    const { leases } = (await mount.call('read', 'sys/leases', { data: { type: 'irrevocable' } })).data as { leases: { error: string }[] };
    expect(leases[0]!.error).toContain('the user stays, but its login was taken away');
    await server.query('DROP TABLE owned');
    expect((await revoke(leaseId)).status).toBe(204);
    expect(await usersOf(server)).toEqual([]);
  });

  test.each([
    ['reassign', 'postgres'],
    ['drop', undefined],
  ])('since it owns something goes with on_owned_objects=%s: what it owned is then of %s', async (on_owned_objects, owner) => {
    await mount.write('roles/owner', { on_owned_objects });
    const { leaseId } = await mount.read('creds/owner');
    expect((await revoke(leaseId)).status).toBe(204);
    expect(await usersOf(server)).toEqual([]);
    expect((await server.query(`SELECT tableowner FROM pg_tables WHERE tablename = 'owned'`))[0]?.['tableowner']).toBe(owner);
  });

  test('on_owned_objects is refused with revocation_statements, with another word, and where the plugin cannot', async () => {
    const written = async (data: Record<string, unknown>) => (await mount.call('update', 'database/roles/owner', { data })).errors?.join();
    expect(await written({ on_owned_objects: 'drop', revocation_statements: ['DROP ROLE "{{name}}"'] })).toContain(
      'on_owned_objects is for the removal by the plugin',
    );
    expect(await written({ on_owned_objects: 'keep' })).toMatch(/on_owned_objects.*fail, reassign, drop/);
    expect((await mount.read('roles/owner')).data).toMatchObject({ end_sessions: true, on_owned_objects: 'fail' });
  });

  test('sessions end with the user, and go on with end_sessions=false', async () => {
    for (const end_sessions of [true, false]) {
      await mount.write('roles/app', { end_sessions });
      const { leaseId, data } = await mount.read('creds/app');
      const { username, password } = data as Creds;
      const client = new pg.Client({ host: server.host, port: server.port, user: username, password, database: 'postgres', ssl: false });
      const ended = new Promise<string>((resolve) => client.on('error', (error) => resolve((error as pg.DatabaseError).code ?? 'cut')));
      await client.connect();
      expect((await revoke(leaseId)).status).toBe(204);
      expect(await usersOf(server)).toEqual([]);
      if (end_sessions) expect(await ended).toBe('57P01');
      else expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
      await client.end();
    }
  });

  test('is removed also by a managing user that may neither change its login nor end its sessions', async () => {
    await server.query(`CREATE ROLE keeper LOGIN CREATEROLE PASSWORD 'keeper-pw'`);
    await mount.write('config/pg', { username: 'keeper', password: 'keeper-pw' });
    await mount.write('roles/owner', {
      creation_statements: [CREATION, 'CREATE SCHEMA owned_by AUTHORIZATION keeper', 'DROP SCHEMA owned_by'],
    });
    await server.query('GRANT CREATE ON DATABASE postgres TO keeper');
    const { leaseId, data } = await mount.read('creds/owner');
    const { username, password } = data as Creds;
    const client = new pg.Client({ host: server.host, port: server.port, user: username, password, database: 'postgres', ssl: false });
    client.on('error', () => undefined);
    await client.connect();
    expect((await revoke(leaseId)).status).toBe(204);
    await client.end();
    await mount.write('config/pg', { username: server.superuser, password: server.password });
    await server.query('REVOKE CREATE ON DATABASE postgres FROM keeper');
    expect(await usersOf(server)).toEqual(['keeper']);
  });

  test('by revocation_statements that fail, or that do nothing, has no login any more all the same', async () => {
    await mount.write('roles/app', { revocation_statements: ['DROP ROLE "{{name}}-nobody"'] });
    const failing = await mount.read('creds/app');
    const one = failing.data as Creds;
    expect((await revoke(failing.leaseId)).errors!.join()).toContain('the user stays, but its login was taken away; ');
    await expect(server.login(one.username, one.password)).rejects.toThrow(/password authentication failed/);
    expect((await mount.write('roles/app', { revocation_statements: [`SELECT '{{name}}'`] })).status).toBe(204);
    const idle = await mount.read('creds/app');
    const two = idle.data as Creds;
    expect((await revoke(idle.leaseId)).status).toBe(204);
    await expect(server.login(two.username, two.password)).rejects.toThrow(/password authentication failed/);
  });
});

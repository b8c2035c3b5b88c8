import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, jest } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { connectionTo, CREATION, mountDatabase } from './database-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('POST rotate-root/:name', () => {
  let server: PostgresServer;
  let mount: TestMount;
  const refusal = async (name: string) => {
    const { status, errors } = await mount.call('update', `database/rotate-root/${name}`);
    return [status, ...(errors ?? [])].join();
  };
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    await server.query(`CREATE ROLE boss SUPERUSER LOGIN PASSWORD 'boss-pw-first'`);
    mount = await mountDatabase();
    await mount.write('config/pg', connectionTo(server, { username: 'boss', password: 'boss-pw-first' }));
    await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION });
  });
  afterEach(async () => {
    await mount.close();
    for (const { rolname } of await server.query(`SELECT rolname FROM pg_roles WHERE rolname LIKE 'v-%' OR rolname = 'boss'`)) {
      await server.query(`DROP ROLE "${rolname}"`);
    }
  });

  test('changes the password to one that nobody else knows, and the connection goes on working', async () => {
    await mount.read('creds/app');
    expect((await mount.write('rotate-root/pg')).status).toBe(204);
    await expect(server.login('boss', 'boss-pw-first')).rejects.toThrow();
    await mount.read('creds/app');
    await mount.write('reset/pg');
    await mount.write('rotate-root/pg');
    await mount.read('creds/app');
    const { data } = await mount.read('config/pg');
    expect(data).toMatchObject({ root_rotation: { state: 'idle', attempts: 0, last_error: null, last_success: expect.any(String) } });
    expect((data as { connection_details: object }).connection_details).not.toHaveProperty('password');
  });

  test('root_rotation_statements: run in place of those of the plugin', async () => {
    await mount.write('config/pg', {
      root_rotation_statements: [`ALTER ROLE "{{username}}" PASSWORD '{{password}}'`, `COMMENT ON ROLE "{{name}}" IS 'rotated'`],
    });
    await mount.write('rotate-root/pg');
    const [row] = await server.query(`SELECT shobj_description(oid, 'pg_authid') AS said FROM pg_roles WHERE rolname = 'boss'`);
    expect(row!['said']).toBe('rotated');
    await mount.read('creds/app');
  });

  test('statements that fail or change nothing are a 500, and the previous password stays in use', async () => {
    await mount.write('config/pg', { root_rotation_statements: ['SELEC nonsense'] });
    expect(await refusal('pg')).toContain('500,1 error occurred:\n\t* database "pg": failed to update user: failed to execute query');
    expect((await mount.read('config/pg')).data).toMatchObject({ root_rotation: { state: 'failed', last_success: null } });
    await mount.write('config/pg', { root_rotation_statements: ['SELECT 1'] });
    expect(await refusal('pg')).toContain(
      'failed to update user: the change was acknowledged, but the old credential is still the one that is taken',
    );
    expect(await server.login('boss', 'boss-pw-first')).toBe('boss');
    await mount.write('reset/pg');
    await mount.read('creds/app');
    const failing = (await mount.read('failing')).data as { root_rotations: Record<string, { state: string }> };
    expect(failing.root_rotations['pg']!.state).toBe('failed');
  });

  test('calls at the same time are one rotation', async () => {
    await server.query('CREATE TABLE IF NOT EXISTS rotations (at timestamptz)');
    const root_rotation_statements = ['INSERT INTO rotations VALUES (now())', `ALTER ROLE "{{username}}" PASSWORD '{{password}}'`];
    await mount.write('config/pg', { root_rotation_statements });
    const answers = await Promise.all(Array.from({ length: 5 }, async () => mount.call('update', 'database/rotate-root/pg')));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
    expect(await server.query('SELECT * FROM rotations')).toHaveLength(1);
    await mount.write('reset/pg');
    await mount.read('creds/app');
  });

  test('an unknown connection and settings without user name or password are 400', async () => {
    expect(await refusal('none')).toBe('400,1 error occurred:\n\t* failed to find entry for connection with name: "none"\n\n');
    const url = `postgresql://boss:boss-pw-first@${server.host}:${server.port}/postgres`;
    await mount.write('config/plain', { plugin_name: 'postgresql-database-plugin', connection_url: url });
    expect(await refusal('plain')).toContain('400,1 error occurred:\n\t* unable to rotate root credentials: no username in configuration');
    await mount.write('config/plain', { username: 'boss' });
    expect(await refusal('plain')).toContain('unable to rotate root credentials: no password in configuration');
    await mount.write('config/plain', { password: 'boss-pw-first' });
    expect(await refusal('plain')).toContain('connection_url holds a password');
    expect(await server.login('boss', 'boss-pw-first')).toBe('boss');
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, jest } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { databaseEngine } from '../src/index.ts';
import { connectionTo, CREATION, mountDatabase } from './database-mount.ts';
import { faultyDatabase } from './faulty-plugin.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('POST config/:name, by parameter', () => {
  let server: PostgresServer;
  let mount: TestMount;
  const asked = async (path: string, data?: Record<string, unknown>, operation: 'read' | 'update' = data ? 'update' : 'read') => {
    const { status, errors } = await mount.call(operation, `database/${path}`, data ? { data } : {});
    return [status, ...(errors ?? [])].join();
  };
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    mount = await mountDatabase();
  });
  afterEach(async () => {
    await mount.call('update', 'sys/leases/revoke-prefix/database', { data: { sync: true } });
    await mount.close();
  });

  test('name: letters, digits, dots, dashes and underscores; another one names no connection', async () => {
    expect(await asked('config/a.b-c_1', connectionTo(server))).toBe('204');
    expect(await asked('config/-a', connectionTo(server))).toMatch(/^404|^400/);
    expect(await asked('config/a b', connectionTo(server))).toMatch(/^404|^400/);
    expect((await mount.list('config')).data).toEqual({ keys: ['a.b-c_1'] });
  });

  test('plugin_name: required at the first write, kept by those that follow', async () => {
    expect(await asked('config/pg', { ...connectionTo(server), plugin_name: '' })).toBe('400,empty plugin name');
    await mount.write('config/pg', connectionTo(server));
    await mount.write('config/pg', { allowed_roles: 'a' });
    expect((await mount.read('config/pg')).data).toMatchObject({ plugin_name: 'postgresql-database-plugin', allowed_roles: ['a'] });
  });

  test('verify_connection: true unless sent, and then nothing is stored that does not connect', async () => {
    const nobody = connectionTo(server, { connection_url: 'postgresql://{{username}}:{{password}}@127.0.0.1:1/postgres' });
    expect(await asked('config/pg', nobody)).toMatch(/^400,error creating database object: error verifying connection/);
    expect(await asked('config/pg')).toBe('404');
    expect(await asked('config/pg', { ...nobody, verify_connection: false })).toBe('204');
    expect(await asked('config/pg', { ...nobody, verify_connection: 'maybe' })).toContain('verify_connection');
  });

  test('verify_connection: a write that does not send it keeps what was stored', async () => {
    const nobody = connectionTo(server, { connection_url: 'postgresql://{{username}}:{{password}}@127.0.0.1:1/postgres' });
    await mount.write('config/pg', { ...nobody, verify_connection: false });
    expect(await asked('config/pg', { allowed_roles: 'a' })).toBe('204');
    expect(await asked('config/pg', { verify_connection: true })).toMatch(
      /^400,error creating database object: error verifying connection/,
    );
    expect(await asked('config/pg', { allowed_roles: 'b' })).toBe('204');
  });

  test('allowed_roles: none unless sent; by name, by glob, and "*" for all; of static roles too', async () => {
    await server.query(`CREATE ROLE fixed LOGIN PASSWORD 'of-old'`);
    const { allowed_roles: _none, ...bare } = connectionTo(server);
    await mount.write('config/pg', bare);
    await mount.write('roles/app-1', { db_name: 'pg', creation_statements: CREATION });
    const station = { db_name: 'pg', username: 'fixed', rotation_period: '1h' };
    expect((await mount.read('config/pg')).data).toMatchObject({ allowed_roles: [] });
    expect(await asked('creds/app-1')).toContain('400,1 error occurred:\n\t* "app-1" is not an allowed role');
    expect(await asked('static-roles/st', station)).toContain('400,1 error occurred:\n\t* "st" is not an allowed role');
    for (const allowed of ['x,app-1', ['app-*'], ['*-1'], '*']) {
      await mount.write('config/pg', { allowed_roles: allowed });
      expect(await asked('creds/app-1')).toBe('200');
    }
    await mount.write('config/pg', { allowed_roles: ['app', 'APP-1', 'app-?'] });
    expect(await asked('creds/app-1')).toContain('is not an allowed role');
    await mount.write('config/pg', { allowed_roles: ['st'] });
    expect(await asked('static-roles/st', station)).toBe('204');
    // What may no longer be used is no longer rotated either, and says why.
    await mount.write('config/pg', { allowed_roles: [] });
    expect(await asked('rotate-role/st', {})).toContain('"st" is not an allowed role');
    await mount.delete('static-roles/st');
    await server.query('DROP ROLE fixed');
  });

  test('password_policy: without one, 20 characters with an upper-case letter, a lower-case letter, a digit and a dash at least', async () => {
    await mount.close();
    const memory = faultyDatabase();
    mount = await mountForTest(databaseEngine, { plugins: [memory.plugin] });
    await mount.write('config/db', { plugin_name: memory.plugin.name, host: 'h', allowed_roles: '*' });
    await mount.write('roles/app', { db_name: 'db', creation_statements: '{}' });
    for (let i = 0; i < 200; i += 1) {
      const { password } = (await mount.read('creds/app')).data as { password: string };
      expect(password).toMatch(/^(?=.*[A-Z])(?=.*[a-z])(?=.*\d)(?=.*-)[A-Za-z0-9-]{20}$/);
    }
  });

  test('connection_url: {{username}}, {{name}} and {{password}} stand for the root user, in a URL and in a keyword DSN', async () => {
    const { host, port } = server;
    const forms = [
      `postgresql://{{username}}:{{password}}@${host}:${port}/postgres`,
      `postgresql://{{name}}:{{password}}@${host}:${port}/postgres`,
      `host=${host} port=${port} user={{username}} password={{password}} dbname=postgres`,
    ];
    await server.query(`CREATE ROLE "odd one" SUPERUSER LOGIN PASSWORD 'it''s 100% \\ odd'`);
    for (const connection_url of forms) {
      expect(await asked('config/pg', connectionTo(server, { connection_url }))).toBe('204');
      const odd = { connection_url, username: 'odd one', password: "it's 100% \\ odd" };
      expect(await asked('config/pg', connectionTo(server, odd))).toBe('204');
      const { connection_details: shown } = (await mount.read('config/pg')).data as { connection_details: Record<string, unknown> };
      expect(shown).toMatchObject({ connection_url, username: 'odd one' });
    }
    await server.query('DROP ROLE "odd one"');
    expect(await asked('config/no', connectionTo(server, { connection_url: '' }))).toContain('connection_url cannot be empty');
  });

  test('username, password: the root user; the password is never read back', async () => {
    await mount.write('config/pg', connectionTo(server));
    const shown = JSON.stringify((await mount.read('config/pg')).data);
    expect(shown).toContain('"username":"postgres"');
    expect(shown).not.toContain(server.password);
    expect(shown).not.toContain('"password"');
    expect(await asked('config/pg', { password: 'another-one' })).toMatch(/^400.*28P01/s);
    // The previous password is still the stored one.
    expect(await asked('reset/pg', {})).toBe('204');
  });

  test('POST roles/:name, POST static-roles/:name: a policy that allows only update does not allow to create, and the other way round', async () => {
    await server.query(`CREATE ROLE fixed LOGIN PASSWORD 'of-old'`);
    await mount.write('config/pg', connectionTo(server));
    const tokenFor = async (capability: string) => {
      const rule = (path: string) => `path "database/${path}/*" { capabilities = ["${capability}"] }`;
      await mount.call('update', `sys/policies/acl/${capability}`, { data: { policy: `${rule('roles')}\n${rule('static-roles')}` } });
      return (await mount.call('update', 'auth/token/create', { data: { policies: [capability] } })).auth!.client_token;
    };
    const [creator, updater] = [await tokenFor('create'), await tokenFor('update')];
    const bodies = {
      'roles/app': { db_name: 'pg', creation_statements: CREATION },
      'static-roles/st': { db_name: 'pg', username: 'fixed', rotation_period: '1h' },
    };
    for (const [path, data] of Object.entries(bodies)) {
      const write = async (token: string) => (await mount.call('update', `database/${path}`, { token, data })).status;
      expect(await write(updater)).toBe(403);
      expect(await write(creator)).toBe(204);
      expect(await write(creator)).toBe(403);
      expect(await write(updater)).toBe(204);
    }
    await mount.delete('static-roles/st');
    await server.query('DROP ROLE fixed');
  });
});

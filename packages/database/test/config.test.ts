import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, jest } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { databaseEngine } from '../src/index.ts';
import { connectionTo, CREATION, mountDatabase, usersOf } from './database-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('connections', () => {
  let server: PostgresServer;
  let mount: TestMount;
  const refusal = async (operation: 'read' | 'update', path: string, data?: Record<string, unknown>) => {
    const { status, errors } = await mount.call(operation, `database/${path}`, data ? { data } : {});
    return [status, ...(errors ?? [])];
  };
  const details = async (name: string) =>
    ((await mount.read(`config/${name}`)).data as { connection_details: Record<string, unknown> }).connection_details;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    mount = await mountDatabase();
  });
  afterEach(async () => mount.close());

  test('POST, GET, LIST and DELETE config/:name', async () => {
    expect((await mount.call('read', 'database/config/pg')).status).toBe(404);
    expect((await mount.call('list', 'database/config')).status).toBe(404);
    expect((await mount.write('config/pg', connectionTo(server, { allowed_roles: ['a', 'b'] }))).status).toBe(204);
    expect((await mount.read('config/pg')).data).toEqual({
      plugin_name: 'postgresql-database-plugin',
      plugin_version: '',
      allowed_roles: ['a', 'b'],
      connection_details: {
        connection_url: `postgresql://{{username}}:{{password}}@${server.host}:${server.port}/postgres?sslmode=disable`,
        username: 'postgres',
      },
      root_credentials_rotate_statements: [],
      password_policy: '',
      skip_static_role_import_rotation: false,
      queue_limit: 256,
      call_deadline: 45,
      circuit_failures: 5,
      circuit_pause: 5,
      root_rotation: { state: 'idle', attempts: 0, next_attempt: null, last_success: null, last_error: null },
    });
    expect((await mount.list('config')).data).toEqual({ keys: ['pg'] });
    expect((await mount.delete('config/pg')).status).toBe(204);
    expect((await mount.call('read', 'database/config/pg')).status).toBe(404);
    expect((await mount.delete('config/pg')).status).toBe(204);
  });

  test('POST config/:name: a policy that allows only update does not allow to create, and the other way round', async () => {
    const policy = (capability: string) => ({ policy: `path "database/config/*" { capabilities = ["${capability}"] }` });
    await mount.call('update', 'sys/policies/acl/creator', { data: policy('create') });
    await mount.call('update', 'sys/policies/acl/updater', { data: policy('update') });
    const tokenOf = async (name: string) => {
      const answer = await mount.call('update', 'auth/token/create', { data: { policies: [name] } });
      return answer.auth!.client_token;
    };
    const [creator, updater] = [await tokenOf('creator'), await tokenOf('updater')];
    const write = async (token: string) =>
      (await mount.call('update', 'database/config/pg', { token, data: connectionTo(server, { verify_connection: false }) })).status;
    expect(await write(updater)).toBe(403);
    expect(await write(creator)).toBe(204);
    expect(await write(creator)).toBe(403);
    expect(await write(updater)).toBe(204);
  });

  test('a write keeps what it does not send, removes what is null, and keeps unknown keys', async () => {
    await mount.write('config/pg', connectionTo(server, { foo: 'bar', max_open_connections: '3', password_policy: 'p' }));
    await mount.write('config/pg', { allowed_roles: 'x', foo: null, more: { a: 1 } });
    const { data } = await mount.read('config/pg');
    expect(data).toMatchObject({ allowed_roles: ['x'], password_policy: 'p', plugin_name: 'postgresql-database-plugin' });
    const shown = await details('pg');
    expect(shown).toMatchObject({ username: 'postgres', max_open_connections: '3', more: { a: 1 } });
    expect(shown).not.toHaveProperty('foo');
    await mount.write('config/pg', { verify_connection: true });
  });

  test('what cannot work is a 400 that says why, and is not stored', async () => {
    expect(await refusal('update', 'config/x', { allowed_roles: '*' })).toEqual([400, 'empty plugin name']);
    expect(await refusal('update', 'config/x', { plugin_name: 'nope' })).toEqual([
      400,
      'error creating database object: plugin not found in the catalog: nope',
    ]);
    const plugin_name = 'postgresql-database-plugin';
    expect(await refusal('update', 'config/x', { plugin_name })).toEqual([
      400,
      'error creating database object: connection_url cannot be empty',
    ]);
    const wrong = async (more: Record<string, unknown>) => (await refusal('update', 'config/x', connectionTo(server, more))).join();
    expect(await wrong({ password: 'not-the-password' })).toMatch(
      /^400,error creating database object: error verifying connection: .*28P01/s,
    );
    expect(await wrong({ password: 'not-the-password' })).not.toContain('not-the-password');
    expect(await wrong({ connection_url: 'postgresql://{{username}}:{{password}}@127.0.0.1:1/postgres' })).toContain('400,error creating');
    expect(await wrong({ password_authentication: 'zz' })).toContain("'zz' is not a valid password authentication type");
    expect(await wrong({ max_open_connections: 'many' })).toContain('max_open_connections must be integer');
    expect(await wrong({ username_template: '{{ .Nobody }}' })).toContain('unable to initialize username template');
    expect(await wrong({ plugin_version: 'v9.9.9' })).toContain('plugin version not found in the catalog');
    expect((await mount.call('read', 'database/config/x')).status).toBe(404);
  });

  test('verify_connection=false: settings are stored without connecting, and fail when they are used', async () => {
    const data = connectionTo(server, { verify_connection: false, password: 'not-the-password' });
    expect((await mount.write('config/pg', data)).status).toBe(204);
    await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION });
    const [status, text] = await refusal('read', 'creds/app');
    expect(status).toBe(500);
    expect(text).toContain('database "pg": failed to connect');
  });

  test('connection_url: no form of URL or DSN shows a password, and a password in clear is warned of', async () => {
    const url = `postgresql://postgres:${server.password}@${server.host}:${server.port}/postgres`;
    const answer = await mount.write('config/url', { plugin_name: 'postgresql-database-plugin', connection_url: url });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.warnings).toEqual([expect.stringContaining('Password found in connection_url, use a templated url')]);
    const dsn = `host=${server.host} port=${server.port} user=postgres password=${server.password} dbname=postgres`;
    await mount.write('config/dsn', { plugin_name: 'postgresql-database-plugin', connection_url: dsn, extra_password: 'hidden-extra' });
    const shown = JSON.stringify([await details('url'), await details('dsn')]);
    expect(shown).not.toContain(server.password);
    expect(shown).not.toContain('hidden-extra');
    expect((await details('url'))['connection_url']).toBe(url.replace(server.password, 'xxxxx'));
  });

  test.each([
    'postgresql://u:GEHEIM@h:5432/db',
    'postgresql://h/db?user=u&password=GEHEIM',
    'host=h user=u password=GEHEIM',
    `host=h password='GE HEIM'`,
    'u:GEHEIM@tcp(h:3306)/db',
    'u:GE@HE:IM/@unix(/tmp/s.sock)/',
    'u/GEHEIM@h:1521/svc',
    'sqlserver://u:GEHEIM@h?database=d',
    'Server=h;User ID=u;Password=GE HEIM;Encrypt=true',
    'Driver={x};UID=u;PWD={GE;HEIM}',
    'mongodb+srv://u:GEHEIM@h/admin?retryWrites=true',
    'redis://:GEHEIM@h:6379',
    'jdbc:oracle:thin:u/GEHEIM@//h:1521/svc',
  ])('connection_details show no password of %s, under whatever name it was sent', async (url) => {
    const settings = {
      verify_connection: false,
      connection_url: 'postgresql://h/',
      url,
      hosts: [url],
      replica: { dsn: url, password: 'GEHEIM' },
    };
    await mount.write('config/any', { plugin_name: 'postgresql-database-plugin', ...settings });
    const shown = JSON.stringify((await mount.read('config/any')).data);
    expect(shown).toContain('xxxxx');
    expect(shown).not.toMatch(/GE|HEIM/);
  });

  test('disable_escaping: special characters of user name and password are escaped in the URL, and with it they are not', async () => {
    await server.query(`CREATE ROLE "we/ird@r:ole" LOGIN PASSWORD 'p@ss/w:rd?#%'`);
    const login = { username: 'we/ird@r:ole', password: 'p@ss/w:rd?#%' };
    expect((await mount.write('config/esc', connectionTo(server, login))).status).toBe(204);
    const escaped = { username: encodeURIComponent(login.username), password: encodeURIComponent(login.password) };
    expect((await mount.write('config/raw', connectionTo(server, { ...escaped, disable_escaping: true }))).status).toBe(204);
    expect((await refusal('update', 'config/no', connectionTo(server, { ...login, disable_escaping: true })))[0]).toBe(400);
    await server.query('DROP ROLE "we/ird@r:ole"');
  });

  test('password_policy: that of the connection, or of the role, makes the passwords', async () => {
    const policy = (length: number) => ({ policy: `length = ${length}\nrule "charset" { charset = "abcdef" }` });
    await mount.call('update', 'sys/policies/password/short', { data: policy(12) });
    await mount.call('update', 'sys/policies/password/long', { data: policy(40) });
    await mount.write('config/pg', connectionTo(server, { password_policy: 'short' }));
    await mount.write('roles/a', { db_name: 'pg', creation_statements: CREATION });
    await mount.write('roles/b', { db_name: 'pg', creation_statements: CREATION, credential_config: { password_policy: 'long' } });
    await mount.write('roles/c', { db_name: 'pg', creation_statements: CREATION, credential_config: { password_policy: 'none' } });
    expect((await mount.read('creds/a')).data).toMatchObject({ password: expect.stringMatching(/^[a-f]{12}$/) });
    expect((await mount.read('creds/b')).data).toMatchObject({ password: expect.stringMatching(/^[a-f]{40}$/) });
    expect((await refusal('read', 'creds/c')).join()).toMatch(/^400.*password_policy "none"/s);
    await mount.call('update', 'sys/leases/revoke-prefix/database/creds', { data: { sync: true } });
  });

  test('plugin_version: chooses among the installed versions; empty means the newest', async () => {
    await mount.close();
    const seen: string[] = [];
    const version = (text: string) => ({
      ...postgresqlPlugin,
      version: text,
      open: async (...args: Parameters<typeof postgresqlPlugin.open>) => {
        seen.push(text);
        return postgresqlPlugin.open(...args);
      },
    });
    mount = await mountForTest(databaseEngine, { plugins: [version('1.2.0'), version('1.10.0'), version('2.0.0-rc1')] });
    await mount.write('config/old', connectionTo(server, { plugin_version: 'v1.2.0' }));
    await mount.write('config/new', connectionTo(server));
    expect(seen).toEqual(['1.2.0', '2.0.0-rc1']);
    expect((await mount.read('config/old')).data).toMatchObject({ plugin_version: 'v1.2.0' });
  });

  test('POST reset/:name opens the connection again, and POST reload/:plugin does so for all of a plugin', async () => {
    await mount.write('config/pg', connectionTo(server));
    expect((await mount.write('reset/pg')).status).toBe(204);
    expect(await refusal('update', 'reset/none')).toEqual([
      400,
      '1 error occurred:\n\t* failed to find entry for connection with name: "none"\n\n',
    ]);
    await mount.write('config/two', connectionTo(server));
    expect((await mount.write('reload/postgresql-database-plugin')).data).toEqual({ connections: ['pg', 'two'], count: 2 });
    expect((await refusal('update', 'reload/nope'))[0]).toBe(400);
    await server.halt();
    const [status, text] = await refusal('update', 'reset/pg');
    expect(status).toBe(500);
    expect(text).toContain('database "pg": error verifying connection');
    await server.restart();
    expect((await mount.write('reset/pg')).status).toBe(204);
  });

  test('POST reset/:name closes the connections to the database and makes new ones', async () => {
    await mount.write('config/pg', connectionTo(server));
    const backends = async () => {
      const rows = await server.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE application_name = 'strongroom' AND backend_type = 'client backend'`,
      );
      return rows.map(({ pid }) => pid);
    };
    const before = await backends();
    expect(before).toHaveLength(1);
    await mount.write('reset/pg');
    const after = await backends();
    expect(after.some((pid) => !before.includes(pid))).toBe(true);
  });

  test('DELETE config/:name and DELETE roles/:name with live credentials say how many, and they can still be revoked', async () => {
    await mount.write('config/pg', connectionTo(server));
    await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION });
    await mount.read('creds/app');
    const { leaseId } = await mount.read('creds/app');
    const role = await mount.delete('roles/app');
    expect(role.warnings).toEqual(['2 credentials of this role are still live. They can be revoked, but not renewed.']);
    await mount.write('roles/kept', { db_name: 'pg', creation_statements: CREATION });
    const kept = await mount.read('creds/kept');
    const connection = await mount.delete('config/pg');
    expect(connection.warnings).toEqual([
      '3 credentials made through this connection are still live. They can be renewed and revoked as before.',
    ]);
    expect((await mount.call('update', 'sys/leases/renew', { data: { lease_id: kept.leaseId } })).status).toBe(200);
    // Another connection of that name, to somewhere else, has nothing to do with them.
    await mount.write('config/pg', connectionTo(server, { verify_connection: false, password: 'another' }));
    expect(await usersOf(server)).toHaveLength(3);
    expect((await mount.call('update', 'sys/leases/renew', { data: { lease_id: kept.leaseId } })).status).toBe(200);
    const revoked = await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
    expect(revoked.status).toBe(204);
    const others = await mount.call('update', 'sys/leases/revoke-prefix/database', { data: { sync: true } });
    expect([others.status, others.errors]).toEqual([204, undefined]);
    expect(await usersOf(server)).toEqual([]);
  });

  test('DELETE config/:name says how many static roles use it', async () => {
    for (const name of ['st-one', 'st-two']) {
      await server.query(`CREATE ROLE "${name}" LOGIN PASSWORD 'of-old'`);
    }
    await mount.write('config/pg', connectionTo(server));
    await mount.write('config/other', connectionTo(server));
    await mount.write('static-roles/one', { db_name: 'pg', username: 'st-one', rotation_period: '1h' });
    expect((await mount.delete('config/other')).warnings).toBeNull();
    expect((await mount.delete('config/pg')).warnings).toEqual([
      '1 static role uses this connection. It is not rotated until there is a connection named "pg" again.',
    ]);
    await mount.write('config/pg', connectionTo(server));
    await mount.write('static-roles/two', { db_name: 'pg', username: 'st-two', rotation_period: '1h' });
    await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION });
    await mount.read('creds/app');
    expect((await mount.delete('config/pg')).warnings).toEqual([
      '1 credential made through this connection is still live. It can be renewed and revoked as before.',
      '2 static roles use this connection. They are not rotated until there is a connection named "pg" again.',
    ]);
  });
});

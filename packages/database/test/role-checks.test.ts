import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { mongodbPlugin } from '@strongroom/database-mongodb';
import { neo4jPlugin } from '@strongroom/database-neo4j';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { redisPlugin } from '@strongroom/database-redis';
import { databaseEngine } from '../src/index.ts';
import { CREATION } from './database-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('what would fail later is said when it is written', () => {
  let mount: TestMount;
  const write = async (path: string, data: Record<string, unknown>) => {
    const { status, errors, warnings } = await mount.call('update', `database/${path}`, { data });
    return [status, ...(errors ?? []), ...(warnings ?? [])].join();
  };
  const role = async (data: Record<string, unknown>) => write('roles/app', { db_name: 'pg', creation_statements: CREATION, ...data });
  const SQL = { username: 'root', password: 'geheim', verify_connection: false, allowed_roles: 'app' };
  beforeEach(async () => {
    mount = await mountForTest(databaseEngine, { plugins: [postgresqlPlugin, redisPlugin, mongodbPlugin, neo4jPlugin] });
    await mount.write('config/pg', { plugin_name: 'postgresql-database-plugin', connection_url: 'postgresql://db-1/', ...SQL });
    await mount.write('config/redis', { plugin_name: 'redis-database-plugin', host: 'db-1', ...SQL });
    await mount.write('config/mongo', { plugin_name: 'mongodb-database-plugin', connection_url: 'mongodb://db-1/', ...SQL });
  });
  afterEach(async () => mount.close());

  test('a good role answers 204, also where the plugin has statements of its own', async () => {
    expect(await role({})).toBe('204');
    expect(await role({ db_name: 'redis', creation_statements: [] })).toBe('204');
    expect(await role({ db_name: 'mongo', creation_statements: ['{"db":"admin","roles":["read"]}'] })).toBe('204');
  });

  test.each([
    ['no creation_statements', { creation_statements: [] }, 'creation_statements: none are given'],
    ['an unknown db_name', { db_name: 'nodb' }, 'db_name: there is no connection "nodb" yet'],
    [
      'a statement without the name',
      { creation_statements: [`CREATE ROLE x PASSWORD '{{password}}'`] },
      'creation_statements: no statement contains {{name}}',
    ],
    [
      'a statement without the password',
      { creation_statements: ['CREATE ROLE "{{name}}"'] },
      'creation_statements: no statement contains {{password}}',
    ],
    ['an unsupported credential_type', { credential_type: 'rsa_private_key' }, 'does not support credential_type "rsa_private_key"'],
    ['a revocation without the name', { revocation_statements: ['DROP ROLE x'] }, 'revocation_statements: no statement contains {{name}}'],
    ['a password policy that is not there', { credential_config: { password_policy: 'none' } }, 'there is no password policy "none"'],
  ])('%s is a warning that names the field', async (_, data, text) => {
    expect(await role(data)).toContain(`200,`);
    expect(await role(data)).toContain(text);
  });

  test('a role that its connection does not allow is a warning', async () => {
    expect(await write('roles/other', { db_name: 'pg', creation_statements: CREATION })).toBe(
      '200,db_name: the allowed_roles of the connection "pg" do not hold this role',
    );
  });

  test.each([
    ['an unknown placeholder', { creation_statements: [`CREATE ROLE "{{nmae}}" PASSWORD '{{password}}'`] }, 'creation_statements: '],
    ['rules that are no JSON', { db_name: 'redis', creation_statements: ['+@read'] }, 'creation_statements: '],
    ['a default_ttl beyond max_ttl', { default_ttl: '2h', max_ttl: '1h' }, 'default_ttl'],
  ])('%s is a 400 that names the field', async (_, data, text) => {
    expect(await role(data)).toContain(`400,${text}`);
    expect((await mount.call('read', 'database/roles/app')).status).toBe(404);
  });

  test.each([
    ['rotation_statements', { rotation_statements: ['SELECT 1'] }, 'rotation_statements: no statement contains {{password}}'],
    ['credential_type', { credential_type: 'rsa_private_key' }, 'does not support credential_type'],
    ['db_name', { db_name: 'nodb' }, 'failed to find entry for connection with name: "nodb"'],
    ['rotation_schedule', { rotation_period: undefined, rotation_schedule: 'daily at 3' }, 'rotation_schedule'],
  ])('a wrong %s of a static role is a 400, and the role is not stored', async (_, data, text) => {
    const answer = await write('static-roles/app', { db_name: 'pg', username: 'u', rotation_period: '1h', ...data });
    expect(answer).toContain('400,');
    expect(answer).toContain(text);
    expect((await mount.call('read', 'database/static-roles/app')).status).toBe(404);
  });

  test('a parameter that the plugin does not know is a warning that names the nearest one', async () => {
    expect(await write('config/pg', { max_open_conections: 3, zzz: 1 })).toBe(
      '200,"max_open_conections" is not a parameter of postgresql-database-plugin: it was stored and has no effect; did you mean "max_open_connections"?,' +
        '"zzz" is not a parameter of postgresql-database-plugin: it was stored and has no effect',
    );
    expect(await write('config/pg', { max_open_conections: null, zzz: null })).toBe('204');
  });

  test('other values of a connection that will fail or do nothing are warnings', async () => {
    expect(await write('config/pg', { allowed_roles: ['app', 'my role'] })).toBe('200,allowed_roles: no role can be called "my role"');
    expect(await write('config/pg', { allowed_roles: 'app', password_policy: 'none' })).toBe(
      '200,password_policy: there is no password policy "none"',
    );
    expect(await write('config/pg', { password_policy: '', root_rotation_statements: ['SELECT 1'] })).toContain(
      '200,root_rotation_statements: no statement contains {{password}}',
    );
  });

  test('what a database grants to every user is a warning at the connection, and at a role that does not limit it', async () => {
    const connection = { plugin_name: 'neo4j-database-plugin', connection_url: 'bolt://db-1', ...SQL };
    const caution = /^200,In Neo4j's Community Edition every user has all rights on all data; [^.]*\.$/;
    expect(await write('config/graph', connection)).toMatch(caution);
    expect(await write('roles/app', { db_name: 'graph' })).toMatch(caution);
    const limited = ['CREATE USER {{name}} SET PASSWORD {{password}}', 'GRANT ROLE reader TO {{name}}'];
    expect(await write('roles/app', { db_name: 'graph', creation_statements: limited })).toBe('204');
  });
});

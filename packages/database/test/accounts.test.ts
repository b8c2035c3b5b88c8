import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { connectionTo, CREATION, mountDatabase, pass } from './database-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('one account has one manager', () => {
  let server: PostgresServer;
  let mount: TestMount;
  const write = async (path: string, data: Record<string, unknown> = {}) => {
    const { status, errors, warnings } = await mount.call('update', path, { data });
    return [status, ...(errors ?? []), ...(warnings ?? [])].join();
  };
  const role = (more: Record<string, unknown> = {}) => ({ db_name: 'pg', username: 'fixed', rotation_period: '1h', ...more });
  const passwordOf = async (at: string) => ((await mount.call('read', at)).data as { password: string }).password;
  const statusOf = async (at: string) => ((await mount.call('read', at)).data as { status: { state: string; managed_by?: string } }).status;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    await server.query(`CREATE ROLE fixed LOGIN PASSWORD 'of-old'; CREATE ROLE boss SUPERUSER LOGIN PASSWORD 'boss-pw-first'`);
    mount = await mountDatabase();
    await mount.write('config/pg', connectionTo(server));
    await mount.write('static-roles/one', role());
    await mount.call('update', 'sys/mounts/other', { data: { type: 'database' } });
    await mount.call('update', 'other/config/theirs', { data: connectionTo(server) });
  });
  afterEach(async () => {
    await mount.close();
    await server.query('DROP ROLE fixed; DROP ROLE boss');
  });

  test('a second static role on a user is refused, with the name of the first: on the same connection, on another one to the same server, and on another mount', async () => {
    const password = await passwordOf('database/static-creds/one');
    await mount.write('config/alias', {
      ...connectionTo(server),
      connection_url: `host=LOCALHOST port=${server.port} user={{username}} password={{password}} dbname=template1 sslmode=disable`,
    });
    const refused = /^400,"fixed" is already managed by the secrets engine: static role "one" of (this mount|database\/).*send adopt=true/;
    expect(await write('database/static-roles/two', role())).toMatch(refused);
    expect(await write('database/static-roles/two', role({ db_name: 'alias' }))).toMatch(refused);
    expect(await write('other/static-roles/two', role({ db_name: 'theirs' }))).toMatch(refused);
    for (const at of ['database/static-roles/two', 'other/static-roles/two']) expect((await mount.call('read', at)).status).toBe(404);
    expect(await server.login('fixed', password)).toBe('fixed');
    await mount.delete('static-roles/one');
    expect(await write('other/static-roles/two', role({ db_name: 'theirs' }))).toBe('204');
  });

  test('adopt=true takes the user over; who lost it stops rotating, says so in its status, and can take it back', async () => {
    expect(await write('other/static-roles/two', role({ db_name: 'theirs', adopt: true }))).toBe('204');
    const theirs = await passwordOf('other/static-creds/two');
    expect(await server.login('fixed', theirs)).toBe('fixed');
    expect(await statusOf('database/static-roles/one')).toMatchObject({ state: 'taken_over', managed_by: 'static role "two" of other/' });
    await pass(mount, 3_000);
    expect(await server.login('fixed', theirs)).toBe('fixed');
    expect(await write('database/rotate-role/one')).toMatch(/^400,.*managed by .*static role "two" of other\//s);
    expect((await mount.read('static-creds/one')).warnings!.join()).toContain('"fixed" is managed by static role "two" of other/ now');
    expect(await write('database/static-roles/one', { username: 'fixed', adopt: true })).toBe('204');
    await pass(mount, 60);
    expect(await server.login('fixed', await passwordOf('database/static-creds/one'))).toBe('fixed');
    expect((await statusOf('other/static-roles/two')).state).toBe('taken_over');
  });

  test('the user that a connection logs in as cannot be that of a static role of it, and not unasked that of another one', async () => {
    await mount.write('config/own', connectionTo(server, { username: 'boss', password: 'boss-pw-first' }));
    expect(await write('database/static-roles/b', role({ db_name: 'own', username: 'boss' }))).toBe(
      '400,username: "boss" is the user that the connection "own" logs in as; its password is changed by rotate-root/own',
    );
    expect(await write('database/static-roles/b', role({ username: 'boss' }))).toMatch(
      /^400,.*the connection "own" of database\/ logs in as/,
    );
    expect(await write('other/static-roles/b', role({ db_name: 'theirs', username: 'boss' }))).toMatch(
      /the connection "own" of database\//,
    );
    expect(await server.login('boss', 'boss-pw-first')).toBe('boss');
    expect(await write('other/static-roles/b', role({ db_name: 'theirs', username: 'boss', adopt: true }))).toBe('204');
    expect(await server.login('boss', await passwordOf('other/static-creds/b'))).toBe('boss');
  });

  test('rotate-root is refused for a user that another mount manages, and with adopt=true takes it over', async () => {
    const boss = { username: 'boss', password: 'boss-pw-first' };
    await mount.write('config/own', connectionTo(server, boss));
    await mount.call('update', 'other/config/own2', { data: connectionTo(server, boss) });
    const first = await write('database/rotate-root/own');
    expect(first).toBe(
      '200,the connection "own2" of other/ logs in as the same user, and needs the new password, which nobody can read: give it a user of its own',
    );
    expect(await write('other/rotate-root/own2')).toMatch(/^400,.*the root credential of connection "own" of database\//s);
    await server.query(`ALTER ROLE boss PASSWORD 'boss-pw-second'`);
    await mount.call('update', 'other/config/own2', { data: { password: 'boss-pw-second' } });
    expect(await write('other/rotate-root/own2', { adopt: true })).toMatch(/^200,the connection "own" of database\//);
    await mount.call('update', 'other/reset/own2');
    expect((await mount.read('config/own')).data).toMatchObject({
      root_rotation: { state: 'taken_over', managed_by: 'the root credential of connection "own2" of other/' },
    });
    await mount.call('delete', 'other/config/own2');
    expect((await mount.read('config/own')).data).toMatchObject({ root_rotation: { state: 'idle' } });
  });

  test('a connection that logs in as another user lets go of the one before', async () => {
    await mount.write('config/own', connectionTo(server, { username: 'boss', password: 'boss-pw-first' }));
    await mount.write('rotate-root/own');
    expect(await write('database/static-roles/b', role({ username: 'boss' }))).toMatch(/^400/);
    await mount.write('config/own', connectionTo(server));
    expect(await write('database/static-roles/b', role({ username: 'boss' }))).toBe('204');
  });

  test('a mount that goes by force names the users that are left, and those whose only password it holds', async () => {
    await mount.write('config/own', connectionTo(server, { username: 'boss', password: 'boss-pw-first' }));
    await mount.write('rotate-root/own');
    await mount.write('roles/app', {
      db_name: 'pg',
      creation_statements: CREATION,
      revocation_statements: ['DROP ROLE "{{name}}-nobody"'],
    });
    const { username } = (await mount.read('creds/app')).data as { username: string };
    const password = await passwordOf('database/static-creds/one');
    const answer = await mount.call('delete', 'sys/mounts/database', { data: { force: true } });
    const said = JSON.stringify(answer);
    for (const name of [username, 'fixed', 'boss', 'connection \\"pg\\"', 'static-creds/one']) expect(said).toContain(name);
    expect(said).not.toContain(password);
    // Nobody manages them any more.
    expect(await write('other/static-roles/two', role({ db_name: 'theirs' }))).toBe('204');
    await server.query(`DROP ROLE "${username}"`);
  });
});

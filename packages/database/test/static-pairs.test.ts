import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { KillableMount, TestMount } from '@strongroom/engine-testkit';
import { mysqlPlugin } from '@strongroom/database-mysql';
import { describeWithMariadb, type MariadbServer, type PostgresServer, startMariadb, startPostgres } from '@strongroom/lab';
import { connectionTo, mountDatabase, pass, usersOf } from './database-mount.ts';
import { killableDatabase } from './killable-database.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

interface Creds {
  readonly username: string;
  readonly password: string;
  readonly previous?: { readonly username: string; readonly valid_until: string | null };
}

const role = { db_name: 'pg', usernames: ['app_a', 'app_b'], rotation_period: '1h' };

describe('a static role with a pair of users', () => {
  let server: PostgresServer;
  let mount: TestMount;
  const write = async (data: Record<string, unknown>, path = 'static-roles/app') => {
    const { status, errors, warnings } = await mount.call('update', `database/${path}`, { data });
    return [status, ...(errors ?? []), ...(warnings ?? [])].join();
  };
  const creds = async () => (await mount.read('static-creds/app')).data as Creds;
  const logsIn = async ({ username, password }: Creds) => expect(await server.login(username, password)).toBe(username);
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    await server.query(`CREATE ROLE app_a LOGIN PASSWORD 'a-of-old'; CREATE ROLE app_b LOGIN PASSWORD 'b-of-old'`);
    mount = await mountDatabase();
    await mount.write('config/pg', connectionTo(server));
  });
  afterEach(async () => {
    await mount.close();
    for (const name of await usersOf(server)) await server.query(`DROP ROLE "${name}"`);
  });

  test('its creation changes the second user and hands it out, and whoever uses the first one goes on', async () => {
    expect(await write(role)).toBe('204');
    const first = await creds();
    expect(first.username).toBe('app_b');
    await logsIn(first);
    expect(await server.login('app_a', 'a-of-old')).toBe('app_a');
    await expect(server.login('app_b', 'b-of-old')).rejects.toThrow();
  });

  test('each rotation hands out the other user, and the one before logs in until the next', async () => {
    await write(role);
    const first = await creds();
    await mount.advance('1h');
    const second = await creds();
    expect([second.username, second.previous!.username]).toEqual(['app_a', 'app_b']);
    await logsIn(first);
    await logsIn(second);
    const { last_vault_rotation } = (await mount.read('static-roles/app')).data as { last_vault_rotation: string };
    const last = Date.parse(last_vault_rotation);
    expect(Date.parse(second.previous!.valid_until!)).toBe(last + 3_600_000);
    expect(await write({}, 'rotate-role/app')).toBe('204');
    const third = await creds();
    expect([third.username, third.previous!.username]).toEqual(['app_b', 'app_a']);
    await logsIn(second);
    await logsIn(third);
    await expect(server.login('app_b', first.password)).rejects.toThrow();
  });

  test('without a plan the previous user has no end, and a read of the role shows the pair in place of a user', async () => {
    await write({ ...role, rotation_period: undefined, disable_automated_rotation: true });
    expect((await creds()).previous).toEqual({ username: 'app_a', valid_until: null });
    const { data } = await mount.read('static-roles/app');
    expect(data).toMatchObject({ usernames: ['app_a', 'app_b'] });
    expect(data).not.toHaveProperty('username');
  });

  test('a rotation that the database refuses leaves what is handed out as it is, without a doubt, and names no previous user', async () => {
    await write(role);
    const first = await creds();
    await server.query('DROP ROLE app_a');
    expect(await write({}, 'rotate-role/app')).toMatch(/^500,.*app_a/s);
    const answer = await mount.read('static-creds/app');
    expect(answer.data).toMatchObject({ username: 'app_b', password: first.password });
    expect([answer.data, answer.warnings]).toEqual([expect.not.objectContaining({ previous: expect.anything() }), null]);
    await logsIn(first);
    await server.query(`CREATE ROLE app_a LOGIN PASSWORD 'a-again'`);
    expect(await write({}, 'rotate-role/app')).toBe('204');
    expect((await creds()).username).toBe('app_a');
    await logsIn(await creds());
  });

  test('a change that is acknowledged and not in force is not handed out', async () => {
    await write(role);
    const first = await creds();
    await write({ usernames: role.usernames, rotation_statements: [`SELECT '{{username}} {{password}}'`] });
    expect(await write({}, 'rotate-role/app')).toMatch(/^500,.*the new credential is not taken/s);
    expect(await creds()).toMatchObject({ username: 'app_b', password: first.password });
    expect((await mount.read('static-creds/app')).warnings).toBeNull();
  });

  test('with the database down static-creds answers at once, also in the middle of a rotation', async () => {
    await write(role);
    const first = await creds();
    await server.halt();
    expect(await write({}, 'rotate-role/app')).toMatch(/^500,/);
    expect(await creds()).toMatchObject({ username: 'app_b', password: first.password });
    await server.restart();
    await pass(mount, 300);
    expect((await creds()).username).toBe('app_a');
    await logsIn(await creds());
    await logsIn(first);
  });

  test('an import hands out the first user with the password that is given, and its first rotation changes the second', async () => {
    expect(await write({ ...role, skip_import_rotation: true, password: 'a-of-old' })).toBe('204');
    const imported = await creds();
    expect(imported).toMatchObject({ username: 'app_a', password: 'a-of-old' });
    expect(imported).not.toHaveProperty('previous');
    await mount.advance('1h');
    expect(await creds()).toMatchObject({ username: 'app_b', previous: { username: 'app_a' } });
    await logsIn(await creds());
    await logsIn(imported);
  });

  test.each([
    [{ usernames: ['app_a'] }, /^400,usernames: exactly two different users/],
    [{ usernames: ['app_a', 'app_a'] }, /^400,usernames: exactly two different users/],
    [{ usernames: ['app_a', 'app_b', 'app_c'] }, /^400,usernames: exactly two different users/],
    [{ usernames: ['app_a', ''] }, /^400,usernames: exactly two different users/],
    [{ username: 'app_a' }, /^400,username and usernames were both sent/],
    [{ usernames: ['app_a', 'postgres'] }, /^400,usernames: "postgres" is the user that the connection "pg" logs in as/],
    [{ usernames: [`${'n'.repeat(63)}1`, `${'n'.repeat(63)}2`] }, /^400,usernames: the database takes both for one user/],
  ])('%j is a 400 that says what is right, and no role is stored', async (sent, refusal) => {
    expect(await write({ ...role, ...sent })).toMatch(refusal);
    expect((await mount.call('read', 'database/static-roles/app')).status).toBe(404);
    expect(await server.login('app_b', 'b-of-old')).toBe('app_b');
  });

  test('a user that the database does not list is warned of at creation', async () => {
    expect(await write({ ...role, usernames: ['app_x', 'app_b'] })).toMatch(/^200,.*does not list a user "app_x"/);
  });

  test('each user belongs to one static role, whichever of the pair it is; a deletion frees both', async () => {
    await write(role);
    const one = (username: string) => ({ db_name: 'pg', username, rotation_period: '1h' });
    expect(await write(one('app_a'), 'static-roles/other')).toMatch(/^400,"app_a" is already managed .*static role "app"/);
    expect(await write(one('app_b'), 'static-roles/other')).toMatch(/^400,"app_b" is already managed .*static role "app"/);
    expect(await write({ ...role, usernames: ['app_c', 'app_a'] }, 'static-roles/other')).toMatch(/^400,"app_a" is already managed/);
    await mount.delete('static-roles/app');
    expect(await write(one('app_b'), 'static-roles/other')).toBe('204');
    expect(await write(one('app_a'), 'static-roles/third')).toBe('204');
    expect(await write(role)).toMatch(/^400,"app_[ab]" is already managed/);
  });

  test('a pair that loses one user to another role stops rotating, and says which user it was', async () => {
    await write(role);
    expect(await write({ db_name: 'pg', username: 'app_b', rotation_period: '1h', adopt: true }, 'static-roles/other')).toBe('204');
    expect((await mount.read('static-roles/app')).data).toMatchObject({ status: { state: 'taken_over' } });
    expect((await mount.read('static-creds/app')).warnings!.join()).toContain('"app_b" is managed by static role "other"');
    expect(await write({}, 'rotate-role/app')).toMatch(/^400,"app_b" is already managed/);
  });

  test('its users stay, and a pair and one user do not turn into each other', async () => {
    await write(role);
    expect(await write({ usernames: ['app_b', 'app_a'] })).toMatch(/^400,usernames: the users of a static role cannot be changed/);
    expect(await write({ username: 'app_a' })).toMatch(/^400,usernames: the users of a static role cannot be changed/);
    expect(await write({ rotation_period: '2h' })).toBe('204');
    await mount.delete('static-roles/app');
    await write({ db_name: 'pg', username: 'app_a', rotation_period: '1h' });
    expect(await write({ usernames: role.usernames })).toMatch(/^400,usernames: a static role of one user cannot become a pair/);
  });
});

describe('a server that dies while a pair is rotated', () => {
  let database: PostgresServer;
  let server: KillableMount;
  let closeSessions: () => Promise<void>;
  beforeAll(async () => {
    database = await startPostgres();
  }, 60_000);
  afterAll(async () => database.stop());
  beforeEach(async () => {
    for (const name of await usersOf(database)) await database.query(`DROP ROLE "${name}"`);
    await database.query(`CREATE ROLE app_a LOGIN PASSWORD 'a-of-old'; CREATE ROLE app_b LOGIN PASSWORD 'b-of-old'`);
    ({ server, closeSessions } = await killableDatabase());
    await server.ask('update', 'database/config/pg', connectionTo(database));
  });
  afterEach(async () => {
    server.storage.die();
    await closeSessions();
  });
  const creds = async () => {
    const { data, status } = await server.ask('read', 'database/static-creds/app');
    expect(status).toBe(200);
    return data as unknown as Creds;
  };
  const logsIn = async ({ username, password }: Creds) => expect(await database.login(username, password)).toBe(username);

  test.each([0, 1, 2, 3])(
    'after %i commits: what is answered logs in, at once and later, and so does what was answered before',
    async (commits) => {
      expect((await server.ask('update', 'database/static-roles/app', { ...role, rotation_period: '24h' })).status).toBe(204);
      const before = await creds();
      server.storage.dieAfter(commits);
      const died = await server.diesIn(server.ask('update', 'database/rotate-role/app'));
      expect(died).toBe(commits < 2);
      server = await server.restart();
      await logsIn(await creds());
      await logsIn(before);
      await server.pass(240);
      const after = await creds();
      expect(after.username).toBe(commits === 0 ? 'app_b' : 'app_a');
      await logsIn(after);
      await logsIn(before);
    },
  );

  test.each([0, 1, 2])('after %i commits of its creation: it is whole or not there', async (commits) => {
    server.storage.dieAfter(commits);
    await server.diesIn(server.ask('update', 'database/static-roles/app', { ...role, rotation_period: '24h' }));
    server = await server.restart();
    await server.pass(240);
    expect(await database.login('app_a', 'a-of-old')).toBe('app_a');
    if (commits === 0) expect((await server.ask('read', 'database/static-creds/app')).status).toBe(400);
    else await logsIn(await creds());
  });
});

describeWithMariadb('a pair of users of MariaDB', () => {
  let server: MariadbServer;
  let mount: TestMount;
  beforeAll(async () => {
    server = await startMariadb();
  }, 60_000);
  afterAll(async () => server?.stop());
  beforeEach(async () => {
    mount = await mountDatabase({ plugins: [mysqlPlugin] });
  });
  afterEach(async () => mount.close());

  test('is rotated in turns, and both users log in after each rotation', async () => {
    await server.query(`CREATE USER app_a@'%' IDENTIFIED BY 'a-of-old'`);
    await server.query(`CREATE USER app_b@'%' IDENTIFIED BY 'b-of-old'`);
    await mount.write('config/maria', {
      plugin_name: 'mysql-database-plugin',
      allowed_roles: '*',
      connection_url: `{{username}}:{{password}}@tcp(${server.host}:${server.port})/`,
      username: server.superuser,
      password: server.password,
    });
    await mount.write('static-roles/app', { ...role, db_name: 'maria' });
    const seen: Creds[] = [];
    for (let round = 0; round < 3; round += 1) {
      seen.push((await mount.read('static-creds/app')).data as Creds);
      await mount.write('rotate-role/app', {});
      for (const { username, password } of [seen.at(-1)!, (await mount.read('static-creds/app')).data as Creds]) {
        expect(await server.login(username, password)).toContain(username);
      }
    }
    expect(seen.map(({ username }) => username)).toEqual(['app_b', 'app_a', 'app_b']);
  });
});

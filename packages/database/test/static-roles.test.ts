import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, jest } from '@jest/globals';
import { manualClock, type TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { connectionTo, mountDatabase, pass } from './database-mount.ts';

interface StaticCreds {
  username: string;
  password: string;
  ttl: number;
  rotation_period?: number;
  last_vault_rotation: string;
}

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('static roles', () => {
  let server: PostgresServer;
  let mount: TestMount;
  const creds = async (name = 'st'): Promise<StaticCreds> => (await mount.read(`static-creds/${name}`)).data as StaticCreds;
  const refusal = async (data: Record<string, unknown>, name = 'bad') => {
    const { status, errors } = await mount.call('update', `database/static-roles/${name}`, { data });
    return [status, ...(errors ?? [])];
  };
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    await server.query(`CREATE ROLE fixed LOGIN PASSWORD 'of-old'`);
    mount = await mountDatabase();
    await mount.write('config/pg', connectionTo(server));
  });
  afterEach(async () => {
    await mount.close();
    await server.query('DROP ROLE IF EXISTS fixed');
  });

  test('POST, GET, LIST and DELETE static-roles/:name: the password is rotated at creation, and the user stays when the role goes', async () => {
    const created = await mount.write('static-roles/st', { db_name: 'pg', username: 'fixed', rotation_period: '24h' });
    expect(created.status).toBe(204);
    await expect(server.login('fixed', 'of-old')).rejects.toThrow();
    const read = await mount.read('static-roles/st');
    expect(read.data).toMatchObject({
      db_name: 'pg',
      username: 'fixed',
      credential_type: 'password',
      rotation_period: 86_400,
      rotation_statements: [],
      status: { state: 'waiting', attempts: 0, last_error: null },
    });
    expect(read.data).not.toHaveProperty('rotation_schedule');
    expect((await mount.list('static-roles')).data).toEqual({ keys: ['st'] });
    const { password } = await creds();
    await mount.delete('static-roles/st');
    expect((await mount.call('read', 'database/static-roles/st')).status).toBe(404);
    expect((await mount.call('list', 'database/static-roles')).status).toBe(404);
    expect(await server.login('fixed', password)).toBe('fixed');
    await mount.advance('48h');
    expect(await server.login('fixed', password)).toBe('fixed');
  });

  test('GET static-creds/:name answers without a lease, with the time that is left', async () => {
    await mount.write('static-roles/st', { db_name: 'pg', username: 'fixed', rotation_period: '24h' });
    const answer = await mount.read('static-creds/st');
    expect(answer.leaseId).toBe('');
    const first = await creds();
    expect(first).toMatchObject({ username: 'fixed', ttl: 86_400, rotation_period: 86_400 });
    expect(first.password).toMatch(/^[A-Za-z0-9-]{20}$/);
    expect(first.last_vault_rotation).toBe(mount.clock.now().toISOString());
    await mount.advance('1h');
    expect(await creds()).toEqual({ ...first, ttl: 82_800 });
    expect(await refusalOf('read', 'static-creds/none')).toEqual([400, 'unknown role: none']);
  });

  test('POST rotate-role/:name rotates now and begins the period again', async () => {
    await mount.write('static-roles/st', { db_name: 'pg', username: 'fixed', rotation_period: '24h' });
    const before = await creds();
    await mount.advance('5h');
    expect((await mount.write('rotate-role/st')).status).toBe(204);
    const after = await creds();
    expect(after.password).not.toBe(before.password);
    expect(after.ttl).toBe(86_400);
    expect(await server.login('fixed', after.password)).toBe('fixed');
    await expect(server.login('fixed', before.password)).rejects.toThrow();
    await mount.advance('20h');
    expect((await creds()).password).toBe(after.password);
    expect(await refusalOf('update', 'rotate-role/none')).toEqual([400, 'no static role found for role name']);
  });

  test('several calls of rotate-role at a time are one rotation', async () => {
    await server.query('CREATE TABLE IF NOT EXISTS rotations (at timestamptz)');
    await server.query('DELETE FROM rotations');
    const rotation_statements = [`INSERT INTO rotations VALUES (now())`, `ALTER ROLE "{{name}}" PASSWORD '{{password}}'`];
    await mount.write('static-roles/st', { db_name: 'pg', username: 'fixed', rotation_period: '24h', rotation_statements });
    const answers = await Promise.all(Array.from({ length: 8 }, async () => mount.write('rotate-role/st')));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(204));
    expect(await server.query('SELECT * FROM rotations')).toHaveLength(2);
    expect(await server.login('fixed', (await creds()).password)).toBe('fixed');
  });

  test('rotation_period: rotates by itself, once each time', async () => {
    await mount.write('static-roles/st', { db_name: 'pg', username: 'fixed', rotation_period: 5 });
    const seen = new Set([(await creds()).password]);
    for (let round = 0; round < 3; round += 1) {
      await mount.advance(5);
      const { password } = await creds();
      seen.add(password);
      expect(await server.login('fixed', password)).toBe('fixed');
    }
    expect(seen.size).toBe(4);
  });

  test('rotation_schedule, rotation_window: rotates at its times, and a rotation that missed its window waits for the next one', async () => {
    await mount.close();
    mount = await mountDatabase({ clock: manualClock('2031-03-03T10:00:00Z') });
    await mount.write('config/pg', connectionTo(server));
    await mount.write('static-roles/st', { db_name: 'pg', username: 'fixed', rotation_schedule: '0 12 * * *', rotation_window: '1h' });
    expect((await mount.read('static-roles/st')).data).toMatchObject({ rotation_schedule: '0 12 * * *', rotation_window: 3_600 });
    const first = await creds();
    expect(first).toMatchObject({ ttl: 7_200, rotation_schedule: '0 12 * * *' });
    await mount.advance('2h');
    const second = await creds();
    expect(second.password).not.toBe(first.password);
    expect(second.ttl).toBe(86_400);
    await server.halt();
    await mount.advance('23h55m');
    await mount.advance('30m');
    expect((await mount.read('static-roles/st')).data).toMatchObject({ status: { state: 'failing' } });
    await mount.advance('30m');
    await server.restart();
    await pass(mount, 1_800);
    const third = await creds();
    expect(await server.login('fixed', third.password)).toBe('fixed');
    expect(third.ttl).toBeGreaterThan(20 * 3_600);
    await mount.advance(third.ttl);
    expect((await creds()).password).not.toBe(third.password);
  });

  test('POST static-roles/:name: both or neither of rotation_period and rotation_schedule, rotation_window with a period, and all else that is wrong is a 400 that says so', async () => {
    const good = { db_name: 'pg', username: 'fixed' };
    expect(await refusal({ db_name: 'pg', rotation_period: '1h' })).toEqual([
      400,
      'username is a required field to create a static account',
    ]);
    expect(await refusal({ ...good, rotation_period: '1s' })).toEqual([400, 'rotation_period must be 5 seconds or more']);
    expect(await refusal(good)).toEqual([400, 'rotation_period is required to create static accounts']);
    expect(await refusal({ username: 'fixed', rotation_period: '1h' })).toEqual([400, 'database name is a required field']);
    expect((await refusal({ ...good, rotation_period: '1h', rotation_schedule: '* * * * *' })).join()).toContain('mutually exclusive');
    expect((await refusal({ ...good, rotation_period: '1h', rotation_window: '2h' })).join()).toContain('rotation_window is invalid');
    expect(await refusal({ ...good, rotation_schedule: '* * * * *', rotation_window: '30m' })).toEqual([
      400,
      'rotation_window must be 1 hour or more',
    ]);
    expect((await refusal({ ...good, rotation_schedule: '* * * * * *' })).join()).toContain('expected exactly 5 fields');
    expect((await refusal({ ...good, rotation_schedule: '61 * * * *' })).join()).toContain('could not parse rotation_schedule');
    expect((await refusal({ ...good, rotation_schedule: '0 0 30 2 *' })).join()).toContain('never comes');
    expect((await refusal({ ...good, rotation_period: '1h', credential_type: 'odd' })).join()).toBe('400,invalid credential_type "odd"');
    expect((await refusal({ ...good, rotation_period: '1h', credential_type: 'rsa_private_key' })).join()).toContain('does not support');
    expect((await refusal({ ...good, db_name: 'nodb', rotation_period: '1h' })).join()).toContain('failed to find entry for connection');
    await mount.write('roles/taken', { db_name: 'pg' });
    expect(await refusal({ ...good, rotation_period: '1h' }, 'taken')).toEqual([400, 'Role and Static Role names must be unique']);
    await mount.write('static-roles/st', { ...good, rotation_period: '1h' });
    expect(await refusal({ username: 'other', rotation_period: '1h' }, 'st')).toEqual([400, 'cannot update static account username']);
    expect(await refusal({ rotation_period: '1h' }, 'st')).toEqual([400, 'cannot update static account username']);
    const both = await mount.call('update', 'database/roles/st', { data: { db_name: 'pg' } });
    expect(both.errors).toEqual(['Role and Static Role names must be unique']);
  });

  test('a user that does not exist is a 500 that names the database, and the role is not stored', async () => {
    const [status, text] = await refusal({ db_name: 'pg', username: 'no_such_user', rotation_period: '1h' });
    expect(status).toBe(500);
    expect(text).toContain('database "pg": error setting credentials: failed to execute query: ERROR: role "no_such_user" does not exist');
    expect((await mount.call('read', 'database/static-roles/bad')).status).toBe(404);
  });

  test('an update moves the next rotation and leaves the password', async () => {
    await mount.write('static-roles/st', { db_name: 'pg', username: 'fixed', rotation_period: '24h' });
    const { password } = await creds();
    await mount.write('static-roles/st', { username: 'fixed', rotation_period: '1h' });
    expect(await creds()).toMatchObject({ password, ttl: 3_600, rotation_period: 3_600 });
    await mount.advance('1h');
    expect((await creds()).password).not.toBe(password);
  });

  test('while the database is down a due rotation shows as failing, also in GET failing, and is done afterwards', async () => {
    await mount.write('static-roles/st', { db_name: 'pg', username: 'fixed', rotation_period: '10m' });
    const before = await creds();
    await server.halt();
    await mount.advance('11m');
    const status = (await mount.read('static-roles/st')).data as {
      status: { state: string; attempts: number; last_error: { message: string } };
    };
    expect(status.status.state).toBe('failing');
    expect(status.status.attempts).toBeGreaterThan(0);
    expect(status.status.last_error.message).toContain('database "pg"');
    const failing = (await mount.read('failing')).data as { static_roles: Record<string, { state: string }> };
    expect(failing.static_roles['st']!.state).toBe('failing');
    await mount.advance('1h');
    await server.restart();
    await pass(mount, 600);
    const after = await creds();
    expect(after.password).not.toBe(before.password);
    expect(await server.login('fixed', after.password)).toBe('fixed');
    expect(((await mount.read('failing')).data as { static_roles: object }).static_roles).toEqual({});
  });

  async function refusalOf(operation: 'read' | 'update', path: string) {
    const { status, errors } = await mount.call(operation, `database/${path}`);
    return [status, ...(errors ?? [])];
  }
});

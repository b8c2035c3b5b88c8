import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { connectionTo, mountDatabase } from './database-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const FIRST = { username: 'boss', password: 'boss-pw-first' };

describe('config/:name, when its root password is rotated', () => {
  let server: PostgresServer;
  let mount: TestMount;
  beforeAll(async () => {
    server = await startPostgres();
    await server.query(`CREATE ROLE boss SUPERUSER LOGIN`);
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    await server.query(`ALTER ROLE boss PASSWORD 'boss-pw-first'`);
    mount = await mountDatabase();
  });
  afterEach(async () => mount.close());
  const write = async (settings: Record<string, unknown>, name = 'pg') => {
    const { status, errors, warnings } = await mount.call('update', `database/config/${name}`, { data: settings });
    return [status, ...(errors ?? warnings ?? [])].join();
  };
  const read = async () => (await mount.read('config/pg')).data as Record<string, unknown>;
  const isFirst = async () =>
    server.login('boss', 'boss-pw-first').then(
      () => true,
      () => false,
    );

  test('rotation_period: by itself, after a period, and again; the connection goes on working', async () => {
    await mount.write('config/pg', connectionTo(server, { ...FIRST, rotation_period: '1h' }));
    expect(await read()).toMatchObject({ rotation_period: 3_600, root_rotation: { state: 'waiting', last_success: null } });
    await mount.advance('59m');
    expect(await isFirst()).toBe(true);
    await mount.advance('1m');
    expect(await isFirst()).toBe(false);
    const { last_success: once } = (await read())['root_rotation'] as { last_success: string };
    await mount.advance('1h');
    const { last_success: twice } = (await read())['root_rotation'] as { last_success: string };
    expect(Date.parse(twice) - Date.parse(once)).toBeGreaterThanOrEqual(3_600_000);
    expect((await mount.write('reset/pg')).status).toBe(204);
    expect((await mount.write('rotate-root/pg')).status).toBe(204);
  });

  test('a plan is paused, taken up again, replaced and removed by later writes, which keep what they do not send', async () => {
    await mount.write('config/pg', connectionTo(server, { ...FIRST, rotation_period: '1h', disable_automated_rotation: true }));
    expect(await read()).toMatchObject({ rotation_period: 3_600, disable_automated_rotation: true, root_rotation: { state: 'idle' } });
    await mount.advance('3h');
    expect(await isFirst()).toBe(true);
    await mount.write('config/pg', { disable_automated_rotation: false });
    await mount.write('config/pg', { queue_limit: 17 });
    expect(await read()).toMatchObject({ rotation_period: 3_600, root_rotation: { state: 'waiting' } });
    await mount.write('config/pg', { rotation_schedule: '0 3 * * *', rotation_window: '2h' });
    expect(await read()).toMatchObject({ rotation_schedule: '0 3 * * *', rotation_window: 7_200, root_rotation: { state: 'waiting' } });
    expect(await read()).not.toHaveProperty('rotation_period');
    await mount.write('config/pg', { rotation_schedule: '' });
    expect(await read()).not.toHaveProperty('rotation_schedule');
    expect(await read()).toMatchObject({ root_rotation: { state: 'idle', next_attempt: null } });
    await mount.advance('2d');
    expect(await isFirst()).toBe(true);
  });

  test('a new password is used from then on, and the plan stays; a deleted connection rotates nothing', async () => {
    await mount.write('config/pg', connectionTo(server, { ...FIRST, rotation_period: '1h' }));
    await mount.advance('1h');
    await server.query(`ALTER ROLE boss PASSWORD 'boss-pw-second'`);
    await mount.write('config/pg', { password: 'boss-pw-second' });
    expect(await server.login('boss', 'boss-pw-second')).toBe('boss');
    await mount.advance('1h');
    await expect(server.login('boss', 'boss-pw-second')).rejects.toThrow();
    await server.query(`ALTER ROLE boss PASSWORD 'boss-pw-first'`);
    await mount.call('delete', 'database/config/pg');
    await mount.advance('3h');
    expect(await isFirst()).toBe(true);
    expect(await write(connectionTo(server, FIRST))).toBe('204');
  });

  test.each([
    [{ rotation_period: '1h', rotation_schedule: '0 3 * * *' }, 'mutually exclusive fields rotation_period and rotation_schedule'],
    [{ rotation_period: '59s' }, 'rotation_period must be 60 seconds or more'],
    [{ rotation_period: '-1h' }, 'rotation_period'],
    [{ rotation_period: '1h', rotation_window: '1h' }, 'rotation_window is invalid with use of rotation_period'],
    [{ rotation_window: '1h' }, 'rotation_window is only valid with rotation_schedule'],
    [{ rotation_schedule: '0 3 * * *', rotation_window: '59m' }, 'rotation_window must be 1 hour or more'],
    [{ rotation_schedule: '0 0 31 2 *' }, 'it never comes'],
    [{ rotation_schedule: 'daily' }, 'expected exactly 5 fields'],
    [{ rotation_period: '1h', username: null }, 'no username in configuration'],
    [{ rotation_period: '1h', password: null }, 'no password in configuration'],
  ])('%j is a 400 that says what is wrong, and changes nothing', async (sent, text) => {
    await mount.write('config/pg', connectionTo(server, FIRST));
    const before = await read();
    expect(await write({ verify_connection: false, ...sent })).toMatch(new RegExp(`^400,.*${text}`, 's'));
    expect(await read()).toEqual(before);
  });

  test('a password in the URL cannot be planned for', async () => {
    const connection_url = `postgresql://boss:boss-pw-first@${server.host}:${server.port}/postgres?sslmode=disable`;
    const sent = { ...connectionTo(server, FIRST), connection_url, rotation_period: '1h' };
    expect(await write(sent)).toMatch(/^400,.*connection_url holds a password/s);
  });

  test('two connections with one user are said, and both cannot plan for it; adopt=true takes it over', async () => {
    await mount.write('config/other', connectionTo(server, FIRST));
    expect(await write(connectionTo(server, { ...FIRST, rotation_period: '1h' }))).toMatch(
      /^200,the connection "other" of database\/ logs in as the same user, and is locked out by the first planned rotation/,
    );
    const plan = { rotation_period: '1h' };
    expect(await write(plan, 'other')).toMatch(/^400,.*the root credential of connection "pg" of this mount changes its password/s);
    expect(await write({ queue_limit: 17 }, 'other')).toMatch(
      /^200,username: the root credential of connection "pg" of this mount changes/,
    );
    expect(await write({ ...plan, adopt: true }, 'other')).toMatch(/^200,/);
    expect(await read()).toMatchObject({ root_rotation: { state: 'taken_over' } });
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { connectionTo, mountDatabase, pass } from './database-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

interface Failing {
  readonly static_roles: Record<string, { state: string; next_attempt: string | null }>;
  readonly root_rotations: Record<string, { state: string; next_attempt: string | null }>;
}

describe('a rotation that is asked for while the database is away', () => {
  let server: PostgresServer;
  let mount: TestMount;
  const failing = async (): Promise<Failing> => (await mount.read('failing')).data as Failing;
  const passwordOf = async (role: string) => ((await mount.read(`static-creds/${role}`)).data as { password: string }).password;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    await server.query(`CREATE ROLE reports LOGIN PASSWORD 'of-old'; CREATE ROLE boss SUPERUSER LOGIN PASSWORD 'boss-pw-first'`);
    mount = await mountDatabase();
    await mount.write('config/pg', connectionTo(server, { username: 'boss', password: 'boss-pw-first' }));
  });
  afterEach(async () => {
    await mount.close();
    await server.restart();
    await server.query('DROP ROLE reports; DROP ROLE boss');
  });

  test.each([
    ['rotation_period', { rotation_period: '240h' }],
    ['rotation_schedule and rotation_window', { rotation_schedule: '0 0 1 1 *', rotation_window: '1h' }],
    ['disable_automated_rotation', { disable_automated_rotation: true }],
  ])('POST rotate-role/:name of a role with %s is made once it is back, as the answer says', async (_fields, plan) => {
    await mount.write('static-roles/reports', { db_name: 'pg', username: 'reports', ...plan });
    const before = await passwordOf('reports');
    await server.halt();
    const { status, errors } = await mount.call('update', 'database/rotate-role/reports');
    expect(status).toBe(500);
    expect(errors!.join()).toContain(
      'database "pg": unable to finish rotating credentials; retries will continue in the background but it is also safe to retry manually: ',
    );
    expect(Date.parse((await failing()).static_roles['reports']!.next_attempt!)).toBeGreaterThan(mount.clock.millis());
    expect((await mount.read('static-creds/reports')).data).toMatchObject({ password: before, ttl: 0 });
    await pass(mount, 7_200);
    expect((await failing()).static_roles['reports']!.state).toBe('failing');
    await server.restart();
    await pass(mount, 900);
    const after = await passwordOf('reports');
    expect(after).not.toBe(before);
    expect(await server.login('reports', after)).toBe('reports');
    expect((await failing()).static_roles).toEqual({});
  });

  test('POST rotate-role/:name of a role that its connection does not allow is refused, and is not made later', async () => {
    await mount.write('static-roles/reports', { db_name: 'pg', username: 'reports', rotation_period: '240h' });
    const before = await passwordOf('reports');
    await mount.write('config/pg', { allowed_roles: 'others' });
    const { status, errors } = await mount.call('update', 'database/rotate-role/reports');
    expect(status).toBe(400);
    expect(errors!.join()).toContain('"reports" is not an allowed role');
    await mount.write('config/pg', { allowed_roles: '*' });
    await pass(mount, 900);
    expect(await passwordOf('reports')).toBe(before);
  });

  test('POST rotate-root/:name is made once it is back', async () => {
    await server.halt();
    expect((await mount.call('update', 'database/rotate-root/pg')).status).toBe(500);
    expect(Date.parse((await failing()).root_rotations['pg']!.next_attempt!)).toBeGreaterThan(mount.clock.millis());
    await server.restart();
    await pass(mount, 600);
    await expect(server.login('boss', 'boss-pw-first')).rejects.toThrow();
    expect((await failing()).root_rotations).toEqual({});
    await mount.write('static-roles/reports', { db_name: 'pg', username: 'reports', rotation_period: '240h' });
  });

  test('POST rotate-root/:name is not made for a root credential that the operator sets meanwhile', async () => {
    await server.halt();
    await mount.call('update', 'database/rotate-root/pg');
    await server.restart();
    await mount.write('config/pg', { password: 'boss-pw-first' });
    await pass(mount, 1_200);
    expect(await server.login('boss', 'boss-pw-first')).toBe('boss');
  });
});

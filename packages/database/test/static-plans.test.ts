import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { connectionTo, mountDatabase } from './database-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('static-roles/:name, when they are rotated', () => {
  let server: PostgresServer;
  let mount: TestMount;
  beforeAll(async () => {
    server = await startPostgres();
    await server.query(`CREATE ROLE fixed LOGIN PASSWORD 'of-old'`);
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    mount = await mountDatabase();
    await mount.write('config/pg', connectionTo(server));
  });
  afterEach(async () => mount.close());
  const creds = async () => (await mount.read('static-creds/st')).data as { password: string; ttl: number };
  const role = async () => (await mount.read('static-roles/st')).data;

  test('disable_automated_rotation: at creation and on demand, and never by itself', async () => {
    await mount.write('static-roles/st', { db_name: 'pg', username: 'fixed', disable_automated_rotation: true });
    expect(await role()).toMatchObject({ disable_automated_rotation: true, status: { state: 'idle', next_attempt: null } });
    const first = await creds();
    expect(first.ttl).toBe(0);
    expect(await server.login('fixed', first.password)).toBe('fixed');
    await mount.advance('20d');
    expect((await creds()).password).toBe(first.password);
    await mount.write('rotate-role/st');
    const second = await creds();
    expect(second.password).not.toBe(first.password);
    expect(await server.login('fixed', second.password)).toBe('fixed');
    expect(await role()).toMatchObject({ status: { state: 'idle' } });
  });

  test('disable_automated_rotation can be set on a role with a period, and taken back', async () => {
    await mount.write('static-roles/st', { db_name: 'pg', username: 'fixed', rotation_period: '1h' });
    const { password } = await creds();
    await mount.write('static-roles/st', { username: 'fixed', disable_automated_rotation: true });
    await mount.advance('5h');
    expect((await creds()).password).toBe(password);
    await mount.write('static-roles/st', { username: 'fixed', disable_automated_rotation: false });
    await mount.advance('1h');
    expect((await creds()).password).not.toBe(password);
  });

  test('first_rotation_offset: the first rotation after creation comes after it, the others after rotation_period', async () => {
    await mount.write('static-roles/st', { db_name: 'pg', username: 'fixed', rotation_period: '24h', first_rotation_offset: '7m' });
    const first = await creds();
    expect(first.ttl).toBe(420);
    await mount.advance('6m');
    expect((await creds()).password).toBe(first.password);
    await mount.advance('1m');
    const second = await creds();
    expect(second.password).not.toBe(first.password);
    expect(second.ttl).toBe(86_400);
    const late = await mount.call('update', 'database/static-roles/st', { data: { username: 'fixed', first_rotation_offset: '1h' } });
    expect(late).toMatchObject({ status: 400, errors: [expect.stringContaining('first_rotation_offset')] });
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { connectionTo, mountDatabase } from './database-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

interface Creds {
  readonly password: string;
  readonly ttl: number;
  readonly last_vault_rotation: string;
}

describe('a static role that is imported without a rotation', () => {
  let server: PostgresServer;
  let mount: TestMount;
  const write = async (data: Record<string, unknown>, path = 'static-roles/st') => {
    const { status, errors, warnings } = await mount.call('update', `database/${path}`, { data });
    return [status, ...(errors ?? []), ...(warnings ?? [])].join();
  };
  const creds = async () => (await mount.read('static-creds/st')).data as Creds;
  const role = { db_name: 'pg', username: 'fixed', rotation_period: '1h' };
  const skip = { ...role, skip_import_rotation: true };
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

  test('with its password, static-creds answers at once with that, and the plan brings the first rotation', async () => {
    expect(await write({ ...skip, password: 'of-old' })).toBe('204');
    expect(await creds()).toMatchObject({ password: 'of-old', ttl: 3_600, last_vault_rotation: '0001-01-01T00:00:00Z' });
    expect((await mount.read('static-roles/st')).data).toMatchObject({ last_vault_rotation: null, status: { state: 'waiting' } });
    expect(await server.login('fixed', 'of-old')).toBe('fixed');
    await mount.advance('1h');
    const { password } = await creds();
    expect(password).not.toBe('of-old');
    expect(await server.login('fixed', password)).toBe('fixed');
    await expect(server.login('fixed', 'of-old')).rejects.toThrow();
  });

  test('a password that does not log in is a 400, no role is stored, and the answer shows no password', async () => {
    const refusal = await write({ ...skip, password: 'wrong-5Gx' });
    expect(refusal).toMatch(/^400,password: the database does not take it for the user "fixed"/);
    expect(refusal).not.toContain('wrong-5Gx');
    expect((await mount.call('read', 'database/static-roles/st')).status).toBe(404);
    expect(await server.login('fixed', 'of-old')).toBe('fixed');
  });

  test('a password that no login can prove is a 400, and verify=false stores it', async () => {
    await server.query('ALTER ROLE fixed NOLOGIN');
    expect(await write({ ...skip, password: 'of-old' })).toContain('send verify=false');
    expect(await write({ ...skip, password: 'of-old', verify: false })).toBe('204');
    expect((await creds()).password).toBe('of-old');
  });

  test('with the database down the password is not stored, and the answer is a 500 that names the connection', async () => {
    await server.halt();
    expect(await write({ ...skip, password: 'of-old' })).toMatch(/^500,.*database "pg"/s);
    expect((await mount.call('read', 'database/static-roles/st')).status).toBe(404);
    await server.restart();
  });

  test('without a password there is none until the first rotation', async () => {
    expect(await write(skip)).toBe('204');
    const answer = await mount.read('static-creds/st');
    expect(answer.data).toMatchObject({ username: 'fixed', password: '' });
    expect(answer.warnings!.join()).toContain('not known before the first rotation');
    expect(await server.login('fixed', 'of-old')).toBe('fixed');
    expect(await write({}, 'rotate-role/st')).toBe('204');
    expect(await server.login('fixed', (await creds()).password)).toBe('fixed');
  });

  test('a user that the database does not list is warned of', async () => {
    expect(await write({ ...skip, username: 'fixde' })).toContain('does not list a user "fixde"');
  });

  test('the connection says what is usual, and a role can say otherwise', async () => {
    expect((await mount.read('config/pg')).data).toMatchObject({ skip_static_role_import_rotation: false });
    await write({ skip_static_role_import_rotation: true }, 'config/pg');
    expect((await mount.read('config/pg')).data).toMatchObject({ skip_static_role_import_rotation: true });
    expect(await write({ ...role, password: 'of-old' })).toBe('204');
    expect((await creds()).password).toBe('of-old');
    await mount.delete('static-roles/st');
    expect(await write({ ...role, skip_import_rotation: false })).toBe('204');
    await expect(server.login('fixed', 'of-old')).rejects.toThrow();
  });

  test('skip_import_rotation and password count at creation alone, and password only with skip_import_rotation', async () => {
    expect(await write({ ...role, password: 'of-old' })).toContain('400,password: it is stored only with skip_import_rotation=true');
    expect(await write({ ...skip, password: '' })).toContain('400,password: it is empty');
    const certificate = { ...skip, password: 'of-old', credential_type: 'rsa_private_key' };
    expect(await write(certificate)).toContain('400,');
    await write({ ...skip, password: 'of-old' });
    expect(await write({ username: 'fixed', skip_import_rotation: true })).toBe('400,skip_import_rotation has no effect on updates');
    expect(await write({ username: 'fixed', password: 'x' })).toBe('400,password has no effect on updates');
    expect(await write({ username: 'fixed', rotation_period: '2h' })).toBe('204');
    expect((await creds()).password).toBe('of-old');
  });

  test('the user of another role is a 400, and no second role manages it', async () => {
    await write({ ...skip, password: 'of-old' });
    expect(await write({ ...skip, password: 'of-old' }, 'static-roles/second')).toMatch(/^400,.*already managed/);
  });
});

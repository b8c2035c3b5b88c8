import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { databaseEngine } from '../src/index.ts';
import { rootDatabase, type RootDatabase } from './root-plugin.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const CONNECTION = { plugin_name: 'root-database-plugin', host: 'h', username: 'root', password: 'p0', allowed_roles: '*' };

describe('config/:name while rotate-root/:name is at work', () => {
  let database: RootDatabase;
  let mount: TestMount;
  const write = async (data: Record<string, unknown>) => {
    const { status, errors } = await mount.call('update', 'database/config/c', { data });
    return [status, ...(errors ?? [])].join();
  };
  const rotate = async () => mount.call('update', 'database/rotate-root/c');
  const reset = async () => (await mount.call('update', 'database/reset/c')).status;
  const shown = async () =>
    (await mount.read('config/c')).data as { allowed_roles: string[]; root_rotation: { state: string }; connection_details: object };
  beforeEach(async () => {
    database = rootDatabase();
    mount = await mountForTest(databaseEngine, { plugins: [database.plugin] });
    await mount.write('config/c', CONNECTION);
  });
  afterEach(async () => mount.close());

  test('a write that began before it keeps the password that is being installed', async () => {
    const verifying = database.hold('verify');
    const writing = write({ allowed_roles: 'a,b' });
    await verifying.done;
    const changing = database.hold('updateUser');
    const rotating = rotate();
    await changing.done;
    verifying.letGo();
    expect(await writing).toBe('204');
    changing.letGo();
    expect((await rotating).status).toBe(204);
    expect(database.passwords.get('root')).not.toBe('p0');
    expect(await reset()).toBe(204);
    expect(await shown()).toMatchObject({ allowed_roles: ['a', 'b'], root_rotation: { state: 'idle' } });
  });

  test('a write that ends after it is verified once more, with the new password', async () => {
    const verifying = database.hold('verify');
    const writing = write({ allowed_roles: 'a' });
    await verifying.done;
    expect((await rotate()).status).toBe(204);
    verifying.letGo();
    expect(await writing).toBe('204');
    expect(await reset()).toBe(204);
  });

  test.each([
    ['password', { password: 'p0' }],
    ['username', { username: 'root' }],
    ['connection parameters', { host: 'other' }],
    ['plugin_name', { plugin_name: 'another-database-plugin' }],
  ])('a write of %s is a 429 meanwhile and changes nothing', async (_, data) => {
    const changing = database.hold('updateUser');
    const rotating = rotate();
    await changing.done;
    expect(await write({ ...data, verify_connection: false })).toMatch(/^429,the root credential of the connection c is being rotated/);
    changing.letGo();
    expect((await rotating).status).toBe(204);
    expect(await reset()).toBe(204);
    expect((await shown()).connection_details).toMatchObject({ host: 'h' });
  });

  test('a password whose verification ends meanwhile is not stored over the one that is being installed', async () => {
    const verifying = database.hold('verify');
    const writing = write({ password: 'p0' });
    await verifying.done;
    const changing = database.hold('updateUser');
    const rotating = rotate();
    await changing.done;
    verifying.letGo();
    expect(await writing).toMatch(/^429,/);
    changing.letGo();
    expect((await rotating).status).toBe(204);
    expect(await reset()).toBe(204);
  });

  test('a DELETE is a 429 meanwhile, and goes through afterwards', async () => {
    const changing = database.hold('updateUser');
    const rotating = rotate();
    await changing.done;
    const refused = await mount.call('delete', 'database/config/c');
    expect([refused.status, ...refused.errors!].join()).toMatch(/^429,the root credential of the connection c is being rotated/);
    changing.letGo();
    expect((await rotating).status).toBe(204);
    expect(await reset()).toBe(204);
    expect((await mount.delete('config/c')).status).toBe(204);
  });

  test('after a rotation of unknown outcome a password that logs in ends the doubt, and one that does not is refused', async () => {
    database.cutNext();
    expect((await rotate()).status).toBe(500);
    database.down = false;
    expect(await write({ password: 'p0' })).toMatch(/^400,.*bad password/);
    database.passwords.set('root', 'by-hand');
    expect(await write({ password: 'by-hand' })).toBe('204');
    expect(await reset()).toBe(204);
    await mount.advance('20s');
    expect((await shown()).root_rotation.state).toBe('idle');
  });

  test('a rotation of unknown outcome that came while a password was verified is decided about again', async () => {
    const verifying = database.hold('verify');
    const writing = write({ password: 'p0' });
    await verifying.done;
    database.cutNext();
    expect((await rotate()).status).toBe(500);
    database.down = false;
    verifying.letGo();
    expect(await writing).toMatch(/^400,.*bad password/);
    await mount.advance('20s');
    expect(await reset()).toBe(204);
    expect((await shown()).root_rotation.state).toBe('idle');
  });

  test.each([
    ['nothing takes its place', false],
    ['another of that name takes its place', true],
  ])('a connection that is deleted after a rotation of unknown outcome still revokes its leases, where %s', async (_, replaced) => {
    await mount.write('roles/app', { db_name: 'c', creation_statements: '{}' });
    const { leaseId } = await mount.read('creds/app');
    database.cutNext();
    expect((await rotate()).status).toBe(500);
    expect((await mount.delete('config/c')).warnings).toHaveLength(1);
    if (replaced) await mount.write('config/c', { ...CONNECTION, host: 'other', verify_connection: false });
    database.down = false;
    const { status, errors } = await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
    expect([status, errors]).toEqual([204, undefined]);
  });
});

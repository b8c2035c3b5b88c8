import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, jest } from '@jest/globals';
import { manualClock, mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { databaseEngine } from '../src/index.ts';
import { makeAuthority } from './authority.ts';
import { connectionTo, mountDatabase } from './database-mount.ts';
import { faultyDatabase } from './faulty-plugin.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('POST static-roles/:name, by parameter', () => {
  let server: PostgresServer;
  let mount: TestMount;
  const asked = async (data: Record<string, unknown>, name = 'st') => {
    const { status, errors } = await mount.call('update', `database/static-roles/${name}`, { data });
    return [status, ...(errors ?? [])].join();
  };
  const creds = async () => (await mount.read('static-creds/st')).data as Record<string, string> & { ttl: number };
  beforeAll(async () => {
    server = await startPostgres();
    await server.query(`CREATE ROLE fixed LOGIN PASSWORD 'of-old'`);
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    mount = await mountDatabase({ clock: manualClock('2031-03-03T10:00:00Z') });
    await mount.write('config/pg', connectionTo(server));
  });
  afterEach(async () => mount.close());
  const good = { db_name: 'pg', username: 'fixed' };

  test('username, db_name: required, and neither can be changed', async () => {
    expect(await asked({ db_name: 'pg', rotation_period: '1h' })).toBe('400,username is a required field to create a static account');
    expect(await asked({ username: 'fixed', rotation_period: '1h' })).toBe('400,database name is a required field');
    expect(await asked({ ...good, rotation_period: '1h' })).toBe('204');
    expect(await asked({ ...good, username: 'postgres' })).toBe('400,cannot update static account username');
    expect(await asked({ ...good, db_name: 'other' })).toBe('400,cannot update static account db_name');
  });

  test.each([
    [5, 5],
    ['5s', 5],
    ['90m', 5_400],
    ['86400', 86_400],
  ])('rotation_period: %p is %i s', async (rotation_period, seconds) => {
    expect(await asked({ ...good, rotation_period })).toBe('204');
    expect(await creds()).toMatchObject({ rotation_period: seconds, ttl: seconds });
  });

  test.each([[4], ['4s'], ['4999ms'], [0]])('rotation_period: %p is less than the 5 s that it must have', async (rotation_period) => {
    expect(await asked({ ...good, rotation_period })).toMatch(/^400,.*rotation_period/);
  });

  test.each([
    ['* * * * *', '2031-03-03T10:01:00.000Z'],
    ['30 10 * * *', '2031-03-03T10:30:00.000Z'],
    ['0 */6 * * *', '2031-03-03T12:00:00.000Z'],
    ['0 0 1 * *', '2031-04-01T00:00:00.000Z'],
    ['15 4 * 1-2 *', '2032-01-01T04:15:00.000Z'],
    ['0 9 * * sun', '2031-03-09T09:00:00.000Z'],
    ['0 9 * * 1-5', '2031-03-04T09:00:00.000Z'],
  ])('rotation_schedule: minute, hour, day of month, month, day of week; %p comes next at %s', async (rotation_schedule, at) => {
    expect(await asked({ ...good, rotation_schedule })).toBe('204');
    expect((await creds()).ttl).toBe((Date.parse(at) - mount.clock.millis()) / 1_000);
    expect((await mount.read('static-roles/st')).data).toMatchObject({ rotation_schedule, status: { next_attempt: at } });
  });

  test.each([['* * * *'], ['0 * * * * *'], ['61 * * * *'], ['@daily'], ['every day at noon']])(
    'rotation_schedule: %p is not one',
    async (rotation_schedule) => {
      expect(await asked({ ...good, rotation_schedule })).toMatch(/^400,could not parse rotation_schedule/);
    },
  );

  test('rotation_window: at least an hour, as number or text, with a schedule alone', async () => {
    const rotation_schedule = '0 12 * * *';
    for (const rotation_window of [3_599, '59m', 0])
      expect(await asked({ ...good, rotation_schedule, rotation_window })).toBe('400,rotation_window must be 1 hour or more');
    for (const rotation_window of [3_600, '1h']) {
      expect(await asked({ ...good, rotation_schedule, rotation_window })).toBe('204');
      expect((await mount.read('static-roles/st')).data).toMatchObject({ rotation_window: 3_600 });
    }
    expect(await asked({ ...good, rotation_period: '1h', rotation_window: '1h' }, 'other')).toMatch(/^400,rotation_window is invalid/);
  });

  test("rotation_statements: run in place of the plugin's, at creation and at each rotation", async () => {
    await server.query('CREATE TABLE said (word text)');
    const rotation_statements = [`ALTER ROLE "{{name}}" PASSWORD '{{password}}'`, `INSERT INTO said VALUES ('{{username}}')`];
    expect(await asked({ ...good, rotation_period: '1h', rotation_statements })).toBe('204');
    await mount.write('rotate-role/st');
    expect(await server.query('SELECT word FROM said')).toEqual([{ word: 'fixed' }, { word: 'fixed' }]);
    expect(await server.login('fixed', (await creds())['password']!)).toBe('fixed');
    await server.query('DROP TABLE said');
  });

  test('credential_type: password unless sent, and cannot be changed', async () => {
    expect(await asked({ ...good, rotation_period: '1h' })).toBe('204');
    expect((await mount.read('static-roles/st')).data).toMatchObject({ credential_type: 'password' });
    expect(await asked({ ...good, credential_type: 'client_certificate' })).toBe('400,cannot update static account credential_type');
    expect(await asked({ ...good, rotation_period: '1h', credential_type: 'odd' }, 'x')).toBe('400,invalid credential_type "odd"');
  });

  test('credential_config: password_policy makes the passwords of the role', async () => {
    await mount.call('update', 'sys/policies/password/hex', { data: { policy: 'length = 30\nrule "charset" { charset = "abcdef" }' } });
    expect(await asked({ ...good, rotation_period: '1h', credential_config: { password_policy: 'hex' } })).toBe('204');
    expect((await creds())['password']).toMatch(/^[a-f]{30}$/);
    expect((await mount.read('static-roles/st')).data).toMatchObject({ credential_config: { password_policy: 'hex' } });
  });

  test('credential_type rsa_private_key, credential_config key_bits: the database gets the public key of the private key that is read', async () => {
    await mount.close();
    const memory = faultyDatabase();
    mount = await mountForTest(databaseEngine, { plugins: [memory.plugin] });
    await mount.write('config/pg', { plugin_name: memory.plugin.name, host: 'h', allowed_roles: '*' });
    const keys = { credential_type: 'rsa_private_key', credential_config: { key_bits: 3_072 } };
    expect(await asked({ ...good, rotation_period: '1h', ...keys })).toBe('204');
    const first = (await creds())['rsa_private_key']!;
    expect(createPrivateKey(first).asymmetricKeyDetails).toMatchObject({ modulusLength: 3_072 });
    const publicKey = createPublicKey(first).export({ type: 'spki', format: 'pem' });
    expect(memory.credentials.get('fixed')).toEqual({ type: 'rsa_private_key', publicKey });
    await mount.advance('1h');
    expect((await creds())['rsa_private_key']).not.toBe(first);
    expect(await creds()).not.toHaveProperty('password');
  });

  test('credential_type client_certificate, credential_config: signed by ca_cert, good until a day after the next rotation', async () => {
    await mount.close();
    mount = await mountDatabase();
    await mount.write('config/pg', connectionTo(server));
    const folder = mkdtempSync(join(tmpdir(), 'strongroom-ca-'));
    const authority = makeAuthority(folder, ['-algorithm', 'ed25519']);
    rmSync(folder, { recursive: true });
    const rotation_statements = `COMMENT ON ROLE "{{name}}" IS '{{subject}}'`;
    const credential_config = { ...authority, key_type: 'ec', common_name_template: '{{.RoleName}}.{{.DisplayName}}' };
    const role = { ...good, rotation_period: '48h', rotation_statements, credential_type: 'client_certificate', credential_config };
    expect(await asked(role)).toBe('204');
    const data = await creds();
    const certificate = new X509Certificate(data['client_certificate']!);
    expect(certificate.checkIssued(new X509Certificate(authority.ca_cert))).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(data['private_key']!))).toBe(true);
    expect(data['private_key_type']).toBe('ec');
    const [row] = await server.query(`SELECT shobj_description(oid, 'pg_authid') AS said FROM pg_roles WHERE rolname = 'fixed'`);
    expect(row).toEqual({ said: 'CN=st.fixed' });
    expect(Math.abs(Date.parse(certificate.validTo) - mount.clock.millis() - 72 * 3_600_000)).toBeLessThan(2_000);
    expect(JSON.stringify((await mount.read('static-roles/st')).data)).not.toContain('PRIVATE KEY');
  });
});

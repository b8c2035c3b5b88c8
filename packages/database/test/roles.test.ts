import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, jest } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { makeAuthority } from './authority.ts';
import { connectionTo, CREATION, mountDatabase, usersOf } from './database-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('roles', () => {
  let server: PostgresServer;
  let mount: TestMount;
  const refusal = async (data: Record<string, unknown>) => {
    const { status, errors } = await mount.call('update', 'database/roles/bad', { data });
    return [status, ...(errors ?? [])].join();
  };
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    mount = await mountDatabase();
    await mount.write('config/pg', connectionTo(server));
  });
  afterEach(async () => mount.close());

  test('POST, GET, LIST and DELETE roles/:name', async () => {
    expect((await mount.call('list', 'database/roles')).status).toBe(404);
    const written = await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION, default_ttl: '1h', max_ttl: 86_400 });
    expect(written.status).toBe(204);
    expect((await mount.read('roles/app')).data).toEqual({
      db_name: 'pg',
      credential_type: 'password',
      end_sessions: true,
      on_owned_objects: 'fail',
      default_ttl: 3_600,
      max_ttl: 86_400,
      creation_statements: [CREATION],
      revocation_statements: [],
      renew_statements: [],
      rollback_statements: [],
    });
    await mount.write('roles/app', { max_ttl: '2h', revocation_statements: ['x'] });
    expect((await mount.read('roles/app')).data).toMatchObject({ default_ttl: 3_600, max_ttl: 7_200, revocation_statements: ['x'] });
    expect((await mount.list('roles')).data).toEqual({ keys: ['app'] });
    expect((await mount.delete('roles/app')).status).toBe(204);
    expect((await mount.call('read', 'database/roles/app')).status).toBe(404);
  });

  test('POST roles/:name: what is wrong with a role is a 400 that names it', async () => {
    expect(await refusal({ creation_statements: ['x'] })).toBe('400,database name is required');
    expect(await refusal({ db_name: 'pg', credential_type: 'odd' })).toBe('400,invalid credential_type "odd"');
    expect(await refusal({ db_name: 'pg', default_ttl: '2h', max_ttl: '1h' })).toContain('400,default_ttl (7200 s) is longer than max_ttl');
    expect(await refusal({ db_name: 'pg', default_ttl: 'soon' })).toContain('default_ttl');
    const config = async (credential_type: string, credential_config: Record<string, string>) =>
      refusal({ db_name: 'pg', credential_type, credential_config });
    expect(await config('rsa_private_key', { key_bits: '1234' })).toBe('400,credential_config validation failed: invalid key_bits: 1234');
    expect(await config('rsa_private_key', { format: 'pkcs1' })).toContain('invalid format: pkcs1');
    expect(await config('password', { key_bits: '2048' })).toContain('password does not take key_bits');
    expect(await config('client_certificate', {})).toContain('missing required key_type');
    expect(await config('client_certificate', { key_type: 'dsa' })).toContain('invalid key_type: dsa');
    expect(await config('client_certificate', { key_type: 'ec', key_bits: '2048' })).toContain('invalid key_bits: 2048');
    expect(await config('client_certificate', { key_type: 'rsa', signature_bits: '1' })).toContain('invalid signature_bits: 1');
    expect(await config('client_certificate', { key_type: 'rsa', common_name_template: '{{' })).toContain('invalid common_name_template');
    expect(await config('client_certificate', { key_type: 'rsa' })).toContain('missing required ca_cert');
    const halves = { key_type: 'rsa', ca_cert: 'junk', ca_private_key: 'secret-junk' };
    expect(await config('client_certificate', halves)).toContain('ca_cert is not a PEM certificate');
    expect(await config('client_certificate', halves)).not.toContain('secret-junk');
  });

  test('default_ttl, max_ttl: a role that asks for more than the mount allows is answered with a warning, and its leases end with the mount', async () => {
    await mount.call('update', 'sys/mounts/database/tune', { data: { max_lease_ttl: '2h', default_lease_ttl: '30m' } });
    const written = await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION, default_ttl: '5h', max_ttl: '9h' });
    expect(written.warnings).toEqual([expect.stringContaining('7200 s')]);
    expect((await mount.read('creds/app')).leaseDuration).toBe(7_200);
    await mount.write('roles/zero', { db_name: 'pg', creation_statements: CREATION });
    expect((await mount.read('creds/zero')).leaseDuration).toBe(1_800);
    await mount.call('update', 'sys/leases/revoke-prefix/database', { data: { sync: true } });
  });

  test('creation_statements, renew_statements, revocation_statements and rollback_statements are run', async () => {
    await server.query('CREATE TABLE said (word text)');
    const say = (word: string) => `INSERT INTO said VALUES ('${word}')`;
    const said = async () => {
      const rows = await server.query<{ word: string }>('SELECT word FROM said');
      await server.query('DELETE FROM said');
      return rows.map(({ word }) => word);
    };
    await mount.write('roles/app', {
      db_name: 'pg',
      creation_statements: [CREATION, say('created')],
      renew_statements: [`ALTER ROLE "{{name}}" VALID UNTIL '{{expiration}}'`, say('renewed')],
      revocation_statements: [say('revoked'), 'DROP ROLE "{{name}}"'],
      rollback_statements: [say('rolled back')],
      default_ttl: '1h',
    });
    const { leaseId } = await mount.read('creds/app');
    expect(await said()).toEqual(['created']);
    await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId } });
    expect(await said()).toEqual(['renewed']);
    // What the role says now counts; what it said at the issue only when the role is gone.
    await mount.write('roles/app', { revocation_statements: [say('revoked otherwise'), 'DROP ROLE "{{name}}"'] });
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
    expect(await said()).toEqual(['revoked otherwise']);
    const second = await mount.read('creds/app');
    await mount.delete('roles/app');
    await said();
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: second.leaseId, sync: true } });
    expect(await said()).toEqual(['revoked otherwise']);
    await mount.write('roles/app', { db_name: 'pg', creation_statements: [CREATION, 'SELEC'], rollback_statements: [say('rolled back')] });
    expect((await mount.call('read', 'database/creds/app')).status).toBe(500);
    expect(await said()).toEqual(['rolled back']);
    expect(await usersOf(server)).toEqual([]);
    await server.query('DROP TABLE said');
  });

  test('a lease is not renewed once its role is gone', async () => {
    await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION, default_ttl: '1h' });
    const { leaseId } = await mount.read('creds/app');
    await mount.delete('roles/app');
    const renewed = await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId } });
    expect([renewed.status, renewed.errors!.join()]).toEqual([400, expect.stringContaining('could not find role with name: "app"')]);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
  });

  test('a username_template names the users; names that repeat never take away a user that is in use', async () => {
    await mount.write('config/pg', { username_template: 'team-{{.RoleName}}' });
    await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION });
    const first = (await mount.read('creds/app')).data as { username: string; password: string };
    expect(first.username).toBe('team-app');
    const second = await mount.call('read', 'database/creds/app');
    expect([second.status, second.errors!.join()]).toEqual([400, expect.stringContaining('a user of that name is in use')]);
    await server.query(`CREATE ROLE "team-other" LOGIN PASSWORD 'mine'`);
    await mount.write('roles/other', { db_name: 'pg', creation_statements: CREATION });
    expect((await mount.call('read', 'database/creds/other')).status).toBe(500);
    await mount.advance('10m');
    expect(await usersOf(server)).toEqual(['team-app', 'team-other']);
    expect(await server.login('team-app', first.password)).toBe('team-app');
    await mount.call('update', 'sys/leases/revoke-prefix/database', { data: { sync: true } });
    expect(await usersOf(server)).toEqual(['team-other']);
    const long = await mount.call('update', 'database/config/pg', { data: { username_template: '{{.RoleName}}{{random 80}}' } });
    expect([long.status, long.errors!.join()]).toEqual([400, expect.stringContaining('the database takes 63')]);
    await server.query('DROP ROLE "team-other"');
  });

  test('a client_certificate comes signed by the authority of the role, not renewable, and the key of the authority is not shown', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'strongroom-ca-'));
    const authority = makeAuthority(folder, ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256']);
    rmSync(folder, { recursive: true });
    await mount.write('roles/cert', {
      db_name: 'pg',
      creation_statements: `CREATE ROLE "{{name}}" LOGIN; COMMENT ON ROLE "{{name}}" IS '{{subject}}'`,
      credential_type: 'client_certificate',
      credential_config: { ...authority, key_type: 'ec' },
      default_ttl: '1h',
    });
    expect(JSON.stringify((await mount.read('roles/cert')).data)).not.toContain('PRIVATE KEY');
    const answer = await mount.read('creds/cert');
    const data = answer.data as Record<string, string>;
    const certificate = new X509Certificate(data['client_certificate']!);
    expect(certificate.subject).toBe(`CN=${data['username']}`);
    expect(certificate.checkIssued(new X509Certificate(authority.ca_cert))).toBe(true);
    expect(data).toMatchObject({ private_key_type: 'ec', private_key: expect.stringContaining('BEGIN PRIVATE KEY') });
    expect(answer.renewable).toBe(false);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: answer.leaseId, sync: true } });
    expect(await usersOf(server)).toEqual([]);
  });
});

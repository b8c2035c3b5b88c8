import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, jest } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { databaseEngine } from '../src/index.ts';
import { makeAuthority } from './authority.ts';
import { CREATION, mountWithRole, usersOf } from './database-mount.ts';
import { faultyDatabase } from './faulty-plugin.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('POST roles/:name, by parameter', () => {
  let server: PostgresServer;
  let mount: TestMount;
  const asked = async (path: string, data?: Record<string, unknown>) => {
    const { status, errors } = await mount.call(data ? 'update' : 'read', `database/${path}`, data ? { data } : {});
    return [status, ...(errors ?? [])].join();
  };
  const revokeAll = async () => mount.call('update', 'sys/leases/revoke-prefix/database', { data: { sync: true } });
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    mount = await mountWithRole(server);
  });
  afterEach(async () => {
    await revokeAll();
    await mount.close();
  });

  test('db_name: required; the connection may be made later', async () => {
    expect(await asked('roles/x', { creation_statements: CREATION })).toBe('400,database name is required');
    expect(await asked('roles/x', { db_name: 'later', creation_statements: CREATION })).toMatch(/^200/);
    expect(await asked('creds/x')).toContain('failed to find entry for connection with name: "later"');
  });

  test.each([
    ['90s', 90],
    ['2m', 120],
    ['1h30m', 5_400],
    [600, 600],
    ['600', 600],
  ])('default_ttl, max_ttl: %p is %i s', async (sent, seconds) => {
    expect(await asked('roles/app', { default_ttl: sent, max_ttl: sent })).toBe('204');
    expect((await mount.read('roles/app')).data).toMatchObject({ default_ttl: seconds, max_ttl: seconds });
    expect((await mount.read('creds/app')).leaseDuration).toBe(seconds);
  });

  test("default_ttl: 0, or unsent, is the mount's own", async () => {
    await mount.call('update', 'sys/mounts/database/tune', { data: { default_lease_ttl: '17m' } });
    expect(await asked('roles/app', { default_ttl: 0, max_ttl: 0 })).toBe('204');
    expect((await mount.read('creds/app')).leaseDuration).toBe(1_020);
  });

  test('max_ttl: no renewal goes beyond it, and what is cut is warned of', async () => {
    await mount.write('roles/app', { default_ttl: '10m', max_ttl: '15m' });
    const { leaseId } = await mount.read('creds/app');
    const renewed = await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId, increment: '1h' } });
    expect(renewed.leaseDuration).toBe(900);
    expect(renewed.warnings).toEqual([expect.stringContaining('TTL of')]);
  });

  test.each([
    ['a text', `${CREATION} COMMENT ON ROLE "{{name}}" IS 'x'`],
    ['a list', [CREATION, `COMMENT ON ROLE "{{name}}" IS 'x'`]],
    ['a list in JSON', JSON.stringify([CREATION, `COMMENT ON ROLE "{{name}}" IS 'x'`])],
    ['base64', Buffer.from(`${CREATION} COMMENT ON ROLE "{{username}}" IS 'x'`).toString('base64')],
  ])('creation_statements: %s', async (_form, creation_statements) => {
    await mount.write('roles/app', { creation_statements });
    const { username, password } = (await mount.read('creds/app')).data as { username: string; password: string };
    expect(await server.login(username, password)).toBe(username);
    const [row] = await server.query(`SELECT shobj_description(oid, 'pg_authid') AS said FROM pg_roles WHERE rolname = $1`, [username]);
    expect(row).toEqual({ said: 'x' });
  });

  test('creation_statements: creds are refused without them', async () => {
    await mount.write('roles/bare', { db_name: 'pg' });
    expect(await asked('creds/bare')).toContain('400,1 error occurred:\n\t* empty creation statements');
  });

  test("revocation_statements, renew_statements: the plugin's own unless sent; rollback_statements: none", async () => {
    await mount.write('roles/app', { creation_statements: [CREATION, 'GRANT CONNECT ON DATABASE postgres TO "{{name}}"'] });
    const { leaseId } = await mount.read('creds/app');
    expect((await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId } })).status).toBe(200);
    expect((await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } })).status).toBe(204);
    expect(await usersOf(server)).toEqual([]);
  });

  test('credential_type: password unless sent; rsa_private_key and client_certificate where the plugin has them', async () => {
    expect((await mount.read('roles/app')).data).toMatchObject({ credential_type: 'password' });
    expect(await asked('roles/odd', { db_name: 'pg', credential_type: 'odd' })).toBe('400,invalid credential_type "odd"');
    await mount.write('roles/key', { db_name: 'pg', credential_type: 'rsa_private_key', creation_statements: 'x' });
    expect(await asked('creds/key')).toContain('400,1 error occurred:\n\t* postgresql-database-plugin does not support credential_type');
  });

  test.each([[undefined], [2_048], ['3072'], ['4096']])('credential_config, rsa_private_key: key_bits %p', async (bits) => {
    await mount.close();
    const memory = faultyDatabase();
    mount = await mountForTest(databaseEngine, { plugins: [memory.plugin] });
    await mount.write('config/db', { plugin_name: memory.plugin.name, host: 'h', allowed_roles: '*' });
    const options = bits === undefined ? {} : { credential_config: { key_bits: bits, format: 'pkcs8' } };
    await mount.write('roles/key', { db_name: 'db', creation_statements: '{}', credential_type: 'rsa_private_key', ...options });
    const { rsa_private_key } = (await mount.read('creds/key')).data as { rsa_private_key: string };
    expect(createPrivateKey(rsa_private_key).asymmetricKeyDetails).toMatchObject({ modulusLength: Number(bits ?? 2_048) });
    expect(rsa_private_key).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  });

  describe('credential_config, client_certificate', () => {
    let authority: { ca_cert: string; ca_private_key: string };
    const role = (options: Record<string, unknown>) => ({
      db_name: 'pg',
      credential_type: 'client_certificate',
      creation_statements: `CREATE ROLE "{{name}}" LOGIN; COMMENT ON ROLE "{{name}}" IS '{{subject}}'`,
      credential_config: { ...authority, ...options },
      default_ttl: '1h',
    });
    const issued = async (options: Record<string, unknown>) => {
      await mount.write('roles/cert', role(options));
      const data = (await mount.read('creds/cert')).data as Record<string, string>;
      const certificate = new X509Certificate(data['client_certificate']!);
      expect(certificate.checkPrivateKey(createPrivateKey(data['private_key']!))).toBe(true);
      return { data, certificate, key: certificate.publicKey };
    };
    beforeAll(() => {
      const folder = mkdtempSync(join(tmpdir(), 'strongroom-ca-'));
      authority = makeAuthority(folder, ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256']);
      rmSync(folder, { recursive: true });
    });

    test.each([
      ['rsa', undefined, { modulusLength: 2_048 }],
      ['rsa', 2_048, { modulusLength: 2_048 }],
      ['rsa', 3_072, { modulusLength: 3_072 }],
      ['rsa', '4096', { modulusLength: 4_096 }],
      ['ec', undefined, { namedCurve: 'prime256v1' }],
      ['ec', 224, { namedCurve: 'secp224r1' }],
      ['ec', 256, { namedCurve: 'prime256v1' }],
      ['ec', '384', { namedCurve: 'secp384r1' }],
      ['ec', '521', { namedCurve: 'secp521r1' }],
      ['ed25519', undefined, {}],
      ['ed25519', 2_048, {}],
    ])('key_type %s, key_bits %p', async (key_type, key_bits, details) => {
      const { data, key } = await issued({ key_type, ...(key_bits === undefined ? {} : { key_bits }) });
      expect(data['private_key_type']).toBe(key_type);
      expect(key.asymmetricKeyType).toBe(key_type);
      expect(key.asymmetricKeyDetails).toMatchObject(details);
    });

    test.each([
      ['rsa', 1_024],
      ['rsa', 256],
      ['ec', 2_048],
      ['ec', 512],
    ])('key_type %s does not take key_bits %i', async (key_type, key_bits) => {
      const refused = `400,credential_config validation failed: invalid key_bits: ${key_bits}`;
      expect(await asked('roles/cert', role({ key_type, key_bits }))).toBe(refused);
    });

    test.each([
      [undefined, 256],
      [256, 256],
      ['384', 384],
      [512, 512],
    ])('signature_bits %p', async (signature_bits, bits) => {
      const { certificate } = await issued({ key_type: 'ec', ...(signature_bits === undefined ? {} : { signature_bits }) });
      // ecdsa-with-SHA256, -384 and -512 are 1.2.840.10045.4.3.2 to .4, in DER.
      const algorithm = { 256: '02', 384: '03', 512: '04' }[bits]!;
      expect(certificate.raw.toString('hex')).toContain(`06082a8648ce3d0403${algorithm}`);
    });

    test('common_name_template: the common name; without one, the name of the user', async () => {
      const plain = await issued({ key_type: 'ed25519' });
      expect(plain.certificate.subject).toBe(`CN=${plain.data['username']}`);
      const named = await issued({ key_type: 'ed25519', common_name_template: '{{.DisplayName}}-{{.RoleName}}-svc' });
      expect(named.certificate.subject).toBe('CN=root-cert-svc');
    });

    test('ca_cert, ca_private_key: the authority that signs; the key is not read back, and a wrong one is refused unread', async () => {
      const { certificate } = await issued({ key_type: 'ec' });
      expect(certificate.checkIssued(new X509Certificate(authority.ca_cert))).toBe(true);
      const shown = (await mount.read('roles/cert')).data as { credential_config: Record<string, string> };
      expect(Object.keys(shown.credential_config).sort()).toEqual(['ca_cert', 'key_type']);
      const wrong = await asked('roles/cert', role({ key_type: 'ec', ca_private_key: 'not-a-key-8361' }));
      expect(wrong).toContain('ca_private_key is not a PEM private key');
      expect(wrong).not.toContain('8361');
      expect(await asked('roles/cert', role({ key_type: 'ec', ca_cert: '' }))).toContain('missing required ca_cert');
      expect(await asked('roles/cert', role({}))).toContain('missing required key_type');
    });
  });

  test('credential_config, password: password_policy goes before that of the connection', async () => {
    const policy = (length: number) => ({ policy: `length = ${length}\nrule "charset" { charset = "abcdef" }` });
    await mount.call('update', 'sys/policies/password/short', { data: policy(12) });
    await mount.call('update', 'sys/policies/password/long', { data: policy(40) });
    await mount.write('config/pg', { password_policy: 'short' });
    expect((await mount.read('creds/app')).data).toMatchObject({ password: expect.stringMatching(/^[a-f]{12}$/) });
    await mount.write('roles/app', { credential_config: { password_policy: 'long' } });
    expect((await mount.read('creds/app')).data).toMatchObject({ password: expect.stringMatching(/^[a-f]{40}$/) });
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { createTestCa, describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { ldapSecrets } from '../src/index.ts';
import { startLdapCutter } from './ldap-cutter.ts';
import { configFor, dataOf, DirectoryView, managerDn, managerPassword, mountLdap, SVC, withManager } from './ldap-mount.ts';

const minimal = { binddn: managerDn, bindpass: managerPassword };

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('POST, GET and DELETE config, without a directory', () => {
  let mount: TestMount;
  beforeEach(async () => {
    mount = await mountForTest(ldapSecrets, { path: 'ldap' });
  });
  afterEach(async () => mount.close());
  const refused = async (data: Record<string, unknown>): Promise<string> => {
    const answer = await mount.call('update', 'ldap/config', { data });
    expect(answer.status).toBe(400);
    expect((await mount.call('read', 'ldap/config')).status).toBe(404);
    return answer.errors!.join();
  };
  const config = async () => dataOf<Record<string, unknown>>(await mount.read('config'));

  test('GET of what was never written, or was deleted, is 404; DELETE deletes', async () => {
    expect((await mount.call('read', 'ldap/config')).status).toBe(404);
    await mount.write('config', minimal);
    expect((await mount.call('read', 'ldap/config')).status).toBe(200);
    expect((await mount.call('delete', 'ldap/config')).status).toBe(204);
    expect((await mount.call('read', 'ldap/config')).status).toBe(404);
  });

  test('binddn is required', async () => {
    expect(await refused({ bindpass: 'x' })).toContain('cannot derive UserBindDN');
    await mount.write('config', minimal);
    expect(await config()).toMatchObject({ binddn: managerDn });
  });

  test('bindpass is required, is never shown, and stays when a write does not send it', async () => {
    expect(await refused({ binddn: managerDn })).toContain('bindpass');
    await mount.write('config', minimal);
    await mount.write('config', { userdn: SVC });
    const shown = await config();
    expect(shown).toMatchObject({ userdn: SVC, binddn: managerDn, bindpass_set: true });
    expect(JSON.stringify(shown)).not.toContain(managerPassword);
  });

  test('url: one on this machine by default; an empty one is refused', async () => {
    await mount.write('config', minimal);
    expect(await config()).toMatchObject({ url: 'ldap://127.0.0.1' });
    await mount.delete('config');
    expect(await refused({ ...minimal, url: '' })).toBe('at least one url must be provided');
  });

  test('url: spaces around commas are trimmed, and what is no LDAP URL is refused by its name', async () => {
    await mount.write('config', { ...minimal, url: ' ldap://a.example , ldaps://b.example:1636' });
    expect(await config()).toMatchObject({ url: 'ldap://a.example,ldaps://b.example:1636' });
    await mount.delete('config');
    for (const url of ['http://x', 'ldap://a,http://x', 'x.example', 'ldap://a:port', 'ldap://a b']) {
      expect(await refused({ ...minimal, url })).toMatch(/^url: ".*" is not an LDAP URL; write ldap:\/\/host or ldaps:\/\/host/);
    }
    expect(await refused({ ...minimal, url: 'http://me:secret@x' })).not.toContain('secret');
  });

  test('userdn: what is not a distinguished name is refused', async () => {
    expect(await refused({ ...minimal, userdn: 'garbage' })).toContain('userdn: "garbage" is not a distinguished name');
  });

  test('length under 8, and a password_policy that is not there, are stored with a warning', async () => {
    const short = await mount.call('update', 'ldap/config', { data: { ...minimal, length: 3 } });
    expect([short.status, short.warnings!.join()]).toEqual([
      200,
      expect.stringContaining('length: passwords of 3 characters are easily guessed'),
    ]);
    const unknown = await mount.call('update', 'ldap/config', { data: { password_policy: 'none' } });
    expect([unknown.status, unknown.warnings!.join()]).toEqual([
      200,
      expect.stringContaining('password_policy: no password can be made by "none" now'),
    ]);
    expect(await config()).toMatchObject({ password_policy: 'none' });
    expect((await mount.call('update', 'ldap/config', { data: { password_policy: '', length: 8 } })).status).toBe(204);
  });

  describe('another address', () => {
    const token = async (capabilities: string[]): Promise<string> => {
      const policy = `path "ldap/config" { capabilities = ${JSON.stringify(capabilities)} }`;
      await mount.call('update', 'sys/policies/acl/writer', { data: { policy } });
      const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['writer'] } });
      return auth!.client_token;
    };
    const writeAs = async (writer: string, data: Record<string, unknown>) => mount.call('update', 'ldap/config', { data, token: writer });
    beforeEach(async () => mount.write('config', { ...minimal, url: 'ldaps://a.example,ldaps://b.example', starttls: true }));

    test.each([
      ['url', { url: 'ldap://evil.example' }],
      ['url', { url: 'ldap://a.example' }],
      ['url', { url: 'ldaps://a.example,ldaps://evil.example' }],
      ['insecure_tls', { insecure_tls: true }],
      ['tls_min_version', { tls_min_version: 'tls10' }],
    ])('%s asks for bindpass again', async (field, data) => {
      const writer = await token(['update']);
      const { status, errors } = await writeAs(writer, data);
      expect([status, errors!.join()]).toEqual([
        400,
        expect.stringMatching(`^${field}: a new value sends the stored bindpass to another address`),
      ]);
      expect((await writeAs(writer, { ...data, bindpass: 'again' })).status).toBe(204);
    });

    test('a server on another machine that gets passwords in clear is warned of, once its address or its encryption is written', async () => {
      const warningsOf = async (data: Record<string, unknown>): Promise<string> => {
        const { status, warnings } = await mount.call('update', 'ldap/config', { data });
        expect([200, 204]).toContain(status);
        return warnings?.join() ?? '';
      };
      const plain = 'url: ldap://dc1.example.org:3389 is not encrypted, so passwords can be read on the way; use ldaps://, or set starttls';
      const urls = 'ldaps://dc0.example.org,ldap://dc1.example.org:3389,ldap://127.0.0.1';
      expect(await warningsOf({ url: urls, starttls: false, bindpass: 'sent-again' })).toBe(plain);
      expect(await warningsOf({ max_ttl: '2h' })).toBe('');
      expect(await warningsOf({ starttls: true })).toBe('');
      expect(await warningsOf({ starttls: false })).toBe(plain);
      expect(await warningsOf({ url: 'ldaps://dc0.example.org,ldap://localhost', bindpass: 'sent-again' })).toBe('');
    });

    test('starttls asks for bindpass again where a server is spoken to without TLS otherwise', async () => {
      await mount.write('config', { url: 'ldap://a.example' });
      const writer = await token(['update']);
      expect((await writeAs(writer, { starttls: false })).errors!.join()).toContain('starttls: a new value');
    });

    test('is no other one in another variant, in another order, or with a server less', async () => {
      const writer = await token(['update']);
      for (const url of ['LDAPS://B.example:636, ldaps://a.example', 'ldaps://a.example']) {
        expect((await writeAs(writer, { url })).status).toBe(204);
      }
    });

    test('is written without bindpass by a token whose policy grants sudo', async () => {
      expect((await writeAs(await token(['update', 'sudo']), { url: 'ldap://other.example' })).status).toBe(204);
    });
  });

  test('schema: openldap by default; anything but openldap, ad and racf is refused', async () => {
    await mount.write('config', minimal);
    expect(await config()).toMatchObject({ schema: 'openldap' });
    await mount.delete('config');
    expect(await refused({ ...minimal, schema: 'odd' })).toBe(
      'the configured schema odd is not valid. Supported schemas: [openldap racf ad]',
    );
  });

  test.each([
    ['openldap', 'cn'],
    ['ad', 'userPrincipalName'],
    ['racf', 'racfid'],
  ])('userattr: for schema %s it is %s by default', async (schema, userattr) => {
    await mount.write('config', { ...minimal, schema });
    expect(await config()).toMatchObject({ userattr });
  });

  test('userattr: an explicit one keeps its case; what is not the name of an attribute is refused', async () => {
    expect(await refused({ ...minimal, userattr: 'uid)(x=*' })).toContain('unsupported userattr "uid)(x=*"');
    await mount.write('config', { ...minimal, schema: 'ad', userattr: 'sAMAccountName' });
    expect(await config()).toMatchObject({ userattr: 'sAMAccountName' });
  });

  test('password_policy and length together are refused, and each replaces the other', async () => {
    expect(await refused({ ...minimal, password_policy: 'p', length: 20 })).toBe("cannot set both 'password_policy' and 'length'");
    await mount.write('config', { ...minimal, password_policy: 'p' });
    expect(await config()).toMatchObject({ password_policy: 'p' });
    await mount.write('config', { length: 20 });
    expect(await config()).toMatchObject({ length: 20 });
    expect(await config()).not.toHaveProperty('password_policy');
    await mount.write('config', { password_policy: 'q' });
    expect(await config()).not.toHaveProperty('length');
  });

  test('request_timeout and connection_timeout: 90 and 30 seconds by default, and shown as they were written', async () => {
    await mount.write('config', minimal);
    expect(await config()).toMatchObject({ request_timeout: 90, connection_timeout: 30 });
    await mount.write('config', { request_timeout: '2m', connection_timeout: 7 });
    expect(await config()).toMatchObject({ request_timeout: 120, connection_timeout: 7 });
  });

  test('certificate, client_tls_cert and client_tls_key: what is no PEM, or half of a pair, is refused', async () => {
    expect(await refused({ ...minimal, certificate: 'x' })).toContain('failed to parse server tls cert');
    expect(await refused({ ...minimal, client_tls_cert: 'x' })).toContain('both client_tls_cert and client_tls_key must be set');
    const { cert, key } = createTestCa().issue('client');
    await mount.write('config', { ...minimal, client_tls_cert: cert, client_tls_key: key });
    expect(JSON.stringify(await config())).not.toContain('BEGIN');
  });

  test('ttl above max_ttl is refused', async () => {
    expect(await refused({ ...minimal, ttl: '2h', max_ttl: '1h' })).toBe('ttl (7200 s) is longer than max_ttl (3600 s)');
  });

  test('everything that needs the configuration says that it is unset', async () => {
    for (const path of ['rotate-root', 'library/set']) {
      const answer = await mount.call('update', `ldap/${path}`, { data: { service_account_names: 'a' } });
      expect({ status: answer.status, text: answer.errors!.join() }).toEqual({
        status: 400,
        text: expect.stringContaining('the config is currently unset'),
      });
    }
    const role = { username: 'a', rotation_period: '1h' };
    expect((await mount.call('update', 'ldap/static-role/a', { data: role })).errors!.join()).toContain('the config is currently unset');
  });

  test('the engine is mounted as openldap too', async () => {
    expect((await mount.call('update', 'sys/mounts/other', { data: { type: 'openldap' } })).status).toBe(204);
    expect((await mount.call('update', 'other/config', { data: minimal })).status).toBe(204);
    expect((await mount.call('read', 'other/config')).data).toMatchObject({ binddn: managerDn });
  });
});

describeWithSlapd('POST config, with a directory', () => {
  let slapd: Slapd;
  let view: DirectoryView;
  let mount: TestMount;
  beforeAll(async () => {
    slapd = await startSlapd({
      ...withManager,
      ldif: `${withManager.ldif}\ndn: uid=svc1,ou=people,dc=example,dc=org\nobjectClass: inetOrgPerson\nuid: svc1\ncn: Named\nsn: x\n`,
      globalConfig: 'TLSVerifyClient try',
    });
    view = new DirectoryView(slapd);
  });
  afterAll(async () => {
    view.close();
    await slapd.stop();
  });
  afterEach(async () => mount.close());
  const rotated = async (username = 'svc1'): Promise<{ status: number; errors?: string }> => {
    const { status, errors } = await mount.call('update', 'ldap/static-role/r', { data: { username, rotation_period: '1h' } });
    await mount.delete('static-role/r');
    return { status, ...(errors ? { errors: errors.join() } : {}) };
  };
  const password = async (): Promise<string> => {
    await mount.write('static-role/p', { username: 'svc2', rotation_period: '1h' });
    const { password: made } = dataOf<{ password: string }>(await mount.read('static-cred/p'));
    expect(await view.takes(`uid=svc2,${SVC}`, made)).toBe(true);
    await mount.delete('static-role/p');
    return made;
  };

  test('url: a list is tried in order, past servers that are gone', async () => {
    mount = await mountLdap({ url: `ldap://127.0.0.1:1,${slapd.url}` });
    expect((await rotated()).status).toBe(204);
    await mount.write('config', { url: 'ldap://127.0.0.1:1' });
    expect(await rotated()).toEqual({ status: 500, errors: expect.stringContaining('error connecting to host "ldap://127.0.0.1:1"') });
  });

  test('binddn and bindpass: the directory refuses a wrong one, and the 500 says so', async () => {
    mount = await mountLdap(slapd, { config: { bindpass: 'wrong' } });
    expect(await rotated()).toEqual({
      status: 500,
      errors: expect.stringContaining('failed to bind with current password: LDAP Result Code 49 "Invalid Credentials"'),
    });
    await mount.write('config', { bindpass: managerPassword });
    expect((await rotated()).status).toBe(204);
  });

  test('userdn and userattr: accounts are found below the one by the other', async () => {
    mount = await mountLdap(slapd, { config: { userdn: 'dc=example,dc=org' } });
    expect(await rotated()).toEqual({ status: 400, errors: expect.stringContaining('expected one matching entry, but received 2') });
    await mount.write('config', { userdn: 'ou=people,dc=example,dc=org', userattr: 'cn' });
    expect((await rotated('Named')).status).toBe(204);
    expect((await rotated('svc1')).status).toBe(400);
    await mount.write('config', { userdn: '' });
    expect(await rotated()).toEqual({ status: 400, errors: expect.stringContaining('userdn must be configured') });
  });

  test('userattr: a username is a value, whatever it holds', async () => {
    mount = await mountLdap(slapd);
    expect(await rotated('svc*')).toEqual({ status: 400, errors: expect.stringContaining('filter (uid=svc\\2a)') });
  });

  test('length: that many letters and digits, 64 by default', async () => {
    mount = await mountLdap(slapd);
    expect(await password()).toMatch(/^[A-Za-z0-9]{64}$/);
    await mount.write('config', { length: 12 });
    expect(await password()).toMatch(/^[A-Za-z0-9]{12}$/);
  });

  test('password_policy: passwords are made by it; it is not exercised when it is stored, and must exist when a password is made', async () => {
    mount = await mountLdap(slapd, { config: { password_policy: 'digits' } });
    expect(await rotated('svc3')).toEqual({ status: 400, errors: expect.stringContaining('password_policy "digits"') });
    const policy = 'length = 9\nrule "charset" { charset = "0123456789" }';
    expect((await mount.call('update', 'sys/policies/password/digits', { data: { policy } })).status).toBe(204);
    expect(await password()).toMatch(/^[0-9]{9}$/);
  });

  test('starttls, certificate and insecure_tls: a server is trusted by the CA that is given, or blindly', async () => {
    mount = await mountLdap(slapd, { config: { starttls: true } });
    expect(await rotated()).toEqual({ status: 500, errors: expect.stringMatching(/certificate/i) });
    await mount.write('config', { certificate: slapd.ca.certificate });
    expect((await rotated()).status).toBe(204);
    await mount.write('config', { certificate: '', insecure_tls: true });
    expect((await rotated()).status).toBe(204);
    await mount.write('config', { url: slapd.ldapsUrl, starttls: false, insecure_tls: false });
    expect((await rotated()).status).toBe(500);
    await mount.write('config', { certificate: slapd.ca.certificate });
    expect((await rotated()).status).toBe(204);
  });

  test('client_tls_cert and client_tls_key are shown to the server', async () => {
    const strict = await startSlapd({ ...withManager, globalConfig: 'TLSVerifyClient demand' });
    try {
      mount = await mountLdap({ url: strict.ldapsUrl }, { config: { certificate: strict.ca.certificate } });
      expect((await rotated()).status).toBe(500);
      const { cert, key } = strict.ca.issue('client');
      await mount.write('config', { client_tls_cert: cert, client_tls_key: key });
      expect((await rotated()).status).toBe(204);
    } finally {
      await strict.stop();
    }
  });

  test.each([
    ['request_timeout', { request_timeout: 2 }],
    ['connection_timeout, where it is the smaller one', { request_timeout: 600, connection_timeout: 2 }],
    ['request_timeout, where it is the smaller one', { request_timeout: 2, connection_timeout: 600 }],
  ])('a server that does not answer is given up after %s', async (_, timeouts) => {
    const cutter = await startLdapCutter(slapd.port);
    try {
      mount = await mountLdap(cutter, { config: timeouts });
      expect((await rotated()).status).toBe(204);
      cutter.stall();
      const answer = rotated();
      await cutter.stalled();
      await mount.clock.advance(3);
      expect(await answer).toEqual({ status: 500, errors: expect.stringContaining('LDAP Result Code 200 "Network Error"') });
    } finally {
      await cutter.stop();
    }
  });

  test('skip_static_role_import_rotation: passwords stay as they are when roles are made, unless a role says otherwise', async () => {
    mount = await mountLdap(slapd, { config: { skip_static_role_import_rotation: true } });
    await view.setPassword(`uid=svc4,${SVC}`, 'as-it-was');
    await mount.write('static-role/skipped', { username: 'svc4', rotation_period: '1h' });
    expect(await view.takes(`uid=svc4,${SVC}`, 'as-it-was')).toBe(true);
    await mount.write('static-role/not', { username: 'svc5', rotation_period: '1h', skip_import_rotation: false });
    expect(dataOf<{ password: string }>(await mount.read('static-cred/not')).password).not.toBe('');
  });

  test('ttl and max_ttl are the defaults of dynamic roles', async () => {
    mount = await mountLdap(slapd, { config: { ttl: '10m', max_ttl: '20m' } });
    await mount.write('role/app', {
      creation_ldif: `dn: uid={{.Username}},${SVC}\nobjectClass: account\nuid: {{.Username}}\n`,
      deletion_ldif: `dn: uid={{.Username}},${SVC}\nchangetype: delete\n`,
    });
    const { leaseId, leaseDuration } = await mount.read('creds/app');
    expect(leaseDuration).toBe(600);
    await mount.advance('5m');
    const renewed = await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId, increment: 3_600 } });
    expect(renewed.leaseDuration).toBe(900);
  });

  test('a write counts from the next call on, also for another directory', async () => {
    mount = await mountLdap(slapd, { config: { userdn: 'ou=nowhere,dc=example,dc=org' } });
    expect((await rotated()).status).toBe(500);
    await mount.write('config', configFor(slapd));
    expect((await rotated()).status).toBe(204);
  });
});

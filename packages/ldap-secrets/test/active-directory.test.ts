import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { adUser, describeWithSamba, startSamba, type SambaServer } from '@strongroom/lab';
import { createDirectory, LdapError, type Directory } from '@strongroom/ldap-client';
import { mountForTest } from '@strongroom/engine-testkit';
import { ldapSecrets } from '../src/index.ts';
import { startLdapCutter, type LdapCutter } from './ldap-cutter.ts';
import { dataOf } from './ldap-mount.ts';

const users = 'CN=Users,DC=corp,DC=example';
const names = ['ann', 'bob', 'eve', 'lent1', 'lent2', 'off', 'manager'];
const creation_ldif = `dn: CN={{.Username}},${users}
objectClass: user
sAMAccountName: {{.Username}}
userPrincipalName: {{.Username}}@corp.example
accountExpires: 0
unicodePwd:: {{ printf "%q" .Password | utf16le | base64 }}
userAccountControl: 512

dn: CN=Made,${users}
changetype: modify
add: member
member: CN={{.Username}},${users}
-
`;
const deletion_ldif = `dn: CN=Made,${users}
changetype: modify
delete: member
member: CN={{.Username}},${users}
-

dn: CN={{.Username}},${users}
changetype: delete
`;

// Samba takes its time, and the machine may be busy.
jest.setTimeout(60_000);

describeWithSamba('Active Directory, emulated by Samba', () => {
  let samba: SambaServer;
  let directory: Directory;
  let mount: TestMount;
  let cutter: LdapCutter | undefined;

  beforeAll(async () => {
    const accounts = names.map((name) => adUser(name, { password: `first-${name}`, disabled: name === 'off' }));
    const group = `dn: CN=Made,${users}\nchangetype: add\nobjectClass: group\nsAMAccountName: Made\n\n`;
    samba = await startSamba({ ldif: `${accounts.join('')}${group}` });
    await samba.tool('group', 'addmembers', 'Domain Admins', 'manager');
    directory = createDirectory({ urls: [samba.ldapsUrl], certificate: samba.ca.certificate });
  }, 120_000);
  afterAll(async () => {
    directory?.close();
    await samba?.stop();
  });
  beforeEach(async () => {
    mount = await mountForTest(ldapSecrets, { path: 'ldap' });
    await mount.write('config', config());
  });
  afterEach(async () => {
    await mount.close();
    await cutter?.stop();
    cutter = undefined;
  });

  const config = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
    schema: 'ad',
    url: samba.ldapsUrl,
    certificate: samba.ca.certificate,
    binddn: samba.adminDn,
    bindpass: samba.adminPassword,
    userdn: users,
    ...more,
  });
  const takes = async (name: string, password: string): Promise<boolean> => {
    try {
      await directory.verifyUser(`${name}@corp.example`, password);
      return true;
    } catch (error) {
      if (error instanceof LdapError && error.answered) return false;
      throw error;
    }
  };
  const passwordOf = async (role: string): Promise<string> =>
    dataOf<{ password: string }>(await mount.read(`static-cred/${role}`)).password;
  const found = async (filter: string): Promise<string[]> =>
    directory.withServiceConnection({ dn: samba.adminDn, password: samba.adminPassword }, async (connection) =>
      (await connection.search({ base: users, filter, attributes: ['cn'] })).map(({ dn }) => dn),
    );

  describe('static roles', () => {
    test('schema ad sets unicodePwd; accounts are named by userPrincipalName, and upndomain completes a plain name', async () => {
      await mount.write('static-role/full', { username: 'ann@corp.example', rotation_period: '1h' });
      expect(await takes('ann', await passwordOf('full'))).toBe(true);
      expect(await takes('ann', 'first-ann')).toBe(false);
      await mount.write('config', { upndomain: 'corp.example' });
      await mount.write('static-role/plain', { username: 'bob', rotation_period: '1h' });
      expect(await takes('bob', await passwordOf('plain'))).toBe(true);
      await mount.advance('1h');
      expect(await takes('bob', await passwordOf('plain'))).toBe(true);
    });

    test('userattr sAMAccountName, and dn in place of a search', async () => {
      await mount.write('config', { userattr: 'sAMAccountName' });
      await mount.write('static-role/sam', { username: 'eve', rotation_period: '1h' });
      expect(await takes('eve', await passwordOf('sam'))).toBe(true);
      await mount.delete('static-role/sam');
      await mount.write('config', { userattr: '', userdn: '' });
      await mount.write('static-role/dn', { username: 'whoever', dn: `CN=eve,${users}`, rotation_period: '1h' });
      expect(await takes('eve', await passwordOf('dn'))).toBe(true);
      await mount.write('rotate-role/dn');
      expect(await takes('eve', await passwordOf('dn'))).toBe(true);
    });

    test('a directory that refuses a password says why, and nothing is stored', async () => {
      await mount.write('config', { length: 2 });
      const answer = await mount.call('update', 'ldap/static-role/short', {
        data: { username: 'ann@corp.example', rotation_period: '1h' },
      });
      expect(answer.status).toBe(500);
      expect(answer.errors!.join()).toContain('LDAP Result Code 19 "Constraint Violation"');
      expect((await mount.call('read', 'ldap/static-role/short')).status).toBe(404);
    });

    test.each([
      ['bob', 'request'],
      ['bob', 'answer'],
      ['off', 'request'],
      ['off', 'answer'],
    ] as const)(
      'when the connection dies with a change of %s (the %s lost), the right password is found by binding, also of a disabled account',
      async (name, loss) => {
        const dn = `CN=${name},${users}`;
        cutter = await startLdapCutter(636, samba.host, { opaque: true });
        await mount.write('config', config({ url: `ldaps://127.0.0.1:${cutter.port}`, insecure_tls: true }));
        await mount.write('static-role/lost', { username: name, dn, rotation_period: '24h' });
        const before = await passwordOf('lost');
        cutter.cutAt(0, loss);
        const cut = cutter.cut().then(() => cutter!.shut());
        expect((await mount.call('update', 'ldap/rotate-role/lost')).status).toBe(500);
        await cut;
        expect((await mount.read('static-cred/lost')).warnings!.join()).toContain('its outcome is not known yet');
        cutter.open();
        const known = await mount.read('static-cred/lost');
        expect(known.warnings).toBeNull();
        expect(dataOf<{ password: string }>(known).password === before).toBe(loss === 'request');
        for (let i = 0; i < 10; i += 1) await mount.advance(30);
        const after = await passwordOf('lost');
        expect(after).not.toBe(before);
        await samba.tool('user', 'enable', name);
        expect(await takes(name, after)).toBe(true);
        await samba.tool('user', name === 'off' ? 'disable' : 'enable', name);
      },
    );
  });

  test('dynamic roles make accounts with unicodePwd, and take them from their groups', async () => {
    await mount.write('role/app', { creation_ldif, deletion_ldif, username_template: 'v-{{random 12}}', default_ttl: '1h' });
    const answer = await mount.read('creds/app');
    const { username, password, distinguished_names } = dataOf<{ username: string; password: string; distinguished_names: string[] }>(
      answer,
    );
    expect(distinguished_names).toEqual([`CN=${username},${users}`, `CN=Made,${users}`]);
    expect(await takes(username, password)).toBe(true);
    expect(await found(`(memberOf=CN=Made,${users})`)).toEqual([`CN=${username},${users}`]);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: answer.leaseId, sync: true } });
    expect(await found('(cn=v-*)')).toEqual([]);
    expect(await found(`(memberOf=CN=Made,${users})`)).toEqual([]);
  });

  test('dynamic roles: the account goes also where its group lost it before', async () => {
    await mount.write('role/app', { creation_ldif, deletion_ldif, username_template: 'v-{{random 12}}', default_ttl: '1h' });
    const answer = await mount.read('creds/app');
    const { username } = dataOf<{ username: string }>(answer);
    await samba.tool('group', 'removemembers', 'Made', username);
    expect((await mount.call('update', 'sys/leases/revoke', { data: { lease_id: answer.leaseId, sync: true } })).status).toBe(204);
    expect(await found('(cn=v-*)')).toEqual([]);
  });

  test('the library lends accounts, and changes their passwords when they come back', async () => {
    await mount.write('config', { upndomain: 'corp.example' });
    await mount.write('library/set', { service_account_names: ['lent1', 'lent2'] });
    expect(await takes('lent1', 'first-lent1')).toBe(false);
    const lent = dataOf<{ service_account_name: string; password: string }>(await mount.write('library/set/check-out'));
    expect(lent.service_account_name).toBe('lent1');
    expect(await takes('lent1', lent.password)).toBe(true);
    expect((await mount.write('library/set/check-in')).data).toEqual({ check_ins: ['lent1'] });
    const again = dataOf<{ password: string }>(await mount.write('library/set/check-out'));
    expect(again.password).not.toBe(lent.password);
    expect(await takes('lent1', again.password)).toBe(true);
  });

  describe('rotate-root', () => {
    const reset = async (): Promise<void> => void (await samba.tool('user', 'setpassword', 'manager', '--newpassword=first-manager'));
    afterEach(reset);

    test.each<[string, Record<string, unknown>]>([
      ['a distinguished name', { binddn: `CN=manager,${users}` }],
      ['a distinguished name beside upndomain', { binddn: `CN=manager,${users}`, upndomain: 'corp.example' }],
      ['a plain name with upndomain', { binddn: 'manager', upndomain: 'corp.example' }],
      ['a principal name', { binddn: 'manager@corp.example' }],
      ['a name with its domain', { binddn: 'CORP\\manager' }],
    ])('works where binddn is %s', async (_, more) => {
      await mount.write('config', config({ ...more, bindpass: 'first-manager' }));
      const answer = await mount.call('update', 'ldap/rotate-root');
      expect({ status: answer.status, errors: answer.errors }).toEqual({ status: 204 });
      expect(await takes('manager', 'first-manager')).toBe(false);
      await mount.write('static-role/probe', { username: 'x', dn: `CN=ann,${users}`, rotation_period: '1h' });
      await mount.delete('static-role/probe');
    });
  });

  test('config/test walks connect, TLS, bind and search', async () => {
    const report = dataOf<{ ok: boolean; steps: { step: string }[]; user_dn: string }>(
      await mount.write('config/test', { upndomain: 'corp.example', username: 'ann' }),
    );
    expect(report).toMatchObject({ ok: true, user_dn: `CN=ann,${users}` });
    expect(report.steps.map(({ step }) => step)).toEqual(['connect', 'tls', 'service bind', 'user search']);
  });
});

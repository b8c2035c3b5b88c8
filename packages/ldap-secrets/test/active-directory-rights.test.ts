import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { adGroup, adUser, describeWithSamba, startSamba, type SambaServer } from '@strongroom/lab';
import { createDirectory, LdapError, type Directory } from '@strongroom/ldap-client';
import { ldapSecrets } from '../src/index.ts';
import { dataOf } from './ldap-mount.ts';

const base = 'DC=corp,DC=example';
const users = `CN=Users,${base}`;
const managed = `OU=Managed,${base}`;
const group = `CN=Made,${users}`;
const classUser = 'bf967aba-0de6-11d0-a285-00aa003049e2';
const resetPassword = '00299570-246d-11d0-a768-00aa006e0529';
const attributeMember = 'bf9679c0-0de6-11d0-a285-00aa003049e2';

const creation_ldif = `dn: CN={{.Username}},${managed}
objectClass: user
sAMAccountName: {{.Username}}
userPrincipalName: {{.Username}}@corp.example
unicodePwd:: {{ printf "%q" .Password | utf16le | base64 }}
userAccountControl: 512

dn: ${group}
changetype: modify
add: member
member: CN={{.Username}},${managed}
`;
const deletion_ldif = `dn: CN={{.Username}},${managed}
changetype: delete
`;

// Samba takes its time, and the machine may be busy.
jest.setTimeout(60_000);

describeWithSamba('the delegations in Active Directory that the documentation names', () => {
  let samba: SambaServer;
  let directory: Directory;
  let mount: TestMount;

  beforeAll(async () => {
    const held = adUser('held', { password: 'first-held' }).replace(`,${users}`, `,${managed}`);
    const unit = `dn: ${managed}\nchangetype: add\nobjectClass: organizationalUnit\n\n`;
    const people = `${adUser('manager', { password: 'first-manager' })}${adUser('other', { password: 'first-other' })}`;
    samba = await startSamba({ ldif: `${unit}${held}${people}${adGroup('Made', [])}` });
    const sid = /objectSid: (\S+)/.exec(await samba.tool('user', 'show', 'manager', '--attributes=objectSid'))![1]!;
    const grant = async (dn: string, rights: string): Promise<void> => {
      await samba.tool('dsacl', 'set', `--objectdn=${dn}`, `--sddl=(OA;${rights};${sid})`);
    };
    await grant(managed, `CIIO;CR;${resetPassword};${classUser}`);
    await grant(managed, `CI;CCDC;${classUser};`);
    await grant(managed, `CIIO;RPWP;;${classUser}`);
    await grant(group, `;RPWP;${attributeMember};`);
    await grant(`CN=manager,${users}`, `;CR;${resetPassword};`);
    directory = createDirectory({ urls: [samba.ldapsUrl], certificate: samba.ca.certificate });
    mount = await mountForTest(ldapSecrets, { path: 'ldap' });
    await mount.write('config', {
      schema: 'ad',
      url: samba.ldapsUrl,
      certificate: samba.ca.certificate,
      binddn: 'manager',
      upndomain: 'corp.example',
      bindpass: 'first-manager',
      userdn: base,
    });
  }, 120_000);
  afterAll(async () => {
    await mount?.close();
    directory?.close();
    await samba?.stop();
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

  test('serve static roles', async () => {
    await mount.write('static-role/held', { username: 'held', rotation_period: '1h' });
    await mount.write('rotate-role/held');
    expect(await takes('held', dataOf<{ password: string }>(await mount.read('static-cred/held')).password)).toBe(true);
  });

  test('serve dynamic roles that make an account and add it to a group', async () => {
    await mount.write('role/app', { creation_ldif, deletion_ldif, username_template: 'v-{{random 12}}', default_ttl: '1h' });
    const answer = await mount.read('creds/app');
    const { username, password } = dataOf<{ username: string; password: string }>(answer);
    expect(await takes(username, password)).toBe(true);
    const revoked = await mount.call('update', 'sys/leases/revoke', { data: { lease_id: answer.leaseId, sync: true } });
    expect({ status: revoked.status, errors: revoked.errors }).toEqual({ status: 204 });
    expect(await takes(username, password)).toBe(false);
  });

  test('serve nothing else: the password of an account elsewhere stays', async () => {
    const answer = await mount.call('update', 'ldap/static-role/other', { data: { username: 'other', rotation_period: '1h' } });
    expect({ status: answer.status, errors: answer.errors!.join() }).toEqual({
      status: 500,
      errors: expect.stringContaining('Insufficient Access Rights'),
    });
    expect(await takes('other', 'first-other')).toBe(true);
    expect((await mount.call('read', 'ldap/static-role/other')).status).toBe(404);
  });

  test('serve rotate-root', async () => {
    await mount.write('rotate-root');
    expect(await takes('manager', 'first-manager')).toBe(false);
    await mount.write('rotate-role/held');
    expect(await takes('held', dataOf<{ password: string }>(await mount.read('static-cred/held')).password)).toBe(true);
  });
});
